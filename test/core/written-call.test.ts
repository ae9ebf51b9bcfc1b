import { describe, expect, test } from "vitest";
import { isWrittenCall } from "../../src/core/written-call.ts";

const tools = ["bash"];

describe("a call that was written as text", () => {
  test.each([
    '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>',
    '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}',
    "<function=bash>\n<parameter=command>ls</parameter>\n</function>",
    '<function_calls><invoke name="bash"></invoke></function_calls>',
    '<|tool_call|>bash{"command":"ls"}',
    '[TOOL_CALLS][{"name":"bash","arguments":{"command":"ls"}}]',
    '<｜tool▁calls▁begin｜>function<｜tool▁sep｜>bash\n{"command":"ls"}',
    '{"name":"bash","arguments":{"command":"ls"}}',
    '[{"name":"bash","parameters":{"command":"ls"}}]',
    '{"type":"function","function":{"name":"bash","arguments":"{}"}}',
    '```json\n{"name":"bash","arguments":{"command":"ls"}}\n```',
  ])("is known as one: %s", (text) => {
    expect(isWrittenCall(text, tools)).toBe(true);
  });
});

describe("words for people", () => {
  test.each([
    "Run `ls` to see the files.",
    'I would call {"name":"bash","arguments":{}} here.',
    '{"name":"deckhand","version":"1.0.0"}',
    '{"name":"python","arguments":{}}',
    "[]",
    "{not json",
    "<p>bash</p>",
    "<tool_call> is how some models write calls",
    "",
  ])("are none: %s", (text) => {
    expect(isWrittenCall(text, tools)).toBe(false);
  });
});
