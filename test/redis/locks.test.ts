import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Queue, Wake } from "../../src/core/ports.ts";
import { redisLog } from "../../src/redis/log.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { arrival, newThread, note } from "../contracts/log-doors.ts";
import { type TestRedis, keptTrace, startRedis, until } from "../support/redis.ts";

const LOCK_MS = 1500;

describe("the lock of a wake", () => {
  let server: TestRedis;
  let client: Redis;
  const opened: Queue[] = [];
  let workspaces = 0;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((queue) => queue.close()));
  });
  afterAll(async () => {
    await client.quit();
    await server.stop();
  });

  function newQueue(trace = keptTrace()): Queue {
    const queue = bullQueue({ url: server.url, trace, lockMs: LOCK_MS, stalledMs: 200 });
    opened.push(queue);
    return queue;
  }
  const newWorkspace = () => `lock-${++workspaces}`;
  /** Jobs of the workspace that run, wait or are kept. */
  async function jobs(workspace: string): Promise<number> {
    const lists = await Promise.all(["active", "wait", "paused"].map((list) => client.llen(`{dh}:wake-${workspace}:${list}`)));
    const sets = await Promise.all(["delayed", "failed", "completed"].map((set) => client.zcard(`{dh}:wake-${workspace}:${set}`)));
    return [...lists, ...sets].reduce((a, b) => a + b, 0);
  }

  it("is held as long as the handler runs, and leaves nothing behind", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const runs: Wake[] = [];
    const end = Promise.withResolvers<void>();
    await queue.serve([workspace], async (wake) => {
      runs.push(wake);
      await end.promise;
    });
    await queue.wake(newThread(), workspace);
    await until("it runs", () => runs.length === 1);
    const { lock, signal } = runs[0] as Wake;
    const since = performance.now();
    await until("two locks' time has passed", async () => {
      expect(await client.get(lock.key)).toBe(lock.token);
      return performance.now() - since > 2 * LOCK_MS;
    });
    expect([runs.length, signal.aborted]).toEqual([1, false]);
    end.resolve();
    await until("nothing is left", async () => (await jobs(workspace)) === 0 && (await client.get(lock.key)) === null);
  });

  it("lost to somebody else aborts the run within a beat", async () => {
    const trace = keptTrace();
    const queue = newQueue(trace);
    const workspace = newWorkspace();
    const runs: Wake[] = [];
    await queue.serve([workspace], async (wake) => {
      runs.push(wake);
      if (runs.length === 1) await new Promise<void>((resolve) => wake.signal.addEventListener("abort", () => resolve()));
    });
    await queue.wake(newThread(), workspace);
    await until("it runs", () => runs.length === 1);
    await client.set((runs[0] as Wake).lock.key, "another worker", "PX", LOCK_MS);
    await until("it is aborted", () => runs[0]?.signal.aborted === true);
    expect(trace.events.map(({ event }) => event)).toContain("lock-lost");
    await until("it runs again and completes", async () => runs.length >= 2 && (await jobs(workspace)) === 0);
  });

  it("a run that lost its lock and lingers does not take it from the run that the same process began after it", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const runs: Wake[] = [];
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await queue.serve([workspace], async (wake) => {
      runs.push(wake);
      await ends[runs.length - 1]?.promise;
    });
    await queue.wake(newThread(), workspace);
    await until("it runs", () => runs.length === 1);
    await client.del((runs[0] as Wake).lock.key);
    await until("the same process runs it again", () => runs.length === 2);
    ends[0]?.resolve();
    const { lock, signal } = runs[1] as Wake;
    const since = performance.now();
    await until("two locks' time has passed", async () => {
      expect(await client.get(lock.key)).toBe(lock.token);
      return performance.now() - since > 2 * LOCK_MS;
    });
    expect([runs.length, signal.aborted]).toEqual([2, false]);
    ends[1]?.resolve();
    await until("the job completes", async () => (await jobs(workspace)) === 0);
    expect(runs).toHaveLength(2);
  });

  it("an event loop that is blocked for longer than the lock loses it, and is told so", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const runs: Wake[] = [];
    await queue.serve([workspace], async (wake) => {
      runs.push(wake);
      if (runs.length > 1) return;
      const blockedUntil = performance.now() + 2 * LOCK_MS;
      while (performance.now() < blockedUntil); // as a bad regular expression would
      await new Promise<void>((resolve) => wake.signal.addEventListener("abort", () => resolve()));
    });
    await queue.wake(newThread(), workspace);
    await until("it runs again", () => runs.length === 2);
    await until("the job completes", async () => (await jobs(workspace)) === 0);
  });

  it("is the one that a takeover checks: a worker that lost it cannot depose the next", async () => {
    const log = redisLog({ url: server.url, trace: keptTrace() });
    const queue = newQueue();
    const workspace = newWorkspace();
    const conversation = newThread();
    await log.ingest(arrival(conversation, "do it"));
    const runs: Wake[] = [];
    const late = Promise.withResolvers<void>();
    await queue.serve([workspace], async (wake) => {
      runs.push(wake);
      if (runs.length === 1) await late.promise;
      else await new Promise<void>((resolve) => wake.signal.addEventListener("abort", () => resolve()));
    });
    await queue.wake(conversation, workspace);
    await until("it runs", () => runs.length === 1);
    await client.del((runs[0] as Wake).lock.key);
    await until("it runs again", () => runs.length === 2);
    const taken = await log.takeover(conversation, (runs[1] as Wake).lock);
    expect(taken).toMatchObject({ kind: "taken", epoch: 1 });
    expect(await log.takeover(conversation, (runs[0] as Wake).lock)).toEqual({ kind: "lost" });
    expect(await log.append(conversation, 1, "op", 2000, [note("mine")])).toMatchObject({ kind: "appended" });
    late.resolve();
    await log.close();
  });

  it("is kept while a handler has a grace to end in; the other wakes of its workspace go to another process at once", async () => {
    const [first, second] = [newQueue(), newQueue()];
    const workspace = newWorkspace();
    const conversation = newThread();
    const [mine, theirs]: [Wake[], string[]] = [[], []];
    const end = Promise.withResolvers<void>();
    await first.serve([workspace], async (wake) => {
      mine.push(wake);
      await end.promise;
    });
    await first.wake(conversation, workspace);
    await until("it runs", () => mine.length === 1);
    const closing = first.close(20_000);
    await second.serve([workspace], async (wake) => void theirs.push(wake.conversation));
    const others = [newThread(), newThread(), newThread()];
    for (const each of [...others, conversation]) await second.wake(each, workspace);
    await until("the others ran", () => theirs.length === 3);
    const { lock, signal } = mine[0] as Wake;
    const since = performance.now();
    await until("two locks' time has passed", async () => {
      expect(await client.get(lock.key)).toBe(lock.token);
      return performance.now() - since > 2 * LOCK_MS;
    });
    expect([signal.aborted, theirs.sort()]).toEqual([false, others.sort()]);
    end.resolve();
    await closing;
    await until("the other process looks again", () => theirs.includes(conversation));
    await until("nothing is left", async () => (await jobs(workspace)) === 0);
    expect(mine).toHaveLength(1);
  });

  it("of a handler that does not end when it is told to is not waited for; it runs out", async () => {
    const [first, second] = [newQueue(), newQueue()];
    const workspace = newWorkspace();
    const conversation = newThread();
    let started = false;
    await first.serve([workspace], async () => {
      started = true;
      await new Promise(() => undefined);
    });
    await first.wake(conversation, workspace);
    await until("it runs", () => started);
    await first.close(100);
    const seen: string[] = [];
    await second.serve([workspace], async (wake) => void seen.push(wake.conversation));
    await until("the other takes it", () => seen.length === 1);
  }, 60_000);

  it("is given back at close, and another process takes the wake up at once", async () => {
    const [first, second] = [newQueue(), newQueue()];
    const workspace = newWorkspace();
    const conversation = newThread();
    let started = false;
    await first.serve([workspace], async ({ signal }) => {
      started = true;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      throw new Error("told to end in the middle");
    });
    await first.wake(conversation, workspace);
    await until("it runs", () => started);
    await first.close();
    expect(await client.llen(`{dh}:wake-${workspace}:wait`)).toBe(1);
    const seen: string[] = [];
    await second.serve([workspace], async (wake) => void seen.push(wake.conversation));
    await until("the other takes it", () => seen.length === 1);
    await until("the job completes", async () => (await jobs(workspace)) === 0);
    expect(seen).toEqual([conversation]);
  });
});
