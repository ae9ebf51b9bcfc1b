import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Queue, Wake } from "../../src/core/ports.ts";
import { memoryQueue } from "../../src/memory-queue.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { type TestRedis, keptTrace, startRedis, until } from "../support/redis.ts";

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server.stop();
});

const QUEUES: [name: string, open: () => Queue][] = [
  ["memory", () => memoryQueue()],
  ["redis", () => bullQueue({ url: server.url, trace: keptTrace(), lockMs: 2000, stalledMs: 500 })],
];

/** Handlers that run until they are let go. */
function gate() {
  const running: { wake: Wake; end: () => void }[] = [];
  const handler = (wake: Wake) => new Promise<void>((resolve) => void running.push({ wake, end: resolve }));
  return { running, handler };
}

let names = 0;
const newThread = () => `slack:T1:C1:1699000001.${String(++names).padStart(6, "0")}`;
const newWorkspace = () => `site-${++names}`;

describe.each(QUEUES)("the queue in %s", (_name, open) => {
  const opened: Queue[] = [];
  function newQueue(): Queue {
    const queue = open();
    opened.push(queue);
    return queue;
  }
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((queue) => queue.close()));
  });

  it("hands a wake to the one who serves its workspace", async () => {
    const queue = newQueue();
    const [mine, other] = [newWorkspace(), newWorkspace()];
    const seen: Wake[] = [];
    await queue.serve([mine], async (wake) => void seen.push(wake));
    await queue.serve([other], async () => expect.unreachable());
    const conversation = newThread();
    await queue.wake(conversation, mine);
    await until("it was seen", () => seen.length === 1);
    expect(seen[0]).toMatchObject({ conversation, lock: { key: expect.any(String), token: expect.any(String) } });
    expect(seen[0]?.signal.aborted).toBe(false);
  });

  it("keeps a wake until somebody serves, and rings once for many", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const [first, second] = [newThread(), newThread()];
    for (let i = 0; i < 5; i++) await queue.wake(first, workspace);
    const seen: string[] = [];
    await queue.serve([workspace], async (wake) => void seen.push(wake.conversation));
    await queue.wake(second, workspace);
    await until("both were seen", () => seen.includes(second));
    expect(seen).toEqual([first, second]);
  });

  it("rings once more after a run for the wakes that came during it", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const conversation = newThread();
    const { running, handler } = gate();
    await queue.serve([workspace], handler);
    await queue.wake(conversation, workspace);
    await until("the first run", () => running.length === 1);
    for (let i = 0; i < 5; i++) await queue.wake(conversation, workspace);
    await sleep(50);
    expect(running).toHaveLength(1);
    running[0]?.end();
    await until("the second run", () => running.length === 2);
    running[1]?.end();
    await queue.wake(newThread(), workspace);
    await until("the third run", () => running.length === 3);
    expect(running[2]?.wake.conversation).not.toBe(conversation);
    running[2]?.end();
  });

  it("runs different conversations at once and the same one never twice", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const threads = Array.from({ length: 5 }, newThread);
    const { running, handler } = gate();
    await queue.serve([workspace], handler);
    for (const thread of [...threads, ...threads]) await queue.wake(thread, workspace);
    await until("all run", () => running.length === 5);
    expect(new Set(running.map(({ wake }) => wake.conversation))).toEqual(new Set(threads));
    for (const { end } of running.splice(0)) end();
    await until("all run again", () => running.length === 5);
    for (const { end } of running) end();
  });

  it("serves several workspaces with one call", async () => {
    const queue = newQueue();
    const workspaces = [newWorkspace(), newWorkspace()];
    const seen: string[] = [];
    await queue.serve(workspaces, async (wake) => void seen.push(wake.conversation));
    const threads = workspaces.map(() => newThread());
    for (const [i, workspace] of workspaces.entries()) await queue.wake(threads[i] as string, workspace);
    await until("both were seen", () => seen.length === 2);
    expect(new Set(seen)).toEqual(new Set(threads));
  });

  it("rings again for a handler that threw", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const tokens: string[] = [];
    await queue.serve([workspace], async ({ lock }) => {
      tokens.push(lock.token);
      if (tokens.length < 3) throw new Error("not yet");
    });
    await queue.wake(newThread(), workspace);
    await until("the third try", () => tokens.length === 3);
  });

  it("keeps posts apart from wakes", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const conversation = newThread();
    const [wakes, posts]: [string[], string[]] = [[], []];
    await queue.serve([workspace], async (wake) => void wakes.push(wake.conversation));
    await queue.servePosts(async (wake) => void posts.push(wake.conversation));
    await queue.wakePosts(conversation);
    await until("the post was seen", () => posts.includes(conversation));
    expect(wakes).toEqual([]);
  });

  it("close aborts the running handlers and waits for them", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    let [started, ended] = [false, false];
    await queue.serve([workspace], async ({ signal }) => {
      started = true;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      await sleep(100);
      ended = true;
    });
    await queue.wake(newThread(), workspace);
    await until("it runs", () => started);
    await queue.close();
    expect(ended).toBe(true);
  });

  it("close with a grace tells the running handlers at once that we leave, and lets them end", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const told: [leaving: boolean, aborted: boolean][] = [];
    let started = false;
    await queue.serve([workspace], async ({ signal, leaving }) => {
      started = true;
      await new Promise<void>((resolve) => leaving?.addEventListener("abort", () => resolve()));
      await sleep(200);
      told.push([leaving?.aborted === true, signal.aborted]);
    });
    await queue.wake(newThread(), workspace);
    await until("it runs", () => started);
    await queue.close(20_000);
    expect(told).toEqual([[true, false]]);
  });

  it("close aborts what has not ended within the grace, and begins nothing meanwhile", async () => {
    const queue = newQueue();
    const workspace = newWorkspace();
    const { running, handler } = gate();
    await queue.serve([workspace], async (wake) => {
      wake.signal.addEventListener("abort", () => running[0]?.end());
      await handler(wake);
    });
    await queue.wake(newThread(), workspace);
    await until("it runs", () => running.length === 1);
    const closing = queue.close(500);
    await until("it is told", () => running[0]?.wake.leaving?.aborted === true);
    expect(running[0]?.wake.signal.aborted).toBe(false);
    await queue.wake(newThread(), workspace);
    await closing;
    expect([running.length, running[0]?.wake.signal.aborted]).toEqual([1, true]);
  });

  it("close without anything to close is fine, twice too", async () => {
    const queue = newQueue();
    await queue.close();
    await queue.close();
  });
});
