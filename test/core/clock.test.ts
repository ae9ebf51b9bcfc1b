import { beforeEach, describe, expect, it } from "vitest";
import type { Log } from "../../src/core/log.ts";
import { type SweepDeps, sweep, sweepPosts } from "../../src/core/sweep.ts";
import { LIMITS } from "../../src/limits.ts";
import { memoryLog } from "../../src/memory.ts";
import { openPosting } from "../support/posting.ts";
import { PaperChat } from "../support/paper-chat.ts";
import { ANNA, arrival, asked, newThread } from "../contracts/log-doors.ts";

const HOUR = 3_600_000;

it("a thread whose budget is empty for hours is looked at meanwhile: nothing waits so long that a clock could hide it", async () => {
  const posting = openPosting(() => new PaperChat());
  const { key, drain } = await posting.thread("slack:T1:C1:1.1");
  posting.deps.limiter.take = async () => ({ waitMs: 2 * HOUR });
  await drain();
  posting.pass(LIMITS.clockAhead - 1);
  expect(await posting.log.takeDuePosts(posting.now())).toEqual([key]);
});

/** The clock of a machine jumps by an hour: nothing is left lying, and nobody is rung for again and again. */
describe("a sweeper whose clock jumps", () => {
  let now: number;
  let log: Log;
  let deps: SweepDeps;
  let rung: string[];
  let posted: string[];
  beforeEach(() => {
    now = 1_700_000_000_000;
    const clock = { now: () => now, sleep: async () => {} };
    log = memoryLog(clock);
    [rung, posted] = [[], []];
    const queue = { wake: async (each: string) => void rung.push(each), wakePosts: async (each: string) => void posted.push(each) };
    deps = { log, queue, clock, trace: { info: () => {}, warn: () => {}, error: () => {} } };
  });

  /** What a minute of sweeps does. */
  async function aMinute(): Promise<void> {
    for (let second = 0; second < 60; second++) {
      await sweep(deps);
      await sweepPosts(deps);
      now += LIMITS.sweepEvery;
    }
  }

  it.each([
    ["back", -HOUR],
    ["ahead", HOUR],
  ])("an hour %s rings for what was marked before, within seconds and not more often than usual", async (_which, jump) => {
    const conversation = newThread();
    await log.ingest(arrival(conversation, "do it", { at: now }));
    now += jump;
    await aMinute();
    expect(rung.length).toBeGreaterThanOrEqual(4);
    expect(rung.length).toBeLessThanOrEqual(60_000 / LIMITS.sweepAge + 1);
    expect(new Set(posted)).toEqual(new Set([conversation]));
    expect(posted.length).toBeLessThanOrEqual((2 * 60_000) / LIMITS.sweepAge + 2);
  });

  it("an hour back looks at a thread that waits for its budget", async () => {
    const conversation = newThread();
    await log.ingest(arrival(conversation, "do it", { at: now }));
    await log.postAt(conversation, now + 30_000);
    now -= HOUR;
    await sweep(deps);
    await sweepPosts(deps);
    expect(posted).toContain(conversation);
  });

  it("an hour ahead lets a request expire that has less time left, once, and no other; an hour back keeps both open", async () => {
    const conversation = newThread();
    await log.ingest(arrival(conversation, "do it", { at: now }));
    const taken = await log.takeover(conversation, { key: "", token: "" });
    const epoch = taken.kind === "taken" ? taken.epoch : 0;
    await log.append(conversation, epoch, "a", now, [asked("soon", { deadline: now + HOUR / 2 })]);
    await log.append(conversation, epoch, "b", now, [asked("later", { deadline: now + 24 * HOUR })]);
    now -= HOUR;
    await aMinute();
    const decided = async () => (await log.read(conversation, 0)).filter(({ type }) => type === "approval-decided");
    expect(await decided()).toEqual([]);
    now += 2 * HOUR;
    await aMinute();
    expect(await decided()).toMatchObject([{ approval: "soon", decision: "expired" }]);
    expect(await log.decide("later", now, { decision: "approved", by: ANNA })).toMatchObject({ kind: "won" });
  });
});
