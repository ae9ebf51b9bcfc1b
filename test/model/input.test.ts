import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../src/core/ports.ts";
import { toInput } from "../../src/model/input.ts";
import { inputRefusalOf } from "../../src/model/strict-input.ts";
import { anyHistory } from "./any-history.ts";
import { PLAIN } from "./manner.ts";

const tools = [{ name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } }];
const user = (content: string): Message => ({ role: "user", content });
const result = (call: string, content: string): Message => ({ role: "tool", call, content });
const thought = (id: string) => ({ type: "reasoning", id, summary: [], encrypted_content: "gAAA" });
const call = (id: string) => ({ id, name: "bash", arguments: "{}" });
const made = (id: string) => ({ type: "function_call", call_id: id, name: "bash", arguments: "{}" });

const input = (messages: Message[], manner = PLAIN) => toInput(messages, tools, manner).input;

test("any sequence of messages gives a Responses request that the strictest vendor accepts", () => {
  fc.assert(
    fc.property(anyHistory, fc.boolean(), fc.boolean(), (messages, images, encrypted) => {
      const made = toInput(messages, tools, { ...PLAIN, images, encrypted });
      expect(inputRefusalOf(JSON.parse(JSON.stringify({ model: "m", stream: true, store: false, ...made })))).toBeNull();
    }),
    { numRuns: 1_000 },
  );
});

test("the system message becomes the instructions, calls and results go by our ids, and schemas stay as they are", () => {
  const messages: Message[] = [
    { role: "system", content: "You are a hand." },
    user("go"),
    { role: "assistant", content: "I look.", calls: [call("aaaaaaaa1")] },
    result("aaaaaaaa1", "x"),
  ];
  expect(toInput(messages, tools, PLAIN)).toEqual({
    instructions: "You are a hand.",
    input: [
      { type: "message", role: "user", content: "go" },
      { type: "message", role: "assistant", content: "I look." },
      made("aaaaaaaa1"),
      { type: "function_call_output", call_id: "aaaaaaaa1", output: "x" },
    ],
    tools: [{ type: "function", ...tools[0], strict: false }],
  });
});

test("thoughts go back as they came, each before what it led to", () => {
  const echo = [
    thought("rs_1"),
    { type: "message", phase: "commentary" },
    thought("rs_2"),
    { type: "function_call" },
    { type: "function_call" },
  ];
  const messages: Message[] = [
    user("go"),
    { role: "assistant", content: "I look.", calls: [call("aaaaaaaa1"), call("aaaaaaaa2")], by: PLAIN.by, echo },
    result("aaaaaaaa1", "x"),
    result("aaaaaaaa2", "y"),
  ];
  expect(input(messages).slice(1, 6)).toEqual([
    thought("rs_1"),
    { type: "message", role: "assistant", content: "I look.", phase: "commentary" },
    thought("rs_2"),
    made("aaaaaaaa1"),
    made("aaaaaaaa2"),
  ]);
});

test("thoughts of another model, and all where they were refused, are left out", () => {
  const messages: Message[] = [
    user("go"),
    { role: "assistant", content: "well", calls: [], by: PLAIN.by, echo: [thought("rs_1"), { type: "message" }] },
    user("and?"),
  ];
  expect(input(messages, { ...PLAIN, by: "other at there" })).toHaveLength(3);
  expect(input(messages, { ...PLAIN, encrypted: false })).toHaveLength(3);
  expect(input(messages)).toHaveLength(4);
});

test("images are parts of their message", () => {
  const [item] = input([{ role: "user", content: "see", images: [{ type: "image/png", data: "aGk=" }] }]);
  expect(item).toMatchObject({
    content: [
      { type: "input_text", text: "see" },
      { type: "input_image", image_url: "data:image/png;base64,aGk=" },
    ],
  });
});
