import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isEntry, type Entry, type NewEntry } from "../../src/core/entry.ts";
import { History } from "../../src/core/history.ts";
import type { Message } from "../../src/core/ports.ts";
import { redactor } from "../../src/core/redactor.ts";
import { refusalOf } from "../../src/model/strict.ts";
import { toWire } from "../../src/model/wire.ts";
import { PLAIN } from "../model/manner.ts";
import { ann, anyLog, bob, message, numbered, opened } from "../support/random-log.ts";

const redact = redactor([]);

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };

function historyOf(log: Entry[]): History {
  const history = new History("You are a hand.", redact);
  history.add(log);
  return history;
}

function step(read: number, id: string, prompt: number | null = null): NewEntry {
  const calls = [{ id, name: "bash", args: { command: `cat ${id}` }, raw: "" }];
  const usage = { prompt, completion: null, cached: null };
  return { type: "model", read, text: "", calls, finish: "calls", usage, model: "m", ms: 1, tries: 1 };
}

function ran(call: string, text: string): NewEntry {
  return { type: "run-ended", call, how: "exited", exit: 0, output: { text, bytes: text.length, omitted: 0 }, ms: 1 };
}

function compacted(upto: number, more: Partial<NewEntry<"compacted">> = {}): NewEntry {
  return { type: "compacted", upto, outputs: 0, tokens: 30_000, window: 32_768, ...more };
}

const contents = (log: Entry[]): (string | null)[] => historyOf(log).messages().map(({ content }) => content); // biome-ignore format: one line

/** What was sent with each request of the log, oldest first, and whether room was made since the one before. */
function requests(log: Entry[]): { messages: Message[]; madeRoom: boolean }[] {
  const asked = log.filter((entry) => isEntry(entry, "model") && entry.again === undefined) as Entry<"model">[];
  return asked.map(({ read }, at) => ({
    messages: historyOf(log.filter(({ seq }) => seq <= read)).messages(),
    madeRoom: log.some(({ type, seq }) => type === "compacted" && seq > (asked[at - 1]?.read ?? 0) && seq <= read),
  }));
}

describe("what the model is told", () => {
  test("extends the request before, but where room was made in between", () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const all = requests(log);
        for (const [at, { messages, madeRoom }] of all.entries()) {
          const before = all[at - 1]?.messages ?? [];
          if (!madeRoom) expect(messages.slice(0, before.length)).toEqual(before);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("is the same whether the log came in one piece or an entry at a time, in whatever worker", () => {
    fc.assert(
      fc.property(anyLog, fc.nat(), (log, cut) => {
        const slowly = historyOf([]);
        for (const entry of log) slowly.add([entry]);
        const inTwo = historyOf(log.slice(0, cut % log.length));
        inTwo.add(log.slice(cut % log.length));
        const whole = historyOf(log);
        for (const other of [slowly, inTwo]) {
          expect(other.messages()).toEqual(whole.messages());
          expect(other.tokens()).toEqual(whole.tokens());
          expect(other.steps()).toEqual(whole.steps());
        }
      }),
      { numRuns: 300 },
    );
  });

  test("is, after something was refused, just what the answer came to that was asked for without it", () => {
    const kinds = fc.subarray(["pictures", "outputs", "step", "words"] as const, { minLength: 1 });
    fc.assert(
      fc.property(anyLog, kinds, (log, without) => {
        const upto = log.length;
        const made = without.map((each): NewEntry<"compacted"> => {
          return { type: "compacted", upto, outputs: 32_000, without: each, tokens: 1, window: 1 };
        });
        const history = historyOf(log);
        const asked = history.messagesWith(made);
        const next = step(upto, "zzzzzzzzz");
        history.add(numbered([...made, next], upto + 1));
        expect(history.messages().slice(0, asked.length)).toEqual(asked);
      }),
      { numRuns: 300 },
    );
  });

  test("is a request that strict vendors take, in any state of crash and wherever room was made", () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        if (!log.some((entry) => isEntry(entry, "message"))) return;
        const wire = toWire(historyOf(log).messages(), [bash], PLAIN);
        expect(refusalOf(JSON.parse(JSON.stringify({ model: "m", stream: true, ...wire })))).toBeNull();
      }),
      { numRuns: 300 },
    );
  });

  test("counts the same tokens as when all is counted anew", () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const history = historyOf(log);
        const { tokens, fixed } = history.tokens();
        const steps = history.steps().reduce((all, each) => all + each.tokens, 0);
        const others = history
          .messages()
          .filter(({ content }) => /What happened so far|tabs, no blanks|what was told here was taken out/.test(content ?? ""));
        const beside = others.reduce((all, { content }) => all + Math.ceil((content ?? "").length / 3.5) + 8, 0);
        expect(tokens).toBe(fixed + steps + beside);
      }),
      { numRuns: 200 },
    );
  });
});

describe("making room", () => {
  const long = "x\n".repeat(5_000);
  const worked = [opened(), message("first words"), step(2, "a"), ran("a", long), step(4, "b"), ran("b", long)];

  test("takes old outputs out, says how much that was, and leaves the newest as they are", () => {
    const [, , , a, , b] = contents(numbered([...worked, compacted(3)]));
    expect(a).toBe(
      "[The output of this command (10001 bytes) was taken out to make room. Run it again if you need it.]".replace("10001", "9999"),
    );
    expect(b).toBe(long.trimEnd());
  });

  test("leaves a beginning and an end where it says so", () => {
    const a = contents(numbered([...worked, compacted(3, { outputs: 1_000 })]))[3] ?? "";
    expect(a).toMatch(/^x\nx\n[\s\S]*characters left out[\s\S]*x\n\[Most of the output of this command \(9999 bytes\)/);
    expect(a.length).toBeLessThan(1_300);
  });

  test("counts bytes, not characters, of what it leaves", () => {
    const wide = "漢字\n".repeat(3_000);
    const log = numbered([opened(), message("go"), step(2, "a"), ran("a", wide), compacted(3, { outputs: 2_000 })]);
    expect(new TextEncoder().encode(contents(log)[3] ?? "").length).toBeLessThan(2_300);
  });

  test("names the file that has all of an output", () => {
    const ended = { ...ran("a", long), output: { text: long, bytes: 90_000, omitted: 80_000, file: "/tmp/output-a.txt" } } as NewEntry;
    const log = numbered([opened(), message("go"), step(2, "a"), ended]);
    expect(contents(log)[3]).toContain("[the whole output: /tmp/output-a.txt]");
    expect(contents(numbered([opened(), message("go"), step(2, "a"), ended, compacted(3)]))[3]).toContain(
      "All of it is in /tmp/output-a.txt.",
    );
  });

  test("puts a summary in the place of steps, behind what people wrote and before the newest steps", () => {
    const log = numbered([...worked, message("more", bob), step(7, "c"), ran("c", "out"), compacted(5, { summary: "it was done" })]);
    const told = contents(log);
    expect(told.slice(1, 2)).toEqual(["Ann: first words"]);
    expect(told[2]).toContain("in short:\n  it was done\n");
    expect(told.slice(3)).toEqual(["Bob: more", null, "out"]);
  });

  test("lets a second summary stand for the first", () => {
    const log = numbered([...worked, compacted(3, { summary: "one" }), step(7, "c"), ran("c", "out"), compacted(8, { summary: "two" })]);
    const told = contents(log);
    expect(told.filter((content) => content?.includes("What happened so far"))).toHaveLength(1);
    expect(told).toHaveLength(3);
  });

  test("keeps the first and the newest words of people whole, and leaves out what lies between when there is too much", () => {
    const words = Array.from({ length: 40 }, (_, n) => message(`word ${n} ${"y".repeat(4_000)}`, n % 2 ? ann : bob, `e${n}`));
    const told = contents(
      numbered([opened(), message("first words"), ...words, step(42, "a"), ran("a", "x"), compacted(43, { summary: "s" })]),
    );
    expect(told[1]).toBe("Ann: first words");
    expect(told.at(-2)).toMatch(/^Ann: word 39 y+$/);
    expect(told.length).toBeLessThan(12);
  });

  test("shortens words that are more than all the room, and always has something of the newest", () => {
    const huge = message("z".repeat(90_000), ann, "e1");
    const told = contents(
      numbered([opened(), huge, message("the newest", bob), step(3, "a"), ran("a", "x"), compacted(4, { summary: "s", window: 8_192 })]),
    );
    expect(told[1]?.length).toBeLessThan(4_000);
    expect(told[1]).toMatch(/^Ann: z+\n {2}\[\.\.\. \d+ characters left out \.\.\.\]\n {2}z+$/);
    expect(told[2]).toBe("Bob: the newest");
  });

  test("shortens words that no request has read yet", () => {
    const log = numbered([opened(), message("z".repeat(90_000)), compacted(2, { words: 3_000 })]);
    expect(contents(log)[1]?.length).toBeLessThan(3_100);
    expect(contents([...log, ...numbered([step(3, "a")], 4)])[1]).toBe(contents(log)[1]);
  });

  test("keeps what the repository says at the very beginning", () => {
    const log = numbered([
      opened(),
      message("go"),
      { type: "brief", about: "agents", text: "tabs" },
      step(3, "a"),
      ran("a", "x"),
      compacted(4, { summary: "s" }),
    ]);
    expect(contents(log).slice(1, 3)).toEqual(["tabs", "Ann: go"]);
  });
});

describe("the estimate", () => {
  test("follows what the endpoint counted, also after room was made", () => {
    const text = "word ".repeat(4_000);
    const log = [opened(), message(text), step(2, "a", 8_600), ran("a", "x")];
    const before = historyOf(numbered(log.slice(0, 2))).tokens().tokens;
    const after = historyOf(numbered(log)).tokens().tokens;
    expect(before).toBeLessThan(6_000);
    expect(after).toBeGreaterThan(8_600);
    const made = historyOf(numbered([...log, step(4, "b", 8_700), ran("b", "y\n".repeat(9_000)), compacted(3)])).tokens().tokens;
    expect(made).toBeGreaterThan(8_600 + 18_000 / 2.2);
  });

  test("does not believe an endpoint that counts far too little or too much", () => {
    const text = "word ".repeat(4_000);
    const plain = historyOf(numbered([opened(), message(text)])).tokens().tokens;
    for (const [told, times] of [
      [40, 0.6],
      [900_000, 2],
    ] as const) {
      const { tokens } = historyOf(numbered([opened(), message(text), step(2, "a", told)])).tokens();
      expect(tokens / plain).toBeGreaterThan(times * 0.98);
      expect(tokens / plain).toBeLessThan(times * 1.02);
    }
  });
});
