import { DeckhandError, type ErrorCode } from "../../src/core/errors.ts";
import type { Hands } from "../../src/core/hands.ts";
import type { Wait } from "../../src/core/log.ts";
import type { Model, ModelAnswer, ModelRequest } from "../../src/core/ports.ts";

export interface Asked extends Model {
  requests: ModelRequest[];
}

/** A model that gives these in turn, the last for ever: words, an answer, or an error. */
export function asked(name: string, ...given: (string | Partial<ModelAnswer> | DeckhandError)[]): Asked {
  const requests: ModelRequest[] = [];
  return {
    name,
    requests,
    window: async () => 100_000,
    async ask(request, { onText }) {
      const each = given[Math.min(requests.push(request), given.length) - 1] ?? "";
      if (each instanceof DeckhandError) throw each;
      const usage = { prompt: null, completion: null, cached: null };
      const answer: ModelAnswer = { text: "", calls: [], finish: "stop", usage, model: name, by: name };
      const whole = typeof each === "string" ? { ...answer, text: each } : { ...answer, ...each };
      onText?.(whole.text);
      return whole;
    },
  };
}

/** One that may be tried again after so many ms; 0: whenever it suits. */
export function passing(code: ErrorCode, retryAfterMs = 0, detail = "why"): DeckhandError {
  return new DeckhandError(code, detail, { retryAfterMs });
}

/** Notes what people would see while an answer is written. */
export function eye(): { writing: Hands["writing"]; saw: (string | Wait)[] } {
  const saw: (string | Wait)[] = [];
  return {
    saw,
    writing: () => ({ hear: (text) => saw.push(text), again: (wait) => saw.push(wait ?? "(again)"), end: () => saw.push("(end)") }),
  };
}
