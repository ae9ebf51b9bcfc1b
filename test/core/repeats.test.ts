import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Entry, isEntry } from "../../src/core/entry.ts";
import { remembering, sameInARow, takingTurns } from "../../src/core/repeats.ts";
import { callOf, type GuardedOptions, openGuarded } from "../support/guarded.ts";

/** The model asks for this for ever; what the thread then reads, and the notes that each result carries. */
async function goneRound(answers: NonNullable<GuardedOptions["answers"]>, prints?: (command: string, n: number) => string) {
  const deck = openGuarded({ answers, ...(prints ? { prints } : {}) });
  await deck.say("go");
  await deck.work();
  const entries = await deck.entries();
  const ended = entries.filter((entry) => isEntry(entry, "run-ended"));
  return { deck, last: entries.at(-1) as Entry, notes: ended.map((entry) => entry.notes ?? []), requests: deck.requests };
}

const TOLD = /^Note from Deckhand: this is the 3rd time in a row .* the same came of it\. Do something else/;

describe("the same call with the same outcome", () => {
  test("is told to the model the third time, in the log, and asked about the fifth time", async () => {
    const { last, notes, requests } = await goneRound(() => "make");
    expect(notes.map((each) => each.length)).toEqual([0, 0, 1, 1, 1]);
    expect(notes[2]?.[0]).toMatch(TOLD);
    expect(last).toMatchObject({
      type: "paused",
      text: "I have paused: it did the same 5 times in a row, and the same came of it. Shall I go on?",
    });
    // Each later request says it once more, in the same words.
    const results = requests.map(({ messages }) => messages.filter(({ role }) => role === "tool").map(({ content }) => content));
    expect(results[3]?.[2]).toMatch(/this is the 3rd time/);
    expect(results[4]?.slice(0, 3)).toEqual(results[3]);
  });

  test("counts as the same whatever the order of its arguments", async () => {
    const orders = [
      { command: "make", timeout_seconds: 5 },
      { timeout_seconds: 5, command: "make" },
    ];
    const { last } = await goneRound((n) => ({ calls: [{ name: "bash", args: orders[n % 2] ?? null, raw: "" }], finish: "calls" }));
    expect(last).toMatchObject({ type: "paused", text: expect.stringContaining("the same 5 times") });
  });

  test("is counted too when it is never allowed", async () => {
    const { last, notes } = await goneRound(() => "sudo reboot");
    expect(notes[2]?.[0]).toMatch(TOLD);
    expect(last).toMatchObject({ type: "paused", text: expect.stringContaining("the same 5 times") });
  });

  test("is counted too when there is no such tool, where nothing else comes first", async () => {
    const { last, notes } = await goneRound((n) => ({ calls: [callOf("x", "search"), callOf(`echo ${n}`)], finish: "calls" }));
    // Another call stands between any two of them: that is no circle. The steps end it.
    expect(notes.flat()).toEqual([]);
    expect(last).toMatchObject({ type: "paused", text: expect.stringContaining("50 steps") });
    const alone = await goneRound(() => ({ calls: [callOf("x", "search")], finish: "calls" }));
    expect(alone.notes[2]?.[0]).toMatch(TOLD);
    expect(alone.last).toMatchObject({ type: "paused", text: expect.stringContaining("could not be understood three times") });
  });

  test("with another outcome each time is waiting for something: nobody is asked before the limit of steps", async () => {
    const { last, notes } = await goneRound(
      () => "cat progress",
      (_, n) => `${n} %`,
    );
    expect(notes.flat()).toEqual([]);
    expect(last).toMatchObject({ type: "paused", text: expect.stringContaining("50 steps") });
  });

  test("begins to count anew when something else was done in between", async () => {
    const { last, notes } = await goneRound((n) => (n === 8 ? "say done" : n % 3 === 2 ? `echo ${n}` : "make"));
    expect(notes.flat()).toEqual([]);
    expect(last).toMatchObject({ type: "final", text: "done" });
  });
});

test("going to and fro between two calls four times is asked about", async () => {
  const { last, requests } = await goneRound((n) => (n % 2 ? "git stash pop" : "git stash"));
  expect(last).toMatchObject({
    type: "paused",
    text: "I have paused: it went to and fro between the same two calls 4 times. Shall I go on?",
  });
  expect(requests).toHaveLength(8);
});

test("what was let go on is asked about again only after as many more", async () => {
  const { deck } = await goneRound(() => "make");
  await deck.choose("continue");
  await deck.work();
  expect(deck.requests).toHaveLength(10);
  expect((await deck.last())?.type).toBe("paused");
});

test("whatever came before, a run of equal calls is counted, and so is a to and fro; one is never the other", () => {
  const calls = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 14 });
  fc.assert(
    fc.property(calls, fc.integer({ min: 1, max: 5 }), (before, times) => {
      const told = (after: string[]): string[] => [...before, "-", ...after].reduce<string[]>(remembering, []);
      const same = told(Array.from({ length: times }, () => "a"));
      expect(sameInARow(same)).toBe(times);
      if (times > 1) expect(takingTurns(same)).toBe(0);
      const turns = told(Array.from({ length: times }, () => ["a", "b"]).flat());
      expect([takingTurns(turns), sameInARow(turns)]).toEqual([times, 1]);
    }),
  );
});
