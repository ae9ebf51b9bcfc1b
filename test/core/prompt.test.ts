import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry, NewEntry } from "../../src/core/entry.ts";
import type { Message } from "../../src/core/ports.ts";
import { resultText, systemPrompt, toMessages } from "../../src/core/prompt.ts";
import { ann, anyLog, bob, message, numbered, opened } from "../support/random-log.ts";

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
  return toMessages(entries, setting)
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
      fc.property(anyLog, (log) => expectAnswered(toMessages(log, setting))),
      { numRuns: 300 },
    );
  });

  test("only ever grow: each request extends the one before", () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const all = toMessages(log, setting);
        for (const entry of log) {
          if (entry.type !== "model") continue;
          const sent = toMessages(
            log.filter((e) => e.seq <= entry.read),
            setting,
          );
          expect(all.slice(0, sent.length)).toEqual(sent);
        }
      }),
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
    const prompt = systemPrompt(setting);
    expect(prompt.length / 4.2).toBeGreaterThan(400);
    expect(prompt.length / 4.2).toBeLessThan(700);
    expect(prompt).not.toMatch(/20\d\d|o'clock/);
  });
});

describe("the result of a call", () => {
  const base = {
    type: "run-ended",
    call: "c",
    exit: 0,
    output: { text: "", bytes: 0, omitted: 0 },
    ms: 2000,
    v: 1,
    seq: 9,
    at: 0,
    epoch: 1,
  } as const;
  test.each([
    [{ how: "exited" }, "(no output)"],
    [{ how: "exited", exit: 2, output: { text: "no such file", bytes: 1, omitted: 0 } }, "no such file\n[exit code 2]"],
    [{ how: "timeout" }, "ended after 2 s: time limit"],
    [{ how: "cancelled", by: bob }, "stopped by Bob"],
    [{ how: "interrupted" }, "not known how far this command came; it was not run again"],
    [{ how: "refused", output: { text: "Not run: no.", bytes: 0, omitted: 0 } }, "Not run: no."],
  ])("%j reads %j", (part, expected) => {
    expect(resultText({ ...base, ...part } as Entry<"run-ended">)).toContain(expected);
  });
});
