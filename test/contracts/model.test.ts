import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DeckhandError } from "../../src/core/errors.ts";
import type { Message, Model, ModelRequest } from "../../src/core/ports.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { bash, say, type Step } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";

const tools = [{ name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } }];
const user = (content: string): Message => ({ role: "user", content });
const call = (id: string) => ({ id, name: "bash", arguments: '{"command":"ls"}' });
const never = () => new AbortController().signal;

/** What every Model keeps to; `start` gives one whose next answer is the step. */
const models: { name: string; start: (server: ScriptedModel) => Model }[] = [
  ...(["chat", "responses"] as const).map((api) => ({
    name: `openaiModel over ${api}`,
    start: (server: ScriptedModel) => openaiModel({ apiKey: "k", baseUrl: server.baseUrl, model: "scripted", api }),
  })),
];

describe.each(models)("the Model port: $name", ({ start }) => {
  let server: ScriptedModel;
  let step: Step;
  let model: Model;
  beforeEach(async () => {
    server = await startScriptedModel(() => step);
    model = start(server);
  });
  afterEach(() => server.close());

  const ask = (messages: Message[] = [user("go")], signal = never()) => model.ask({ messages, tools }, { signal });

  test("a text comes whole, with its usage and the name of the model", async () => {
    step = say("There are three files — 三个文件 🗂️.");
    const answer = await ask();
    expect(answer).toMatchObject({ text: step.text, calls: [], finish: "stop", model: "scripted" });
    expect(answer.usage.prompt).toBeGreaterThan(0);
    expect(answer.usage.completion).toBeGreaterThan(0);
  });

  test("what onText hears is the text of the answer", async () => {
    step = { text: "a longer text in several pieces", ...bash("ls") };
    let heard = "";
    const answer = await model.ask({ messages: [user("go")], tools }, { signal: never(), onText: (text) => (heard += text) });
    expect(heard).toBe(answer.text);
  });

  test("calls come in order, with their arguments parsed and as they came", async () => {
    step = {
      calls: [
        { name: "bash", args: { command: "ls" } },
        { name: "other", args: '{"a": 1}' },
      ],
    };
    const answer = await ask();
    expect(answer.finish).toBe("calls");
    expect(answer.calls).toEqual([
      { name: "bash", args: { command: "ls" }, raw: '{"command":"ls"}' },
      { name: "other", args: { a: 1 }, raw: '{"a": 1}' },
    ]);
  });

  test.each<[string, Step]>([
    ["the output limit", { ...bash("rm -rf /tmp/x"), finish: "length" }],
    ["arguments that are half there", { calls: [{ name: "bash", args: '{"command":"rm -rf /tm' }] }],
  ])("a message that is not whole is cut: %s", async (_, cut) => {
    step = cut;
    expect((await ask()).finish).toBe("cut");
  });

  test.each<[string, Step, string]>([
    ["a lost connection", { ...bash("ls"), cutAfter: 3 }, "MODEL_CUT"],
    ["a web page", { html: true }, "MODEL_HTML"],
    ["a bad key", { status: 401 }, "MODEL_AUTH"],
    ["a wrong address", { status: 404 }, "MODEL_URL"],
    ["too many requests", { status: 429, headers: { "retry-after": "3" } }, "MODEL_BUSY"],
    ["a broken service", { status: 500, body: "<html>" }, "MODEL_DOWN"],
  ])("%s rejects with one of our errors, after one try", async (_, broken, code) => {
    step = broken;
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DeckhandError);
    expect(error).toMatchObject({ code });
    expect(server.requests).toHaveLength(1);
  });

  test.each<[string, Step]>([
    ["nothing at all", {}],
    ["no choices", { empty: true }],
  ])("an answer that says nothing is given as it is: %s", async (_, nothing) => {
    step = nothing;
    expect(await ask()).toMatchObject({ text: "", calls: [], finish: "stop" });
  });

  test("the next request after an error is answered", async () => {
    step = say("hello");
    server.fail({ status: 503 });
    await expect(ask()).rejects.toMatchObject({ code: "MODEL_DOWN", retryAfterMs: 0 });
    expect((await ask()).text).toBe("hello");
  });

  test("aborting rejects with the signal's reason and hangs up", async () => {
    step = { hang: true };
    const controller = new AbortController();
    const reason = new Error("stop");
    const answer = ask(undefined, controller.signal);
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await expect.poll(() => server.requests[0]?.gone).toBe(true);
  });

  test.each<[string, Message[]]>([
    [
      "a turn with calls and results",
      [user("go"), { role: "assistant", content: null, calls: [call("aaaaaaaa1")] }, { role: "tool", call: "aaaaaaaa1", content: "x" }],
    ],
    ["a call whose result was lost", [user("go"), { role: "assistant", content: null, calls: [call("aaaaaaaa1")] }, user("and?")]],
    ["a result whose call was lost", [user("go"), { role: "tool", call: "aaaaaaaa9", content: "x" }]],
    ["two people in a row", [user("Ann: go"), user("Bob: wait")]],
    ["an answer at the end", [user("go"), { role: "assistant", content: "well", calls: [] }]],
  ])("any history is accepted: %s", async (_, messages) => {
    step = say("fine");
    expect((await ask(messages)).text).toBe("fine");
    expect(server.requests.at(-1)?.refused).toBeNull();
  });

  test("a request may forbid calls, and names the tools all the same", async () => {
    step = say("a summary");
    await model.ask({ messages: [user("go")], tools, choice: "none" }, { signal: never() });
    expect(server.requests.at(-1)?.body).toMatchObject({ tool_choice: "none", tools: [{ function: { name: "bash" } }] });
  });

  test("two requests at once do not mix", async () => {
    step = { text: "both", delayMs: 20 };
    const both: ModelRequest = { messages: [user("go")], tools };
    const answers = await Promise.all([1, 2].map(() => model.ask(both, { signal: never() })));
    expect(answers.map(({ text }) => text)).toEqual(["both", "both"]);
  });
});
