import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DeckhandError } from "../../src/core/errors.ts";
import type { ModelAnswer } from "../../src/core/ports.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { callEvents, completed, event, incomplete, textEvents } from "./event-frames.ts";
import { calls, delta, type FaultServer, finish, type Frame, startFaultServer } from "./fault-server.ts";

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

const piece: fc.Arbitrary<Frame> = fc.oneof(
  fc.constantFrom<Frame[]>(
    delta({ content: "hi" }),
    calls({ index: 0, id: "a", function: { name: "bash", arguments: '{"command":' } }),
    calls({ index: 0, function: { arguments: '"ls"}' } }),
    calls({ function: { name: "bash", arguments: { command: "pwd" } } }),
    finish("stop"),
    finish("length"),
    "[DONE]",
    "__reset",
    { __raw: "data: {\n\n" },
    { __raw: "data: : ping\n\n" },
    { error: { message: "bad", code: 500 } },
  ),
  fc.jsonValue().map((value) => ({ __raw: `data: ${JSON.stringify(value)}\n\n` })),
  fc.jsonValue().map((value) => delta({ content: value, tool_calls: value })),
  fc.jsonValue().map((value) => ({ choices: value, usage: value, error: value, model: value })),
  fc.string().map((text) => ({ __raw: text })),
);

const happening: fc.Arbitrary<Frame> = fc.oneof(
  fc.constantFrom<Frame[]>(
    ...textEvents(["hi"]),
    ...callEvents("a", ['{"command":', '"ls"}'], 1),
    ...callEvents("b", ['{"command":"pwd"}'], 1),
    completed(),
    incomplete("max_output_tokens"),
    event("failed", { response: { error: { message: "bad" } } }),
    "[DONE]",
    "__reset",
  ),
  fc.jsonValue().map((value) => event("output_item.done", { item: value, output_index: value })),
  fc.jsonValue().map((value) => event("completed", { response: value })),
  fc.jsonValue().map((value) => event("function_call_arguments.delta", { delta: value, output_index: 1 })),
);

test("whatever a server sends as Responses, there is an answer or one of our errors, and calls only from a whole message", async () => {
  const model = openaiModel({ apiKey: null, baseUrl: server.url, model: "m", api: "responses" });
  const tools = [{ name: "bash", description: "Runs a command.", parameters: { type: "object" } }];
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 8 }), async (frames) => {
      server.next = { frames };
      const request = { messages: [{ role: "user" as const, content: "go" }], tools };
      const outcome: unknown = await model.ask(request, { signal: new AbortController().signal }).catch((thrown: unknown) => thrown);
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({ code: expect.stringMatching(/^MODEL_/) as string });
        return;
      }
      const answer = outcome as ModelAnswer;
      const ended = frames.some((frame) => frame === "[DONE]" || JSON.stringify(frame).includes('"response.completed"'));
      if (answer.finish === "calls") expect([ended, answer.calls.every(({ args }) => args !== null)]).toEqual([true, true]);
    }),
    { numRuns: 200 },
  );
}, 30_000);

test("whatever a server sends, there is an answer or one of our errors, and calls only from a whole message", async () => {
  const model = openaiModel({ apiKey: null, baseUrl: server.url, model: "m" });
  const tools = [{ name: "bash", description: "Runs a command.", parameters: { type: "object" } }];
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (frames) => {
      server.next = { frames };
      const request = { messages: [{ role: "user" as const, content: "go" }], tools };
      const asked = model.ask(request, { signal: new AbortController().signal });
      const outcome = await asked.catch((thrown: unknown) => thrown);
      if (outcome instanceof Error) {
        expect(outcome).toBeInstanceOf(DeckhandError);
        expect((outcome as DeckhandError).code).toMatch(/^MODEL_/);
        expect((outcome as DeckhandError).line()).not.toContain("[object");
        return;
      }
      const answer = await asked;
      const ended = frames.some((frame) => frame === "[DONE]" || JSON.stringify(frame).includes('finish_reason":"stop'));
      if (answer.finish === "calls") expect([ended, answer.calls.every(({ args }) => args !== null)]).toEqual([true, true]);
    }),
    { numRuns: 200 },
  );
}, 30_000);
