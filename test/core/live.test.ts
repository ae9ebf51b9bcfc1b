import { beforeEach, describe, expect, test } from "vitest";
import { answerEar, liveBoard, liveEar } from "../../src/core/live.ts";
import type { Clock } from "../../src/core/ports.ts";
import { redactor } from "../../src/core/redactor.ts";
import { LIMITS } from "../../src/limits.ts";
import { memoryLog } from "../../src/memory.ts";

let now: number;
let sleepers: { until: number; wake: () => void }[];
const clock: Clock = {
  now: () => now,
  sleep: (ms, signal) =>
    new Promise((wake) => {
      sleepers.push({ until: now + ms, wake });
      signal?.addEventListener("abort", () => wake(), { once: true });
    }),
};

/** Lets so much time pass, waking whoever sleeps on the way. */
async function pass(ms: number): Promise<void> {
  const until = now + ms;
  for (;;) {
    await new Promise((done) => setImmediate(done));
    const next = sleepers.filter((s) => s.until <= until).sort((a, b) => a.until - b.until)[0];
    if (!next) break;
    sleepers.splice(sleepers.indexOf(next), 1);
    now = next.until;
    next.wake();
  }
  now = until;
}

beforeEach(() => {
  now = 1_000_000;
  sleepers = [];
});

describe("what a command prints while it runs", () => {
  let told: { at: number; text: string }[];
  const ear = () => liveEar((text) => told.push({ at: now, text }), clock);
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  beforeEach(() => {
    told = [];
  });

  test("is not told when it ends soon", async () => {
    const { hear, end } = ear();
    hear("one\n");
    await pass(LIMITS.liveFrom - 1);
    end();
    hear("late\n");
    await pass(60_000);
    expect(told).toEqual([]);
  });

  test("is told with all that was printed meanwhile, and no more often than allowed", async () => {
    const { hear, end } = ear();
    const start = now;
    for (let i = 0; i < 60; i++) {
      hear(`line ${i}\n`);
      await pass(50);
    }
    end();
    await pass(60_000);
    const times = told.map(({ at }) => at - start);
    expect(times[0]).toBe(LIMITS.liveFrom);
    expect(Math.min(...times.slice(1).map((at, i) => at - (times[i] ?? 0)))).toBeGreaterThanOrEqual(LIMITS.liveTell);
    expect(times.length).toBeGreaterThanOrEqual(4);
    expect(told[0]?.text).toMatch(/^line 0\n[\s\S]*line (19|20)\n$/);
    expect(told.at(-1)?.text).toMatch(/^line 0\n[\s\S]*line (4|5)\d\n$/);
  });

  test("is told once more after a silence, and not while nothing comes", async () => {
    const { hear } = ear();
    hear("one\n");
    await pass(60_000);
    hear("two\n");
    await pass(60_000);
    expect(told.map(({ text }) => text)).toEqual(["one\n", "one\ntwo\n"]);
  });

  test("is told up to a size, in whole lines", async () => {
    const { hear } = ear();
    for (let i = 0; i < 3000; i++) hear(`線 ${i}\n`);
    await pass(1000);
    expect(bytes(told[0]?.text ?? "")).toBeLessThanOrEqual(LIMITS.liveBytes);
    expect(told[0]?.text).toMatch(/^線 \d+\n[\s\S]*線 2999\n$/);
  });

  test("is told also when its lines are longer than that size", async () => {
    const { hear } = ear();
    hear(`first\n${"漢".repeat(20_000)}\n`);
    hear(`${"é".repeat(2_000)}\nlast`);
    await pass(1000);
    expect(bytes(told[0]?.text ?? "")).toBeLessThanOrEqual(LIMITS.liveBytes);
    expect(told[0]?.text).toMatch(/é{500,} \[\.\.\. \d+ bytes of this line left out \.\.\.\]\nlast$/);
  });
});

describe("an answer while it is written", () => {
  let told: unknown[];
  const ear = () => answerEar((each) => told.push(each), clock);
  beforeEach(() => {
    told = [];
  });

  test("is told like a command, and begins anew when the model is asked again", async () => {
    const { hear, again, end } = ear();
    hear("one ");
    await pass(LIMITS.liveFrom);
    again();
    hear("two ");
    await pass(LIMITS.liveTell);
    end();
    expect(told).toEqual([{ text: "one " }, { text: "two " }]);
  });

  test("is told to wait at once, and no more once it is asked again", async () => {
    const { again, end } = ear();
    const wait = { why: "busy", at: now + 60_000 };
    again(wait);
    expect(told).toEqual([{ text: "", wait }]);
    await pass(60_000);
    again();
    await pass(LIMITS.liveFrom);
    end();
    expect(told).toEqual([{ text: "", wait }, { text: "" }]);
  });

  test("of which nothing was told is not told when it begins anew", async () => {
    const { again, end } = ear();
    again();
    await pass(60_000);
    end();
    expect(told).toEqual([]);
  });
});

describe("a gateway's memory of it", () => {
  let rung: { conversation: string; at: number }[];
  let end: AbortController;
  let log: ReturnType<typeof memoryLog>;

  function board(options: { wakePosts?: (conversation: string) => Promise<void> } = {}) {
    const queue = { wakePosts: options.wakePosts ?? (async (conversation: string) => void rung.push({ conversation, at: now })) };
    const trace = { info: () => {}, warn: () => {}, error: () => {} };
    // a1 and a2 share a budget; what begins with x is not ours.
    const budget = (conversation: string) => (conversation.startsWith("x") ? null : (conversation[0] ?? ""));
    return liveBoard({ log, queue, clock, trace, redact: redactor(["geheimes-wort"]), budget, signal: end.signal });
  }
  const live = (conversation: string, text: string, call = "call00001") => ({ conversation, call, text });

  beforeEach(() => {
    log = memoryLog(clock);
    rung = [];
    end = new AbortController();
  });

  test("has the newest, redacted, with the call that it belongs to", () => {
    const { heard, newest } = board();
    heard(live("a1", "one\n", "call00001"));
    heard(live("a1", "two geheimes-wort\n", "call00002"));
    expect(newest("a1")).toEqual({ call: "call00002", text: "two [secret]\n" });
    expect(newest("a2")).toBeNull();
  });

  test("rings at once, then every few seconds while something comes", async () => {
    const { heard } = board();
    const start = now;
    for (let i = 0; i < 20; i++) {
      heard(live("a1", `line ${i}\n`));
      await pass(500);
    }
    await pass(60_000);
    expect(rung[0]?.at).toBe(start);
    const pauses = rung.slice(1).map(({ at }, i) => at - (rung[i]?.at ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(LIMITS.liveRing);
    expect(rung.length).toBe(5);
  });

  test("rings in turns for threads that share a budget, and at once for others; another gateway shares it too", async () => {
    const [one, other] = [board(), board()];
    for (const { heard } of [one, other]) for (const name of ["a1", "a2", "b1"]) heard(live(name, "one\n"));
    await pass(100);
    expect(rung.map(({ conversation }) => conversation).sort()).toEqual(["a1", "b1"]);
    await pass(60_000);
    const ofA = rung.filter(({ conversation }) => conversation.startsWith("a")).map(({ at }) => at);
    expect(rung.map(({ conversation }) => conversation)).toContain("a2");
    expect(Math.min(...ofA.slice(1).map((at, i) => at - (ofA[i] ?? 0)))).toBeGreaterThanOrEqual(LIMITS.liveRing);
  });

  test("is bounded, and forgets the oldest and what is old", () => {
    const { heard, newest } = board();
    for (let i = 0; i <= LIMITS.liveThreads; i++) heard(live(`a${i}`, "x\n"));
    expect(newest("a0")).toBeNull();
    expect(newest("a1")).not.toBeNull();
    now += LIMITS.commandTimeMax + 1;
    expect(newest("a1")).toBeNull();
  });

  test("keeps and rings for nothing that another platform's gateway posts", async () => {
    const { heard, newest } = board();
    heard(live("x1", "one\n"));
    await pass(60_000);
    expect({ kept: newest("x1"), rung }).toEqual({ kept: null, rung: [] });
  });

  test("rings again with the next lines when it could not", async () => {
    let tries = 0;
    const { heard } = board({
      wakePosts: async () => {
        tries += 1;
        throw new Error("away");
      },
    });
    heard(live("a1", "one\n"));
    await pass(10_000);
    heard(live("a1", "two\n"));
    await pass(10_000);
    expect(tries).toBe(2);
  });

  test("ends with the gateway", async () => {
    const { heard } = board();
    heard(live("a1", "one\n"));
    heard(live("a2", "one\n"));
    await pass(0);
    end.abort();
    heard(live("a3", "one\n"));
    await pass(60_000);
    expect(rung.map(({ conversation }) => conversation)).toEqual(["a1"]);
  });
});
