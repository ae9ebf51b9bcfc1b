import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Decided, Log } from "../../src/core/log.ts";
import type { Queue, Wake } from "../../src/core/ports.ts";
import { patiently } from "../../src/core/session.ts";
import { claimWorkspaces } from "../../src/redis/claim.ts";
import { redisLog } from "../../src/redis/log.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { systemClock } from "../../src/system.ts";
import { ANNA, arrival, asked, newThread, note } from "../contracts/log-doors.ts";
import { type TestRedis, fillMemory, keptTrace, startRedis, until } from "../support/redis.ts";

let server: TestRedis;
let admin: Redis;
let log: Log;
let queue: Queue;
beforeEach(async () => {
  server = await startRedis({ args: ["--appendfsync", "everysec"] });
  admin = new Redis(server.url);
  log = redisLog({ url: server.url, trace: keptTrace() });
  queue = bullQueue({ url: server.url, trace: keptTrace(), lockMs: 1000, stalledMs: 300 });
});
afterEach(async () => {
  await Promise.all([log.close(), queue.close()]);
  admin.disconnect();
  await server.stop();
});

/** A run that holds its conversation, up to the given moment. */
async function running(end: Promise<unknown>): Promise<{ wake: Wake; conversation: string; runs: () => number }> {
  const conversation = newThread();
  await log.ingest(arrival(conversation, "do it"));
  const wakes: Wake[] = [];
  await queue.serve(["w"], async (wake) => {
    wakes.push(wake);
    if (wakes.length === 1) await end;
  });
  await queue.wake(conversation, "w");
  await until("it runs", () => wakes.length > 0);
  return { wake: wakes[0] as Wake, conversation, runs: () => wakes.length };
}

describe("a full Redis", () => {
  it("takes nothing from a run that goes on: its lock stays, and its end is appended once there is room", async () => {
    const over = Promise.withResolvers<void>();
    const { wake, conversation } = await running(over.promise);
    const taken = await log.takeover(conversation, wake.lock);
    const epoch = taken.kind === "taken" ? taken.epoch : 0;
    await fillMemory(admin, 1.5);
    await expect(log.append(conversation, epoch, "op", 2000, [note("end")])).rejects.toMatchObject({
      code: "REDIS_DOWN",
      what: expect.stringContaining("OOM"),
    });
    const appended = patiently(() => log.append(conversation, epoch, "op", 2000, [note("end")]), systemClock, wake.signal);
    await sleep(3500); // three times as long as its lock
    expect(wake.signal.aborted).toBe(false);
    await fillMemory(admin, 0);
    expect(await appended).toMatchObject({ kind: "appended", entries: [{ seq: 3 }] });
    expect(await log.read(conversation, 2)).toHaveLength(1);
    over.resolve();
  });

  it("lets leases and claims be kept by those who have them", async () => {
    const trace = keptTrace();
    expect(await log.lease("l", "me", 800)).toBe(true);
    const claims = await claimWorkspaces({ url: server.url, trace, host: "h", workspaces: ["w"], lost: () => {}, ttlMs: 900 });
    await fillMemory(admin, 1.5);
    for (let i = 0; i < 8; i++) {
      await sleep(200);
      expect(await log.lease("l", "me", 800)).toBe(true);
    }
    expect(trace.events.map(({ event }) => event)).not.toContain("workspace-unsure");
    await claims.during("w", new AbortController().signal, async (signal) => expect(signal.aborted).toBe(false));
    await claims.close();
  });
});

describe("a ring", () => {
  it.each([
    ["nothing", async () => {}],
    ["a job that is no more", async (key: string) => void (await admin.set(key, "4711"))],
  ])("comes, although what keeps rings apart is left over from %s", async (_what, plant) => {
    const conversation = newThread();
    await plant(`{dh}:wake-w:de:${conversation}`);
    const seen: string[] = [];
    await queue.serve(["w"], async (wake) => void seen.push(wake.conversation));
    await queue.wake(conversation, "w");
    await until("it rings", () => seen.includes(conversation));
    await queue.wake(conversation, "w");
    await until("it rings again", () => seen.length === 2);
  });

  it("comes, although its job waits for a time that lies an hour ahead since the clock was set back", async () => {
    const conversation = newThread();
    let fails = true;
    const seen: string[] = [];
    await queue.serve(["w"], async (wake) => {
      seen.push(wake.conversation);
      if (fails) throw new Error("not yet");
    });
    await queue.wake(conversation, "w");
    await until("it failed and waits", async () => (await admin.zcard("{dh}:wake-w:delayed")) === 1);
    const [job = ""] = await admin.zrange("{dh}:wake-w:delayed", "0", "0");
    await admin.zincrby("{dh}:wake-w:delayed", String(3_600_000 * 4096), job);
    fails = false;
    const before = seen.length;
    await sleep(1500);
    expect(seen).toHaveLength(before);
    await queue.wake(conversation, "w");
    await until("it rings", () => seen.length > before);
  });
});

it("a decision and the deadline in the same moment: one of them stands, and both hear which", async () => {
  const other = redisLog({ url: server.url, trace: keptTrace() });
  const conversation = newThread();
  await log.ingest(arrival(conversation, "do it"));
  await admin.set("{dh}:mark:lock", "t");
  const taken = await log.takeover(conversation, { key: "{dh}:mark:lock", token: "t" });
  const names = Array.from({ length: 200 }, (_, i) => `a${i}`);
  for (const name of names) await log.append(conversation, taken.kind === "taken" ? taken.epoch : 0, name, 1, [asked(name)]);
  for (const [i, name] of names.entries()) {
    const press = (): Promise<Decided> => log.decide(name, 3000, { decision: "approved", by: ANNA });
    const expire = (): Promise<Decided> => other.decide(name, 3000, { decision: "expired" });
    const [first, second] = await Promise.all(i % 2 === 0 ? [press(), expire()] : [expire(), press()]);
    expect([first.kind, second.kind].sort()).toEqual(["already", "won"]);
    const [stands, again] = [first, second].map((each) => (each.kind === "unknown" ? null : each.entry));
    expect(again).toEqual(stands);
    expect(stands?.decision).toBe((first.kind === "won") === (i % 2 === 0) ? "approved" : "expired");
  }
  expect(await log.approvalsDue(1e15)).toEqual([]);
  await other.close();
});
