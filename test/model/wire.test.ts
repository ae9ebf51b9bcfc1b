import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../src/core/ports.ts";
import { refusalOf } from "../../src/model/strict.ts";
import { toWire } from "../../src/model/wire.ts";

const tools = [{ name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } }];

function bodyOf(messages: Message[]): unknown {
  return JSON.parse(JSON.stringify({ model: "m", stream: true, ...toWire(messages, tools) }));
}

const user = (content: string): Message => ({ role: "user", content });
const result = (call: string, content: string): Message => ({ role: "tool", call, content });
const answer = (content: string | null, ...ids: string[]): Message & { role: "assistant" } => ({
  role: "assistant",
  content,
  calls: ids.map((id) => ({ id, name: "bash", arguments: '{"command":"ls"}' })),
});

/** Any text at all, lone surrogates included. */
const anyText = fc.oneof(
  fc.constantFrom("", " ", "hello", '{"command":"ls"}', "{", '"\\ud83d"', '{"command":"\\ud83d"}'),
  fc.array(fc.nat(0xffff), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
);
const anyId = fc.constantFrom("aaaaaaaa1", "aaaaaaaa2", "aaaaaaaa3", "aaaaaaaa4");
const anyCall = fc.record({ id: anyId, name: fc.oneof(fc.constant("bash"), anyText), arguments: anyText });
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constantFrom("system" as const, "user" as const), content: anyText }),
  fc.record(
    {
      role: fc.constant("assistant" as const),
      content: fc.option(anyText),
      calls: fc.array(anyCall, { maxLength: 3 }),
      reasoning: anyText,
    },
    { requiredKeys: ["role", "content", "calls"] },
  ),
  fc.record({ role: fc.constant("tool" as const), call: anyId, content: anyText }),
);

test("any sequence of messages gives a request that strict vendors accept", () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 14 }), (messages) => {
      expect(refusalOf(bodyOf(messages))).toBeNull();
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
  const requests = [2, 5, 7, 9].map((length) => toWire(log.slice(0, length), tools).messages);
  for (const [at, later] of requests.slice(1).entries()) {
    const before = requests[at] ?? [];
    expect(JSON.stringify(later.slice(0, before.length))).toBe(JSON.stringify(before));
  }
});

test("a call without a result gets one that says that nothing is known, right after its message", () => {
  const wire = toWire([user("go"), answer(null, "aaaaaaaa1", "aaaaaaaa2"), user("hello?"), result("aaaaaaaa2", "b")], tools).messages;
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
  ).messages;
  expect(wire.map(({ content }) => content)).toEqual(["go", null, "a", "x"]);
});

test("what people wrote one after the other is one message", () => {
  expect(toWire([user("Ann: one"), user("Bob: two")], tools).messages).toEqual([user("Ann: one\n\nBob: two")]);
});

test("the content key is always there, and good arguments keep their bytes", () => {
  const spaced = '{ "command" : "ls",  "n": 12345678901234567890 }';
  const call = { ...answer(null), calls: [{ id: "aaaaaaaa1", name: "bash", arguments: spaced }] };
  const [, assistant] = toWire([user("go"), call], tools).messages;
  expect(assistant).toMatchObject({ content: null, tool_calls: [{ function: { arguments: spaced } }] });
});

test("broken arguments go back as an object that holds them", () => {
  const call = { ...answer(null), calls: [{ id: "aaaaaaaa1", name: "bash", arguments: '{"command":"rm' }] };
  const [, assistant] = toWire([user("go"), call], tools).messages;
  expect(assistant).toMatchObject({ tool_calls: [{ function: { arguments: '{"_invalid":"{\\"command\\":\\"rm"}' } }] });
});

test("signatures and thoughts go back with the message that had them", () => {
  const extra = { extra_content: { google: { thought_signature: "s" } } };
  const call = { ...answer("so"), reasoning: "hm", calls: [{ id: "aaaaaaaa1", name: "bash", arguments: "{}", extra }] };
  const [, assistant] = toWire([user("go"), call], tools).messages;
  expect(assistant).toMatchObject({ reasoning_content: "hm", tool_calls: [extra] });
});
