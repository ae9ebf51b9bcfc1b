import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry, NewEntry } from "../../src/core/entry.ts";
import type { Message } from "../../src/core/ports.ts";
import { systemPrompt } from "../../src/core/prompt.ts";
import { redactor } from "../../src/core/redactor.ts";
import { ann, anyLog, bob, message, numbered, opened } from "../support/random-log.ts";
import { prompts, toMessages } from "../support/told.ts";

const redact = redactor(["plantedvalue-4711"]);
const setting = { workspace: "api", path: "/srv/api", sandbox: "sandboxed: no network, workspace only" };

function modelSays(read: number, text: string): NewEntry {
  return {
    type: "model",
    read,
    text,
    calls: [],
    finish: "stop",
    usage: { prompt: null, completion: null, cached: null },
    model: "m",
    ms: 1,
    tries: 1,
  };
}

function words(entries: Entry[]): string[] {
  return toMessages(entries, setting, redact)
    .slice(1)
    .map((m) => `${m.role}: ${m.content}`);
}

/** Each call is answered once, right after the message that made it, and nothing else is answered. */
function expectAnswered(messages: Message[]): void {
  let open: string[] = [];
  for (const m of messages) {
    if (m.role === "tool") {
      expect(open[0]).toBe(m.call);
      open = open.slice(1);
    } else {
      expect(open).toEqual([]);
      if (m.role === "assistant") open = m.calls.map((c) => c.id);
    }
  }
  expect(open).toEqual([]);
}

describe("the model's messages", () => {
  test("answer every call right after it, whatever the log went through", () => {
    fc.assert(
      fc.property(anyLog, (log) => expectAnswered(toMessages(log, setting, redact))),
      { numRuns: 300 },
    );
  });

  test("put words that came during an answer behind that answer", () => {
    const log = numbered([opened(), message("one"), message("two", bob), modelSays(2, "answer")]);
    expect(words(log)).toEqual(["user: Ann: one", "assistant: answer", "user: Bob: two"]);
  });

  test("use the corrected words while the model has not read them", () => {
    const log = numbered([opened(), message("lits", ann, "e1"), { type: "edited", event: "e1", text: "list" }]);
    expect(words(log)).toEqual(["user: Ann: list"]);
  });

  test("tell of a correction when the model had read the first words", () => {
    const log = numbered([opened(), message("lits", ann, "e1"), modelSays(2, "what?"), { type: "edited", event: "e1", text: "list" }]);
    expect(words(log).at(-1)).toBe("user: (An earlier message was changed by its writer. It now says: list)");
  });

  test("say which words were not meant for the bot", () => {
    const log = numbered([opened(), { ...message("lunch?", bob), to: "thread" } as NewEntry]);
    expect(words(log)).toEqual(["user: Bob (to the others in the thread, for your information): lunch?"]);
  });

  test("begin with a prompt that holds no clock and stays between 400 and 700 tokens", () => {
    const prompt = systemPrompt(setting, prompts);
    expect(prompt.length / 4.2).toBeGreaterThan(400);
    expect(prompt.length / 4.2).toBeLessThan(700);
    expect(prompt).not.toMatch(/20\d\d|o'clock/);
  });

  test("hold no secret, whoever wrote it, and stay valid", () => {
    const secret = "plantedvalue-4711";
    const raw = JSON.stringify({ command: `echo ${secret} > "a b"`, [secret]: [secret] });
    const extra = { signature: secret };
    const call = { id: "c1", name: "bash", args: JSON.parse(raw) as Record<string, unknown>, raw, extra };
    const log = numbered([
      opened(),
      message(`use ${secret}`, { ...ann, name: secret }, "e1"),
      { ...modelSays(2, `I use ${secret}`), calls: [call], finish: "calls", reasoning: `it is ${secret}` } as NewEntry,
      { type: "run-ended", call: "c1", how: "exited", exit: 0, output: { text: `is ${secret}`, bytes: 9, omitted: 0 }, ms: 1 },
      { type: "final", text: `no ${secret}`, answers: [2], reason: "stopped" },
    ]);
    const messages = toMessages(log, { ...setting, path: `/srv/${secret}` }, redact);
    // What the endpoint itself wrote for itself goes back to it as it came.
    const own = messages.map((m) => (m.role === "assistant" ? { ...m, calls: m.calls.map((c) => ({ ...c, extra: null })) } : m));
    expect(JSON.stringify(own)).not.toContain(secret);
    expect(messages[2]).toMatchObject({ content: "I use [secret]", reasoning: "it is [secret]", calls: [{ id: "c1", extra }] });
    const sent = messages[2]?.role === "assistant" ? (messages[2].calls[0]?.arguments ?? "") : "";
    expect(JSON.parse(sent)).toEqual({ command: 'echo [secret] > "a b"', "[secret]": ["[secret]"] });
    expect(messages[3]).toEqual({ role: "tool", call: "c1", content: "is [secret]" });
  });
});
