import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DeckhandError } from "../../src/core/errors.ts";
import type { Message, ModelAnswer } from "../../src/core/ports.ts";
import { openaiModel } from "../../src/model/openai.ts";

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: { command: { type: "string" } } } };
const COMMAND = JSON.stringify({ command: "ls -la /tmp && echo 'a \"quoted\" word'" });
const WORDS = "There are three files here, and the newest of them is from today: README.md, LICENSE and package.json. ".repeat(8);

let mock: LLMock;
beforeAll(async () => {
  mock = new LLMock({ port: 0, chunkSize: 7 });
  mock.on({ userMessage: "list", hasToolResult: false }, { content: "I look.", toolCalls: [{ name: "bash", arguments: COMMAND }] });
  mock.on({ userMessage: "list", hasToolResult: true }, { content: "Two files." });
  mock.onMessage("two things", {
    toolCalls: [
      { name: "bash", arguments: '{"command":"a"}', id: "same" },
      { name: "bash", arguments: '{"command":"b"}', id: "same" },
    ],
  });
  mock.onMessage("think", { content: "Because.", reasoning: "Let me see." });
  mock.onMessage("tell", { content: WORDS });
  mock.onMessage("break", { content: WORDS }, { disconnectAfterMs: 60, latency: 20 });
  mock.onMessage("half a call", { toolCalls: [{ name: "bash", arguments: COMMAND.repeat(3) }] }, { disconnectAfterMs: 60, latency: 20 });
  mock.onMessage("broken call", { toolCalls: [{ name: "bash", arguments: '{"command":"rm -rf' }] });
  mock.onMessage("long", { content: "The first half", finishReason: "length" });
  mock.onMessage("busy", { error: { message: "slow down", type: "rate_limit_error" }, status: 429, retryAfter: 7 });
  mock.onMessage("down", { error: { message: "oops" }, status: 500 });
  mock.onMessage("garbage", { content: "hi" }, { chaos: { malformedRate: 1 } });
  await mock.start();
});
afterAll(() => mock.stop());

describe.each(["chat", "responses"] as const)("aimock, an endpoint that others wrote, over %s", (api) => {
  const heard: string[] = [];
  async function ask(words: string, more: Message[] = []): Promise<ModelAnswer> {
    heard.length = 0;
    const model = openaiModel({ apiKey: "mock", baseUrl: `${mock.url}/v1`, model: "gpt-5", api });
    const messages: Message[] = [{ role: "system", content: "You are a hand." }, { role: "user", content: words }, ...more];
    return await model.ask({ messages, tools: [bash] }, { signal: new AbortController().signal, onText: (text) => heard.push(text) });
  }
  const failure = async (words: string) => (await ask(words).catch((thrown: unknown) => thrown)) as DeckhandError;

  test("streams a text in pieces, and counts its tokens", async () => {
    const answer = await ask("tell me");
    expect(answer).toMatchObject({ text: WORDS, finish: "stop", calls: [] });
    expect(heard.length).toBeGreaterThan(10);
    expect(heard.join("")).toBe(WORDS);
    // Over Responses it sends zeros, which are no figures.
    if (api === "chat") expect(answer.usage.prompt).toBeGreaterThan(0);
    else expect(answer.usage.prompt).toBeNull();
  });

  test("calls a tool beside a word, and goes on from its result", async () => {
    const first = await ask("list them");
    expect(first).toMatchObject({
      text: "I look.",
      finish: "calls",
      calls: [{ name: "bash", raw: COMMAND, args: JSON.parse(COMMAND) as object }],
    });
    const made = { id: "aaaaaaaa1", name: "bash", arguments: COMMAND };
    const second = await ask("list them", [
      {
        role: "assistant",
        content: first.text,
        calls: [made],
        ...(first.by ? { by: first.by } : {}),
        ...(first.echo ? { echo: first.echo } : {}),
      },
      { role: "tool", call: "aaaaaaaa1", content: "a b" },
    ]);
    expect(second).toMatchObject({ text: "Two files.", finish: "stop" });
  });

  test("calls two tools under one id", async () => {
    const { calls, finish } = await ask("two things");
    expect([finish, calls.map(({ args }) => args)]).toEqual(["calls", [{ command: "a" }, { command: "b" }]]);
  });

  test("thinks apart from what it says", async () => {
    expect(await ask("think")).toMatchObject({ text: "Because.", reasoning: "Let me see." });
  });

  test.each(["break it", "half a call"])("hangs up in the middle (%s): the answer is cut, and may be asked for again", async (words) => {
    const error = await failure(words);
    expect([error.code, error.retryAfterMs]).toEqual(["MODEL_CUT", 0]);
  });

  test("sends a call that is not whole: it cannot run", async () => {
    const { finish, calls } = await ask("broken call");
    expect([finish, calls.map(({ args }) => args)]).toEqual(["cut", [null]]);
  });

  test("comes to its limit", async () => {
    expect(await ask("long")).toMatchObject({ text: "The first half", finish: "cut" });
  });

  test.each([
    ["busy", "MODEL_BUSY", 7_000],
    ["down", "MODEL_DOWN", 0],
  ])("refuses: %s", async (words, code, wait) => {
    const error = await failure(words);
    expect([error.code, error.retryAfterMs]).toEqual([code, wait]);
  });

  test("sends something that is no stream: an error of ours", async () => {
    expect((await failure("garbage")).code).toMatch(/^MODEL_/);
  });
});
