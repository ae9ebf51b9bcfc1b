import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WakeLock } from "../../src/core/log.ts";
import type { Queue } from "../../src/core/ports.ts";
import { redisLog } from "../../src/redis/log.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { ANNA, arrival, asked, newThread, note } from "../contracts/log-doors.ts";
import { type TestRedis, freePort, keptTrace, startRedis, until } from "../support/redis.ts";

describe("Redis that goes away", () => {
  let server: TestRedis;
  let log: ReturnType<typeof redisLog>;
  let queue: Queue;
  let trace: ReturnType<typeof keptTrace>;
  beforeEach(async () => {
    server = await startRedis();
    trace = keptTrace();
    log = redisLog({ url: server.url, trace });
    queue = bullQueue({ url: server.url, trace, lockMs: 2000, stalledMs: 500 });
  });
  afterEach(async () => {
    await Promise.all([log.close(), queue.close()]);
    await server.stop();
  });

  it("killed with SIGKILL and started again, it has kept every act that was answered", async () => {
    const conversation = newThread();
    await log.ingest(arrival(conversation, "do it"));
    const lock = { key: "{dh}:mark:lock", token: "token" };
    await log.mark("lock", lock.token);
    const taken = await log.takeover(conversation, lock);
    const epoch = taken.kind === "taken" ? taken.epoch : 0;
    await log.append(conversation, epoch, "op", 2000, [note("kept"), asked("kept-approval")]);
    const claim = await log.takePosts(conversation, lock);
    await log.savePosts(conversation, claim?.epoch ?? 0, { cursor: 3, sent: { k: { refs: ["1"], shows: ["d"] } } });
    await queue.wake(conversation, "w");
    const before = await log.read(conversation, 0);
    await server.kill();
    await server.restart();
    await until(
      "it is back",
      works(() => log.marked("lock")),
    );
    expect(await log.read(conversation, 0)).toEqual(before);
    expect(await log.head(conversation)).toMatchObject({ seq: 4, approval: "kept-approval" });
    expect(await log.append(conversation, epoch, "op", 2000, [note("again")])).toEqual({ kind: "appended", entries: before.slice(2) });
    expect(await log.dirtySince(9999)).toEqual([{ conversation, workspace: "w" }]);
    expect(await log.ingest({ ...arrival(conversation, ""), event: eventOf(before[1]) })).toEqual({ kind: "duplicate" });
    expect(await log.decide("kept-approval", 3000, { decision: "approved", by: ANNA })).toMatchObject({ kind: "won" });
    expect((await log.takePosts(conversation, lock))?.state.cursor).toBe(3);
    const seen: string[] = [];
    await queue.serve(["w"], async (wake) => void seen.push(wake.conversation));
    await until("the wake rings", () => seen.length === 1);
    expect(seen).toEqual([conversation]);
  });

  it("refuses with REDIS_DOWN what was asked meanwhile, and works again when it is back", async () => {
    await log.marked("x");
    await server.kill();
    const conversation = newThread();
    const refused = { code: "REDIS_DOWN" };
    await Promise.all([
      expect(log.ingest(arrival(conversation, "meanwhile"))).rejects.toMatchObject(refused),
      expect(queue.wake(conversation, "w")).rejects.toMatchObject(refused),
      expect(log.limiter.take([{ name: "b", burst: 1, perSecond: 1 }], 0)).rejects.toMatchObject(refused),
      expect(log.onHint(() => {})).rejects.toMatchObject(refused),
    ]);
    await server.restart();
    await until(
      "it is back",
      works(() => queue.wake(conversation, "w")),
    );
    await until(
      "the log too",
      works(() => log.ingest(arrival(conversation, "now"))),
    );
    expect(await log.read(conversation, 1)).toMatchObject([{ text: "now" }]);
  });

  it("is noticed in the trace, without flooding it", async () => {
    await queue.serve(["w"], async () => {});
    await log.marked("x");
    await server.kill();
    await expect(log.marked("x")).rejects.toMatchObject({ code: "REDIS_DOWN" });
    const told = trace.events.filter(({ event }) => event === "redis-trouble");
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThan(10);
    expect(told[0]?.fields["error"]).toMatch(/ECONN|EPIPE|closed/);
  });

  it("still hints and rings after it came back", async () => {
    const hinted: string[] = [];
    const rung: string[] = [];
    await log.onHint((conversation) => hinted.push(conversation));
    await queue.serve(["w"], async (wake) => void rung.push(wake.conversation));
    await server.kill();
    await server.restart();
    await until("a hint comes", async () => {
      await log.ingest(arrival(newThread(), "hello")).catch(() => {});
      return hinted.length > 0;
    });
    const conversation = newThread();
    await until(
      "it takes wakes",
      works(() => queue.wake(conversation, "w")),
    );
    await until("it rings", () => rung.includes(conversation));
  });

  it("a run that goes on while it is away is told that its lock is lost, and is rung again", async () => {
    const locks: WakeLock[] = [];
    let aborted = false;
    await queue.serve(["w"], async ({ lock, signal }) => {
      locks.push(lock);
      if (locks.length > 1) return;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      aborted = true;
    });
    await queue.wake(newThread(), "w");
    await until("it runs", () => locks.length === 1);
    await server.kill();
    await until("it is told", () => aborted);
    await server.restart();
    await until("it runs again", () => locks.length === 2);
    expect(locks[1]?.token).not.toBe(locks[0]?.token);
  });

  it("a queue can be closed while it is away, and its run is aborted", async () => {
    let aborted = false;
    let started = false;
    await queue.serve(["w"], async ({ signal }) => {
      started = true;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      aborted = true;
    });
    await queue.wake(newThread(), "w");
    await until("it runs", () => started);
    await server.kill();
    await queue.close();
    expect(aborted).toBe(true);
  });

  it("connections that are killed come back unnoticed", async () => {
    const conversation = newThread();
    await log.ingest(arrival(conversation, "one"));
    await queue.wake(conversation, "w");
    const admin = new Redis(server.url);
    await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await log.ingest(arrival(conversation, "two"));
    await queue.wake(newThread(), "w");
    expect(await log.read(conversation, 2)).toHaveLength(1);
    await admin.quit();
  });
});

describe("Redis that was never there", () => {
  it("is REDIS_DOWN with the reason, and everything can be closed", async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    const log = redisLog({ url, trace: keptTrace() });
    const queue = bullQueue({ url, trace: keptTrace() });
    await queue.serve(["w"], async () => {});
    await Promise.all([
      expect(log.head("c")).rejects.toMatchObject({ code: "REDIS_DOWN", what: expect.stringContaining("ECONNREFUSED") }),
      expect(queue.wake("c", "w")).rejects.toMatchObject({ code: "REDIS_DOWN" }),
    ]);
    await Promise.all([log.close(), queue.close()]);
  });
});

/** A condition for `until`: it is done without an error. */
function works(act: () => Promise<unknown>): () => Promise<boolean> {
  return () =>
    act().then(
      () => true,
      () => false,
    );
}

function eventOf(entry: unknown): string {
  return (entry as { event: string }).event;
}
