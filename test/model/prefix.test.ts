import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../../src/core/ports.ts";
import { toInput } from "../../src/model/input.ts";
import { toWire } from "../../src/model/wire.ts";
import { runningHistory } from "./any-history.ts";
import { PLAIN } from "./manner.ts";

const tools = [{ name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } }];

type Form = "Chat Completions" | "Responses";
const FORMS: Form[] = ["Chat Completions", "Responses"];

/** The bytes that a vendor's cache compares: all messages of a request in order. */
function bytes(messages: Message[], manner: typeof PLAIN, form: Form): string {
  const list: object[] = form === "Responses" ? toInput(messages, tools, manner).input : toWire(messages, tools, manner).messages;
  return list.map((each) => JSON.stringify(each)).join("\n");
}

const manners = [
  PLAIN,
  { ...PLAIN, bridge: true, content: "" as const },
  { ...PLAIN, single: true, images: false, reasoning: "always" as const },
];

test.each(FORMS)("a request over %s strictly extends every earlier one of its conversation", (form) => {
  fc.assert(
    fc.property(runningHistory, fc.constantFrom(...manners), (messages, manner) => {
      let before = "";
      messages.forEach((message, at) => {
        // A request is made when all calls are answered and there is something to answer.
        const next = messages[at + 1];
        const more = message.role !== "user" && next?.role === "tool";
        if (message.role === "assistant" || message.role === "system" || more || next?.role === "user") return;
        const now = bytes(messages.slice(0, at + 1), manner, form);
        expect(now.startsWith(before)).toBe(true);
        before = now;
      });
    }),
    { numRuns: 500 },
  );
});

test.each(FORMS)("words that come while a request of %s was never answered are added behind the others", (form) => {
  const one = [{ role: "user" as const, content: "Ann: go" }];
  const before = bytes(one, PLAIN, form);
  const now = bytes([...one, { role: "user", content: "Bob: wait" }], PLAIN, form);
  expect(now.startsWith(before.slice(0, before.indexOf("go") + 2))).toBe(true);
});
