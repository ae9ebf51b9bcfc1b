import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry, NewEntry } from "../../src/core/entry.ts";
import { History } from "../../src/core/history.ts";
import { makeRoom, SUMMARY } from "../../src/core/room.ts";
import { share } from "../../src/core/items.ts";
import { ann, message, numbered, opened } from "../support/random-log.ts";

/** About as much as goes with every request of the product. */
const SYSTEM = "You are a hand. ".repeat(300);

interface Work {
  words: string;
  outputs: string[];
}

function logOf(work: Work[]): Entry[] {
  const news: NewEntry[] = [opened()];
  for (const [n, { words, outputs }] of work.entries()) {
    if (words) news.push(message(words, ann, `e${n}`));
    const calls = outputs.map((_, at) => ({ id: `c${n}x${at}`, name: "bash", args: { command: "make" }, raw: "" }));
    const usage = { prompt: null, completion: null, cached: null };
    news.push({ type: "model", read: news.length, text: "", calls, finish: "calls", usage, model: "m", ms: 1, tries: 1 });
    for (const [at, text] of outputs.entries()) {
      news.push({
        type: "run-ended",
        call: `c${n}x${at}`,
        how: "exited",
        exit: 0,
        output: { text, bytes: text.length, omitted: 0 },
        ms: 1,
      });
    }
  }
  return numbered(news);
}

function historyOf(log: Entry[]): History {
  const history = new History(SYSTEM, (text) => text);
  history.add(log);
  return history;
}

/** The entries that a worker would put down, and the history with them. */
function roomIn(log: Entry[], window: number, overflowed = false): { news: NewEntry<"compacted">[]; after: History } {
  const plan = makeRoom(historyOf(log), window, overflowed);
  if (plan === null) return { news: [], after: historyOf(log) };
  const summary = "s".repeat(share(SUMMARY, plan.marks.window) * 3);
  const made: NewEntry<"compacted">[] =
    plan.summarise === null ? [] : [{ type: "compacted", upto: plan.summarise, outputs: 0, summary, ...plan.marks }];
  const news = [...made, ...plan.squeezes];
  return { news, after: historyOf([...log, ...numbered(news, log.length + 1)]) };
}

const lines = (bytes: number): string => "a line of output\n".repeat(Math.ceil(bytes / 17));
const steps = (count: number, bytes: number): Work[] =>
  Array.from({ length: count }, (_, n) => ({ words: n === 0 ? "go" : "", outputs: [lines(bytes)] }));

const anyWork = fc.array(
  fc.record({
    words: fc.oneof(
      { weight: 4, arbitrary: fc.constant("") },
      { weight: 2, arbitrary: fc.constant("and now?") },
      fc.nat(60_000).map((n) => "w".repeat(n + 1)),
    ),
    outputs: fc.array(fc.oneof(fc.nat(300), fc.nat(8_000), fc.nat(32_000)).map(lines), { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 16, size: "max" },
);
const anyWindow = fc.constantFrom(4_096, 8_192, 16_384, 32_768, 131_072, 1_000_000);

describe("making room", () => {
  test("is not thought of below seven tenths of the window", () => {
    expect(roomIn(logOf(steps(4, 8_000)), 32_768).news).toEqual([]);
  });

  test("begins with taking out old outputs, and asks for no summary while that is enough", () => {
    const { news, after } = roomIn(logOf(steps(6, 9_000)), 32_768);
    expect(news).toHaveLength(1);
    expect(news[0]).toMatchObject({ outputs: 0, window: 32_768 });
    expect(news[0]?.summary).toBeUndefined();
    expect(after.tokens().tokens).toBeLessThan(32_768 / 2);
  });

  test("asks for a summary when there are no outputs to take out", () => {
    const work = Array.from({ length: 300 }, (_, n): Work => ({ words: n === 0 ? "go" : "", outputs: ["out ".repeat(60)] }));
    const { news, after } = roomIn(logOf(work), 32_768);
    expect(news[0]?.summary).toBeDefined();
    expect(after.tokens().tokens).toBeLessThan(32_768 / 2);
    expect(after.messages()[1]?.content).toBe("Ann: go");
  });

  test("leaves little enough, in windows of every size, whatever there was", () => {
    fc.assert(
      fc.property(anyWork, anyWindow, (work, window) => {
        const log = logOf(work);
        const { news, after } = roomIn(log, window);
        if (historyOf(log).tokens().tokens >= window * 0.8) expect(after.tokens().tokens).toBeLessThan(window * 0.95);
        // Once for one crossing: nothing is left to be done right after it.
        if (news.length > 0) expect(after.tokens().tokens).toBeLessThan(historyOf(log).tokens().tokens);
      }),
      { numRuns: 50 },
    );
  });

  test("leaves much less than what an endpoint refused, whatever window it claims to have", () => {
    fc.assert(
      fc.property(anyWork, anyWindow, (work, window) => {
        const log = logOf(work);
        const refused = historyOf(log).tokens();
        // With a window of which the prompt alone takes most there is nothing to win.
        fc.pre(refused.tokens > 3 * refused.fixed);
        const { news, after } = roomIn(log, window, true);
        expect(news.every(({ overflow }) => overflow)).toBe(true);
        expect(after.tokens().tokens).toBeLessThan(Math.min(window, refused.tokens) * 0.9);
      }),
      { numRuns: 50 },
    );
  });

  test("keeps the newest step whole when there is room for it", () => {
    const log = logOf([...steps(20, 2_000), { words: "", outputs: [lines(6_000)] }]);
    const { after } = roomIn(log, 16_384);
    expect(after.messages().at(-1)?.content).toBe(lines(6_000).trimEnd());
  });

  test("leaves a beginning and an end of an output that is larger than the window", () => {
    const { news, after } = roomIn(logOf(steps(1, 32_000)), 8_192);
    expect(news).toHaveLength(1);
    expect(after.messages().at(-1)?.content).toMatch(/^a line of output\n[\s\S]*a line of output\n\[Most of the output/);
    expect(after.tokens().tokens).toBeLessThan(8_192 * 0.8);
  });

  test("shortens the words of people that are larger than the window", () => {
    const log = numbered([opened(), message("w".repeat(100_000))]);
    const { news, after } = roomIn(log, 8_192);
    expect(news).toMatchObject([{ words: expect.any(Number) as number }]);
    expect(after.messages()[1]?.content).toMatch(/^Ann: w+\n {2}\[\.\.\. \d+ characters left out \.\.\.\]\n {2}w+$/);
    expect(after.tokens().tokens).toBeLessThan(8_192 * 0.8);
  });

  test("has nothing to offer when the prompt alone is too long", () => {
    expect(roomIn(numbered([opened(), message("hi")]), 1_024, true).news).toEqual([]);
  });
});
