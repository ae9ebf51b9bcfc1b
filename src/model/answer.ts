import type { Usage } from "../core/entry.ts";
import { DeckhandError } from "../core/errors.ts";
import type { ModelAnswer, RawCall } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import type { Why } from "./finish.ts";

/** Joins the values of an answer's body into one answer; there is one for each form that endpoints speak. */
export interface AnswerReader {
  /**
   * Takes one value. Returns the text that came, and whether anything of the message came at all: keep-alives do not
   * count. Throws StreamFault for an error in the stream, MODEL_CUT for an answer without end.
   */
  take(value: unknown): { text: string; progress: boolean };
  /** The body said by itself that it is over: `[DONE]`, a whole JSON document. */
  end(): void;
  /** Whether the server has said how the message ends. */
  finished(): boolean;
  /** Whether it thinks unseen: it may be silent for as long as before its first piece. */
  thinking(): boolean;
  /** Characters so far. */
  size(): number;
  /** Those that came in pieces and may be said once more, whole; 0 over Chat Completions, which says nothing twice. */
  heard(): number;
  /** Some bytes were no text: nobody knows what the message was, so it counts as cut. */
  spoil(): void;
  /** Whether nothing more can come. */
  over(): boolean;
  /** What was joined. Throws MODEL_CUT when it was broken off in the middle, and MODEL_OVERFLOW. */
  answer(): ModelAnswer;
}

/** What a reader knows when the body is over. */
export interface Joined {
  text: string;
  refusal: string;
  reasoning: string;
  calls: RawCall[];
  usage: Usage;
  model: string;
  echo?: Record<string, unknown>[];
  /** The server said that the message is over. */
  ended: boolean;
  /** How it says that the message is not what the model wanted to say. */
  why: Why | null;
}

/**
 * How a message ends is decided by what is there, not by what the server calls it; none of the calls of a `cut` message
 * may run. They are kept, so that each can be answered, and left out with `filter` and `refusal`. An answer that says
 * nothing is an answer too; who asked knows what to do about it.
 */
export function concluded(joined: Joined): ModelAnswer {
  const { text, refusal, reasoning, calls, usage, model, echo, why } = joined;
  if (why === "overflow") throw new DeckhandError("MODEL_OVERFLOW");
  if (why === "broken") throw new DeckhandError("MODEL_CUT", "the service broke it off", { retryAfterMs: 0 });
  if (!joined.ended) throw new DeckhandError("MODEL_CUT", "the connection ended early", { retryAfterMs: 0 });
  const rest = { usage, model, ...(reasoning === "" ? {} : { reasoning }) };
  if (why === "filter") return { text: text || refusal, calls: [], finish: "filter", ...rest };
  if (refusal !== "") return { text: text || refusal, calls: [], finish: "refusal", ...rest };
  // What comes back must be whole: of a cut message it is not known.
  if (why === "cut" || calls.some((call) => call.args === null)) return { text, calls, finish: "cut", ...rest };
  return { text, calls, finish: calls.length > 0 ? "calls" : "stop", ...rest, ...(echo ? { echo } : {}) };
}

/** A name may come in pieces, again, or with the control tokens of the model's template in it. */
export function nameOf(pieces: string[], tools: string[]): string {
  const clean = (name: string) => (name.split("<|")[0] as string).trim().replace(/^functions\./, "");
  const joined = clean(pieces.join(""));
  const candidates = [joined, clean(pieces.at(-1) ?? ""), clean(pieces[0] ?? "")];
  return candidates.find((name) => tools.includes(name)) ?? joined;
}

/** Throws MODEL_CUT for an answer of more characters than any has. */
export function checkSize(length: number): void {
  if (length > LIMITS.modelAnswer) throw new DeckhandError("MODEL_CUT", "it did not end");
}

/** Throws MODEL_CUT for one more call than any answer has. */
export function checkCalls(count: number): void {
  if (count > LIMITS.modelCalls) throw new DeckhandError("MODEL_CUT", `it made more than ${LIMITS.modelCalls} calls`);
}
