import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bash, conversationScript, say } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";
import type { WireMessage } from "../../src/model/wire.ts";

const tools = [{ type: "function", function: { name: "bash", description: "Runs.", parameters: { type: "object" } } }];
const call = (id: string, text = "{}") => ({ id, type: "function", function: { name: "bash", arguments: text } });
const user = { role: "user", content: "go" };
const asks = (...calls: object[]) => ({ role: "assistant", content: null, tool_calls: calls });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "x" });

describe("the scripted model refuses what strict vendors refuse", () => {
  let server: ScriptedModel;
  beforeEach(async () => {
    server = await startScriptedModel(() => say("fine"));
  });
  afterEach(() => server.close());

  async function post(body: unknown): Promise<[number, string]> {
    const response = await fetch(`${server.baseUrl}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
    return [response.status, await response.text()];
  }
  const whole = (messages: object[], more: object = {}) => ({ model: "m", stream: true, tools, messages, ...more });

  test.each<[string, object, string]>([
    ["no model", whole([user], { model: "" }), "'model'"],
    ["no stream", whole([user], { stream: false }), "'stream'"],
    ["no messages", whole([]), "'messages'"],
    ["no tools", whole([user], { tools: [] }), "'tools'"],
    ["an unknown role", whole([{ role: "developer", content: "x" }]), "unknown role 'developer'"],
    ["no content key", whole([user, { role: "assistant", tool_calls: [call("aaaaaaaa1")] }]), "missing field 'content'"],
    ["content in parts", whole([{ role: "user", content: [{ type: "text", text: "x" }] }]), "content must be a string"],
    ["an empty assistant message", whole([user, { role: "assistant", content: "" }, user]), "needs content or tool calls"],
    ["a call without a result", whole([user, asks(call("aaaaaaaa1")), user]), "without a result right after them: aaaaaaaa1"],
    ["a call without a result at the end", whole([user, asks(call("aaaaaaaa1"))]), "without a result right after them: aaaaaaaa1"],
    ["one result of two", whole([user, asks(call("aaaaaaaa1"), call("aaaaaaaa2")), result("aaaaaaaa2")]), "aaaaaaaa1"],
    ["a result without a call", whole([user, result("aaaaaaaa1")]), "no call right before it"],
    ["a second result", whole([user, asks(call("aaaaaaaa1")), result("aaaaaaaa1"), result("aaaaaaaa1")]), "no call right before it"],
    [
      "the same id twice",
      whole([user, asks(call("aaaaaaaa1"), call("aaaaaaaa1")), result("aaaaaaaa1")]),
      "two tool calls with the same id",
    ],
    ["an id of another form", whole([user, asks(call("call_1")), result("call_1")]), "nine letters or digits"],
    ["broken arguments", whole([user, asks(call("aaaaaaaa1", "{")), result("aaaaaaaa1")]), "failed to parse tool call arguments"],
    ["a lone surrogate", whole([{ role: "user", content: "\ud83d" }]), "no low surrogate"],
    ["a late system message", whole([user, { role: "system", content: "x" }]), "must be the first"],
    ["two users in a row", whole([user, user]), "must alternate"],
    ["an answer before any question", whole([{ role: "assistant", content: "x" }, user]), "assistant after ''"],
    ["an answer at the end", whole([user, { role: "assistant", content: "x" }]), "the last message"],
  ])("%s", async (_, body, sentence) => {
    const [status, text] = await post(body);
    expect(status).toBe(400);
    expect((JSON.parse(text) as { error: { message: string } }).error.message).toContain(sentence);
    expect(server.requests.at(-1)?.refused).toContain(sentence);
  });

  test("a good request is answered as a stream that ends in [DONE]", async () => {
    const [status, text] = await post(whole([user, asks(call("aaaaaaaa1")), result("aaaaaaaa1")]));
    expect(status).toBe(200);
    expect(text).toContain('"content":"fine"');
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
  });

  test("it lists its model, and a wrong path is a 404", async () => {
    expect((await fetch(`${server.baseUrl}/models`)).status).toBe(200);
    expect((await fetch(server.baseUrl.replace("/v1", "/chat/completions"), { method: "POST" })).status).toBe(404);
  });
});

test("a script that fails answers 500 with its message", async () => {
  const server = await startScriptedModel(() => {
    throw new Error("no such scene");
  });
  const body = JSON.stringify({ model: "m", stream: true, tools, messages: [user] });
  const response = await fetch(`${server.baseUrl}/chat/completions`, { method: "POST", body });
  expect([response.status, await response.text()]).toEqual([500, expect.stringContaining("no such scene") as string]);
  await server.close();
});

test("a conversation script plays its steps by what was said last and what came back", () => {
  const script = conversationScript([
    { when: /list/, steps: [() => bash("ls", "I look."), ({ lastResult }) => say(`It says ${lastResult}.`)] },
    { when: /count/, steps: [() => bash("ls"), () => bash("wc"), ({ results }) => say(results.join("+"))] },
  ]);
  const play = (...messages: object[]) => script({ messages: messages as WireMessage[], tools: [], n: 0 });
  const list = { role: "user", content: "Ann: list it" };
  const count = { role: "user", content: "count" };
  const ran = (id: string, content: string) => [asks(call(id)), { role: "tool", tool_call_id: id, content }];
  expect(play(list)).toEqual(bash("ls", "I look."));
  expect(play(list, ...ran("a", "x"))).toEqual(say("It says x."));
  expect(play(list, ...ran("a", "x"), { role: "assistant", content: "It says x." }, count)).toEqual(bash("ls"));
  expect(play(count, ...ran("a", "1"), ...ran("b", "2"))).toEqual(say("1+2"));
  expect(play(count, ...ran("a", "1"), ...ran("b", "2"), { role: "assistant", content: "1+2" }, list)).toEqual(bash("ls", "I look."));
  expect(play({ role: "user", content: "sing" }).text).toContain("nothing about that");
});
