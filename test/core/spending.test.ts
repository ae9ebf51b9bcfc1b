import { describe, expect, test } from "vitest";
import { fold } from "../../src/core/conversation.ts";
import { isEntry } from "../../src/core/entry.ts";
import type { Model } from "../../src/core/ports.ts";
import { costOf, dayOf, limitsLine, NOTHING, plus, priceLine, priceOf, SHIPPED } from "../../src/core/spending.ts";
import { traceLines, traceTree } from "../../src/core/trace.ts";
import { type Guarded, type GuardedOptions, openGuarded } from "../support/guarded.ts";
import { message, numbered, opened as opening } from "../support/random-log.ts";

const PRICES = { "gpt-5": { input: 2, cached: 0.5, output: 10 } };
const usage = (prompt: number | null, completion: number | null, cached: number | null = null) => ({ prompt, completion, cached });

type Answers = NonNullable<GuardedOptions["answers"]>;

/** A model that runs one command after the other; each request takes 1,000 tokens and 10. */
const working: Answers = (n) => ({
  calls: [{ name: "bash", args: { command: `echo ${n}` }, raw: "" }],
  finish: "calls",
  usage: usage(1_000, 10),
});

async function opened(options: GuardedOptions): Promise<Guarded> {
  const deck = openGuarded({ answers: working, ...options });
  await deck.say("go");
  await deck.work();
  return deck;
}

async function spent(deck: Guarded) {
  return fold(await deck.entries()).spent;
}

describe("what a request costs", () => {
  test("is reckoned in millionths of a dollar, what was kept for less", () => {
    expect(costOf(usage(1_000, 100), PRICES["gpt-5"])).toBe(3_000);
    expect(costOf(usage(1_000, 100, 800), PRICES["gpt-5"])).toBe(1_800);
    expect(costOf(usage(1_000, 100, 800), { input: 2, output: 10 })).toBe(3_000);
  });

  test("is unknown, not nothing, without a price or without figures", () => {
    expect(costOf(usage(1_000, 100), undefined)).toBeNull();
    expect(costOf(usage(null, 100), PRICES["gpt-5"])).toBeNull();
    expect(costOf(usage(1_000, null), PRICES["gpt-5"])).toBeNull();
    expect(plus(NOTHING, { tokens: 1, cost: null }).cost).toBeNull();
  });

  test("has the price of the configuration, or a built-in one at the model's own vendor alone", () => {
    expect(priceOf("gpt-5 at anywhere.example", PRICES)).toBe(PRICES["gpt-5"]);
    expect(priceOf("gpt-5 at api.openai.com", {})).toMatchObject({ input: 1.25 });
    expect(priceOf("gpt-5 at 127.0.0.1:8080", {})).toBeUndefined();
    expect(priceOf("constructor at api.openai.com", {})).toBeUndefined();
    expect(priceOf(undefined, PRICES)).toBeUndefined();
    expect(priceLine("gpt-5 at api.openai.com", {})).toMatch(/^\$1\.25 in.*\(built in, as of \d{4}-\d\d\)$/);
  });
});

describe("a limit in tokens", () => {
  test("of a turn is never passed: the request that would is not made, and Continue gives as much again", async () => {
    const deck = await opened({ limits: { turn: { tokens: 5_000 } } });
    expect(await deck.last()).toMatchObject({
      text: expect.stringMatching(/^I have paused: this turn would take more than 5,000 tokens \([34],\d{3} so far\)\. Shall I go on\?$/),
    });
    const first = deck.requests.length;
    expect(first * 1_010).toBeLessThanOrEqual(5_000);
    await deck.choose("continue");
    await deck.work();
    expect(deck.requests.length).toBeGreaterThan(first);
    expect((await spent(deck)).tokens).toBeLessThanOrEqual(10_000);
  });

  test("of a thread holds over its turns, and Continue gives the thread as much again", async () => {
    const deck = await opened({ answers: () => ({ text: "ok", usage: usage(1_000, 10) }), limits: { thread: { tokens: 4_000 } } });
    for (let n = 0; n < 6; n += 1) {
      await deck.say(`more ${n}`);
      await deck.work();
    }
    expect(await deck.last()).toMatchObject({ type: "message" });
    const paused = (await deck.entries()).filter((entry) => isEntry(entry, "paused"));
    expect(paused).toMatchObject([{ limit: "thread", text: expect.stringContaining("this thread would take more than 4,000 tokens") }]);
    const before = (await spent(deck)).tokens;
    expect(before).toBeLessThanOrEqual(4_000);
    await deck.choose("continue");
    for (let n = 0; n < 6; n += 1) {
      await deck.work();
      await deck.say(`again ${n}`);
    }
    const after = (await spent(deck)).tokens;
    expect(after).toBeGreaterThan(before);
    expect(after).toBeLessThanOrEqual(before + 4_000);
  });

  test("that is smaller than one request asks at once, and lets one through each time", async () => {
    const deck = await opened({ limits: { turn: { tokens: 10 } } });
    for (const requests of [0, 1, 2]) {
      expect(deck.requests).toHaveLength(requests);
      expect((await deck.last())?.type).toBe("paused");
      await deck.choose("continue");
      await deck.work();
    }
  });

  test("holds where the endpoint counts nothing: what was sent is estimated", async () => {
    const counting = await opened({
      answers: (n) => ({ ...(working(n, { messages: [], tools: [] }) as object), usage: usage(null, null) }),
      limits: { turn: { tokens: 5_000 } },
    });
    expect(await counting.last()).toMatchObject({ type: "paused", text: expect.stringContaining("5,000 tokens") });
    const [step] = (await counting.entries()).filter((entry) => isEntry(entry, "model"));
    expect(step?.estimated).toBeGreaterThan(50);
    expect(traceLines(traceTree(await counting.entries()))[0]).toMatch(/ · tokens unknown in, unknown out · cost unknown$/);
  });
});

describe("a limit of a day", () => {
  const limits = { day: { tokens: 5_000 } };

  test("counts all conversations; in each it is asked by itself, and each day begins anew", async () => {
    const one = await opened({ limits });
    const other = openGuarded({ answers: working, limits, log: one.log, thread: "2.2" });
    await other.say("go");
    await other.work();
    for (const deck of [one, other]) {
      expect(await deck.last()).toMatchObject({ type: "paused", limit: { day: "2026-11-30" } });
    }
    expect(other.requests.length).toBeLessThanOrEqual(1);
    expect(await other.last()).toMatchObject({
      text: expect.stringContaining("all threads together, today (UTC), would take more than 5,000 tokens"),
    });
    await other.choose("continue");
    await other.work();
    expect(other.requests.length).toBeGreaterThanOrEqual(2);
    // What is booked before a first request is less than what it takes here.
    expect((await spent(other)).tokens).toBeLessThanOrEqual(1_010 + 5_000);
    await one.work();
    expect((await one.last())?.type).toBe("paused");

    const third = openGuarded({ answers: working, limits, log: one.log, thread: "3.3" });
    third.now += 13 * 3_600_000;
    await third.say("go");
    await third.work();
    expect(third.requests.length).toBeGreaterThanOrEqual(2);
  });

  test("is booked with what a request really took, and with nothing for one that failed", async () => {
    const deck = await opened({
      limits: { day: { tokens: 1_000_000 } },
      answers: (n) => {
        if (n === 1) throw new Error("no answer");
        return { text: "ok", usage: usage(1_000, 10) };
      },
    });
    const total = () => deck.log.spend(dayOf(deck.now), "look", NOTHING);
    expect(await total()).toEqual({ tokens: 1_010, cost: null });
    await deck.say("again");
    await deck.work();
    expect((await deck.last())?.type).toBe("failed");
    expect(await total()).toEqual({ tokens: 1_010, cost: null });
  });

  test("is booked before the request: a worker that dies meanwhile has counted too much, not too little", async () => {
    const { log, now } = openGuarded({ answers: working });
    const total = async (): Promise<number> => (await log.spend(dayOf(now), "look", NOTHING)).tokens;
    let meanwhile: Promise<number> | undefined;
    const answers: Answers = () => {
      meanwhile = total();
      return { text: "ok", usage: usage(1, 1) };
    };
    await opened({ limits: { day: { tokens: 1_000_000 } }, answers, log, thread: "4.4" });
    expect(await meanwhile).toBeGreaterThan(50);
    expect(await total()).toBe(2);
  });

  test("keeps what was booked for a request that is stopped in the middle: nobody knows what it took", async () => {
    const model: Model = {
      window: async () => null,
      ask: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
          void deck.say("stop");
        }),
    };
    const deck = openGuarded({ limits: { day: { tokens: 1_000_000 } }, model });
    await deck.say("go");
    await deck.work();
    expect(await deck.last()).toMatchObject({ type: "final", reason: "stopped" });
    expect((await deck.log.spend(dayOf(deck.now), "look", NOTHING)).tokens).toBeGreaterThan(50);
  });
});

describe("a limit in money", () => {
  test("holds when the price is known", async () => {
    const deck = await opened({ name: "gpt-5 at x.example", prices: PRICES, limits: { turn: { usd: 0.01 } } });
    const paused = await deck.last();
    expect(paused).toMatchObject({ text: expect.stringMatching(/this turn would cost more than \$0\.01 \(\$0\.00\d+ so far\)/) });
    const { cost } = await spent(deck);
    expect(cost).toBe(deck.requests.length * 2_100);
    expect(cost).toBeLessThan(10_000);
  });

  test("says nothing of $0 when nothing has been spent yet", async () => {
    const deck = await opened({
      name: "gpt-5 at x.example",
      prices: { "gpt-5": { input: 500, output: 500 } },
      limits: { turn: { usd: 0.01 } },
    });
    expect(deck.requests).toEqual([]);
    expect(await deck.last()).toMatchObject({ text: "I have paused: this turn would cost more than $0.01. Shall I go on?" });
  });

  test("holds nothing back while the price is unknown; the one in tokens does, and no cost is told", async () => {
    const deck = await opened({ name: "house-model at x.example", prices: PRICES, limits: { turn: { usd: 0.01, tokens: 20_000 } } });
    const paused = await deck.last();
    expect(paused).toMatchObject({ text: expect.stringContaining("this turn would take more than 20,000 tokens") });
    expect(JSON.stringify(paused)).not.toContain("$");
    expect(deck.requests.length).toBeGreaterThan(10);
    expect((await deck.entries()).some((entry) => isEntry(entry, "model") && "cost" in entry)).toBe(false);
    const lines = traceLines(traceTree(await deck.entries())).join("\n");
    expect(lines).toContain(" · cost unknown");
    expect(lines).not.toContain("$0");
  });
});

test("what was known of a turn's cost is told as the least that it was", async () => {
  const deck = await opened({
    ...{ name: "gpt-5 at x.example", prices: PRICES },
    answers: (n) =>
      n === 0
        ? { ...(working(0, { messages: [], tools: [] }) as object), usage: usage(null, null) }
        : { text: "ok", usage: usage(100_000, 10_000) },
  });
  const lines = traceLines(traceTree(await deck.entries()));
  expect(lines[0]).toMatch(/ · cost at least \$0\.30$/);
  expect(lines.filter((line) => line.includes("step ")).map((line) => line.split(" · cost ")[1])).toEqual(["unknown", "$0.30"]);
});

test("a summary counts for its turn and its thread, and what people have run once more does not", () => {
  const answer = { text: "", calls: [], finish: "stop" as const, model: "m", ms: 1, tries: 1 };
  const room = { type: "compacted" as const, upto: 2, outputs: 0, window: 100 };
  const { spent: all, turn } = fold(
    numbered([
      opening(),
      message("go"),
      { type: "model", read: 2, ...answer, usage: usage(100, 10), cost: 7 },
      { ...room, tokens: 50 },
      { ...room, tokens: 80, summary: "so far", cost: 2 },
      { type: "model", read: 5, again: 2, ...answer, usage: usage(1, 1) },
    ]),
  );
  expect(all).toEqual({ tokens: 190, cost: 9 });
  expect(turn?.spent).toEqual(all);
});

test("the limits are told in one line", () => {
  expect(limitsLine(SHIPPED)).toBe("a turn 50 steps, 30 min, 2,000,000 tokens; a thread 10,000,000 tokens; a day as much as it takes");
});
