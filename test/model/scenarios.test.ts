import { afterAll, beforeAll, expect, test } from "vitest";
import { DeckhandError, type ErrorCode } from "../../src/core/errors.ts";
import type { ModelAnswer } from "../../src/core/ports.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { answerOf, scenarios } from "./compare/scenario.ts";
import { type FaultServer, startFaultServer } from "./fault-server.ts";

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

test.each(scenarios)("scenario $name gives what is expected of it", async (scenario) => {
  server.next = answerOf(scenario);
  const model = openaiModel({ apiKey: null, baseUrl: server.url, model: "m" });
  const request = { messages: [{ role: "user" as const, content: "list the files" }], tools: [bash] };
  const outcome = await model.ask(request, { signal: new AbortController().signal }).catch((thrown: unknown) => thrown);

  const { expect: wanted } = scenario;
  if (wanted.error !== undefined) {
    expect(outcome).toBeInstanceOf(DeckhandError);
    const error = outcome as DeckhandError;
    const { code, retry, says } = errorFor(wanted.error);
    expect([error.code, error.retryAfterMs !== undefined]).toEqual([code, retry]);
    expect(error.line()).toContain(says);
    expect(error.line()).not.toContain("[object");
    return;
  }
  expect(outcome).not.toBeInstanceOf(Error);
  const answer = outcome as ModelAnswer;
  const finishes = { tools: "calls", stop: "stop", length: "cut", filtered: "filter" } as const;
  expect(answer.finish).toBe(finishes[wanted.stop ?? "stop"]);
  expect(answer.text).toBe(wanted.text ?? "");
  expect(answer.reasoning).toBe(wanted.think);
  const calls = (wanted.calls ?? []).map(({ name, args, bad }) => ({ name, args: bad === undefined ? args : null }));
  expect(answer.calls.map(({ name, args }) => ({ name, args }))).toEqual(calls);
});

/** The scenarios name the SDK's errors; these are ours for them. */
function errorFor(wanted: string): { code: ErrorCode; retry: boolean; says: string } {
  const table: [RegExp, ErrorCode, boolean, string][] = [
    [/^stream cut|^SyntaxError/, "MODEL_CUT", true, ""],
    [/available context size|input token count exceeds/, "MODEL_OVERFLOW", false, ""],
    [/^APIError:429/, "MODEL_BUSY", true, ""],
    [/^APIError:(5\d\d|:"out of memory")/, "MODEL_DOWN", true, wanted.includes("502") ? "Provider returned error" : "out of memory"],
    [/^NotFoundError.*model/, "MODEL_MISSING", false, 'model "x" not found'],
    [/^NotFoundError/, "MODEL_URL", false, "Not Found"],
    [/^BadRequestError:400:400 status code \(no body\)/, "MODEL_REFUSED", false, "no reason given"],
    [/^BadRequestError:400:400 \[\{"error":\{"code":400,"message":"The input token count/, "MODEL_OVERFLOW", false, ""],
  ];
  const row = table.find(([pattern]) => pattern.test(wanted));
  if (!row) throw new Error(`no code for ${wanted}`);
  return { code: row[1], retry: row[2], says: row[3] };
}
