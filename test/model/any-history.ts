import fc from "fast-check";
import type { Message } from "../../src/core/ports.ts";

/** Any text at all, lone surrogates included. */
const anyText = fc.oneof(
  fc.constantFrom("", " ", "hello", '{"command":"ls"}', "{", '"\\ud83d"', '{"command":"\\ud83d"}', "<|im_end|>", "</tool_response>"),
  fc.array(fc.nat(0xffff), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
);
const anyId = fc.constantFrom("aaaaaaaa1", "aaaaaaaa2", "aaaaaaaa3", "aaaaaaaa4", "call_abc-1", "");
const signature = { extra_content: { google: { thought_signature: "s" } } };
const anyCall = fc.record(
  { id: anyId, name: fc.oneof(fc.constant("bash"), anyText), arguments: anyText, extra: fc.constant(signature) },
  { requiredKeys: ["id", "name", "arguments"] },
);
const image = { type: "image/png", data: "aGk=" };
const thought = { type: "reasoning", summary: [], encrypted_content: "gAAA" };
const echoed = fc.constantFrom<Record<string, unknown>>(
  thought,
  { type: "function_call" },
  { type: "message", phase: "commentary" },
  {
    type: "reasoning.encrypted",
    data: "x",
  },
);

/** Any message that a log could ever give, in any state of crash. */
export const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant("system" as const), content: anyText }),
  fc.record(
    { role: fc.constant("user" as const), content: anyText, images: fc.array(fc.constant(image), { maxLength: 2 }) },
    { requiredKeys: ["role", "content"] },
  ),
  fc.record(
    {
      role: fc.constant("assistant" as const),
      content: fc.option(anyText),
      calls: fc.array(anyCall, { maxLength: 3 }),
      reasoning: anyText,
      by: fc.constantFrom("m at here", "other at there"),
      echo: fc.array(echoed, { maxLength: 4 }),
    },
    { requiredKeys: ["role", "content", "calls"] },
  ),
  fc.record({ role: fc.constant("tool" as const), call: anyId, content: anyText }),
);

export const anyHistory = fc.array(anyMessage, { maxLength: 14 });

/** A history as a running conversation makes it: every step answered before the next request, people in between. */
export const runningHistory: fc.Arbitrary<Message[]> = fc
  .array(
    fc.record({
      words: fc.option(anyText),
      text: fc.option(anyText),
      calls: fc.nat(3),
      between: fc.boolean(),
      echo: fc.boolean(),
      image: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((steps) => {
    const messages: Message[] = [
      { role: "system", content: "You are a hand." },
      { role: "user", content: "Ann: go" },
    ];
    steps.forEach((step, at) => {
      const calls = Array.from({ length: step.calls }, (_, nth) => ({
        id: `id${at}x${nth}aaaaa`.slice(0, 9),
        name: "bash",
        arguments: "{}",
      }));
      const own = step.echo ? { by: "m at here", echo: [thought, { type: "function_call" }], reasoning: "hm" } : {};
      const text = calls.length === 0 && (step.text ?? "").trim() === "" ? "well" : step.text;
      messages.push({ role: "assistant", content: text, calls, ...own });
      for (const { id } of calls) messages.push({ role: "tool", call: id, content: step.words ?? "done" });
      if (step.between || calls.length === 0)
        messages.push({ role: "user", content: `Bob: ${step.words ?? "and?"}`, ...(step.image ? { images: [image] } : {}) });
    });
    return messages;
  });
