import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../src/core/ports.ts";
import { refusalOf } from "../../src/model/strict.ts";
import { toWire } from "../../src/model/wire.ts";
import { anyHistory } from "./any-history.ts";
import { PLAIN } from "./manner.ts";

const tools = [{ name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } }];

function bodyOf(messages: Message[], manner = PLAIN): unknown {
  return JSON.parse(JSON.stringify({ model: "m", stream: true, ...toWire(messages, tools, manner) }));
}

const user = (content: string): Message => ({ role: "user", content });
const result = (call: string, content: string): Message => ({ role: "tool", call, content });
const answer = (content: string | null, ...ids: string[]): Message & { role: "assistant" } => ({
  role: "assistant",
  content,
  calls: ids.map((id) => ({ id, name: "bash", arguments: '{"command":"ls"}' })),
});

test("any sequence of messages gives a request that strict vendors accept", () => {
  fc.assert(
    fc.property(anyHistory, fc.boolean(), fc.boolean(), fc.boolean(), (messages, images, bridge, single) => {
      expect(refusalOf(bodyOf(messages, { ...PLAIN, images, bridge, single }))).toBeNull();
    }),
    { numRuns: 1_000 },
  );
});

test("a request of a running turn strictly extends the one before it", () => {
  const log = [
    { role: "system" as const, content: "You are a hand." },
    user("list"),
    answer(null, "aaaaaaaa1", "aaaaaaaa2"),
    result("aaaaaaaa1", "a"),
    result("aaaaaaaa2", "b"),
    answer("one more", "aaaaaaaa3"),
    result("aaaaaaaa3", "c"),
    answer("done"),
    user("thanks"),
  ];
  const requests = [2, 5, 7, 9].map((length) => toWire(log.slice(0, length), tools, PLAIN).messages);
  for (const [at, later] of requests.slice(1).entries()) {
    const before = requests[at] ?? [];
    expect(JSON.stringify(later.slice(0, before.length))).toBe(JSON.stringify(before));
  }
});

test("a call without a result gets one that says that nothing is known, right after its message", () => {
  const wire = toWire(
    [user("go"), answer(null, "aaaaaaaa1", "aaaaaaaa2"), user("hello?"), result("aaaaaaaa2", "b")],
    tools,
    PLAIN,
  ).messages;
  expect(wire.map(({ role, content }) => [role, content])).toEqual([
    ["user", "go"],
    ["assistant", null],
    ["tool", "No result: the work was interrupted. It is not known whether this ran."],
    ["tool", "b"],
    ["user", "hello?"],
  ]);
});

test("a result without a call, a second result and empty messages are left out", () => {
  const wire = toWire(
    [
      user("go"),
      result("zzzzzzzz9", "lost"),
      result("aaaaaaaa1", "early"),
      answer(null, "aaaaaaaa1"),
      result("aaaaaaaa1", "a"),
      result("aaaaaaaa1", "again"),
      answer(""),
      user("x"),
    ],
    tools,
    PLAIN,
  ).messages;
  expect(wire.map(({ content }) => content)).toEqual(["go", null, "a", "x"]);
});

test("what people wrote one after the other is one message", () => {
  expect(toWire([user("Ann: one"), user("Bob: two")], tools, PLAIN).messages).toEqual([user("Ann: one\n\nBob: two")]);
});

test("the content key is always there, and good arguments keep their bytes", () => {
  const spaced = '{ "command" : "ls",  "n": 12345678901234567890 }';
  const call = { ...answer(null), calls: [{ id: "aaaaaaaa1", name: "bash", arguments: spaced }] };
  const [, assistant] = toWire([user("go"), call], tools, PLAIN).messages;
  expect(assistant).toMatchObject({ content: null, tool_calls: [{ function: { arguments: spaced } }] });
});

test("broken arguments go back as an object that holds them", () => {
  const call = { ...answer(null), calls: [{ id: "aaaaaaaa1", name: "bash", arguments: '{"command":"rm' }] };
  const [, assistant] = toWire([user("go"), call], tools, PLAIN).messages;
  expect(assistant).toMatchObject({ tool_calls: [{ function: { arguments: '{"_invalid":"{\\"command\\":\\"rm"}' } }] });
});

test("signatures and thoughts go back with the message that had them", () => {
  const extra = { extra_content: { google: { thought_signature: "s" } } };
  const call = { ...answer("so"), reasoning: "hm", calls: [{ id: "aaaaaaaa1", name: "bash", arguments: "{}", extra }] };
  const [, assistant] = toWire([user("go"), call], tools, PLAIN).messages;
  expect(assistant).toMatchObject({ reasoning_content: "hm", tool_calls: [extra] });
});

test("what only another model can read is left out", () => {
  const extra = { extra_content: { google: { thought_signature: "s" } } };
  const echo = [{ type: "reasoning.encrypted", data: "x" }];
  const calls = [{ id: "aaaaaaaa1", name: "bash", arguments: "{}", extra }];
  const messages: Message[] = [user("go"), { ...answer("so"), calls, reasoning: "hm", echo, by: PLAIN.by }, result("aaaaaaaa1", "x")];
  expect(toWire(messages, tools, PLAIN).messages[1]).toMatchObject({
    reasoning_content: "hm",
    reasoning_details: echo,
    tool_calls: [extra],
  });
  const other = JSON.stringify(toWire(messages, tools, { ...PLAIN, by: "n at here" }));
  expect(other).not.toMatch(/reasoning|thought_signature/);
});

test("images go as parts to models that see, and as a note to others", () => {
  const seen: Message = { role: "user", content: "Ann: look", images: [{ type: "image/png", data: "aGk=" }] };
  expect(toWire([seen], tools, PLAIN).messages).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "Ann: look" },
        { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
      ],
    },
  ]);
  expect(toWire([seen], tools, { ...PLAIN, images: false }).messages[0]?.content).toBe(
    "Ann: look\n(There was an image here. You cannot see images.)",
  );
});

test("where a person may not follow a result, an answer stands between them", () => {
  const messages = [user("go"), answer(null, "aaaaaaaa1"), result("aaaaaaaa1", "x"), user("wait")];
  const roles = toWire(messages, tools, { ...PLAIN, bridge: true }).messages.map(({ role }) => role);
  expect(roles).toEqual(["user", "assistant", "tool", "assistant", "user"]);
});

test("where only one call a message is taken, each call has a message of its own", () => {
  const messages = [user("go"), answer("both", "aaaaaaaa1", "aaaaaaaa2"), result("aaaaaaaa1", "x"), result("aaaaaaaa2", "y")];
  const wire = toWire(messages, tools, { ...PLAIN, single: true }).messages;
  expect(wire.map(({ role, content }) => [role, content])).toEqual([
    ["user", "go"],
    ["assistant", "both"],
    ["tool", "x"],
    ["assistant", null],
    ["tool", "y"],
  ]);
});
