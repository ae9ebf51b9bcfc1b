import { setTimeout as sleep } from "node:timers/promises";
import { Queue as Bell, type JobsOptions, Worker } from "bullmq";
import { DeckhandError } from "../core/errors.ts";
import type { Queue, Trace, Wake } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { type Connection, connect, quietly, script } from "./connect.ts";
import { KEYS, PREFIX } from "./keys.ts";
import { type Renew, type Ring, type Rings, answerRings, within } from "./rings.ts";

interface Options {
  url: string;
  trace: Trace;
  /** How long a worker that died keeps its conversations, in milliseconds. */
  lockMs?: number;
  stalledMs?: number;
  /** The log's: a ring goes behind what it rings for, in one packet. Its own when left out; who gives one closes it. */
  producer?: Connection;
}

export interface WorkerQueue extends Queue {
  /** Takes no more wakes of this workspace, aborts the running handlers and gives their wakes back for others. */
  leave(workspace: string): Promise<void>;
  /** `meanwhile` is begun when the wakes have ended, told when the posts' queue is quiet, and waited for before the bells go; must not reject. */
  close(graceMs?: number, meanwhile?: (quiet: Promise<unknown>) => Promise<void>): Promise<void>;
}

/** How long BullMQ is waited for after the last handler, when Redis goes away meanwhile. */
const CLOSE_MS = 3000;

interface Served {
  name: string;
  worker: Worker;
  rings: Rings;
}

/**
 * BullMQ as a doorbell: a job is a conversation's id, one queue a workspace and one for posts. Nothing may rely
 * on it delivering once. Holds a connection for what it serves and one more for each queue of it, and its own to ring with when it is given none.
 */
export function bullQueue(options: Options): WorkerQueue {
  const { url, trace, lockMs = LIMITS.lock, stalledMs = LIMITS.stalledCheck } = options;
  const producer = options.producer ?? connect(url, trace, "queue");
  const bells = bellRopes(producer, trace);
  let consumer: Connection | undefined;
  let closing: Promise<void> | undefined;
  const served: Served[] = [];

  async function serveQueue(name: string, concurrency: number, handler: (wake: Wake) => Promise<void>): Promise<void> {
    consumer ??= connect(url, trace, "worker", "patient");
    const renewal = script(consumer, "renew.lua");
    const renew: Renew = (job, token) => renewal([KEYS.lock(name, job), KEYS.stalled(name)], [token, lockMs, job]);
    const rings = answerRings(name, lockMs, renew, handler, trace);
    const worker = new Worker<Ring>(name, rings.process, {
      ...WORKER,
      connection: consumer.client,
      concurrency,
      lockDuration: lockMs,
      stalledInterval: stalledMs,
    });
    worker.on("error", quietly(trace, name).tell);
    worker.on("failed", (job, error) => {
      trace.warn("wake-failed", { conversation: job?.data.conversation, tries: job?.attemptsMade, error: error.message });
    });
    served.push({ name, worker, rings });
  }

  async function leave(workspace: string): Promise<void> {
    for (const one of served.filter(({ name }) => name === wakeQueue(workspace))) await one.worker.close(!(await end(one, 0)));
  }

  async function close(graceMs: number, meanwhile?: (quiet: Promise<unknown>) => Promise<void>): Promise<void> {
    const [posts, wakes] = [served.filter(({ name }) => name === POSTS), served.filter(({ name }) => name !== POSTS)];
    const given = await Promise.all(wakes.map((one) => end(one, graceMs)));
    // People still read how the commands have ended. Then a post under way needs no grace: it is finished in any case.
    const quiet = wakes.length > 0 && posts.length > 0 ? within(LIMITS.lastPosts, bells.quiet(POSTS)) : Promise.resolve();
    const besides = meanwhile?.(quiet);
    await quiet;
    given.push(...(await Promise.all(posts.map((one) => end(one, 0)))));
    // Without Redis there is nobody to give the jobs back to: their locks run out.
    const away = consumer?.client.status !== "ready";
    if (away) consumer?.client.disconnect();
    const closed = Promise.all([...wakes, ...posts].map(({ worker }, at) => worker.close(away || !given[at])));
    if (!(await within(CLOSE_MS, closed))) consumer?.client.disconnect();
    await Promise.all([besides, within(CLOSE_MS, closed)]);
    await Promise.all([bells.close(), consumer?.close()]);
    if (!options.producer) await producer.close();
  }

  return {
    wake: async (conversation, workspace) => await bells.pull(wakeQueue(workspace), conversation),
    wakePosts: async (conversation) => await bells.pull(POSTS, conversation),
    async serve(workspaces, handler) {
      for (const workspace of workspaces) await serveQueue(wakeQueue(workspace), LIMITS.wakesAtOnce, handler);
    },
    servePosts: async (handler) => await serveQueue(POSTS, LIMITS.postsAtOnce, handler),
    leave,
    close: (graceMs = 0, meanwhile) => (closing ??= close(graceMs, meanwhile)),
  };
}

const POSTS = "post";

function wakeQueue(workspace: string): string {
  if (!/^[a-z0-9-]+$/.test(workspace)) throw new DeckhandError("BAD_INPUT", `${workspace} is not the name of a workspace`);
  return `wake-${workspace}`;
}

const WORKER = {
  prefix: PREFIX,
  // Our own count of takeovers without progress finds the conversation that kills its workers.
  maxStalledCount: 1_000_000,
  // Its renewal is by job, not by run: the end of a run that lost its lock would stop that of the next. See rings.ts.
  skipLockRenewal: true,
  runRetryDelay: 1000,
  settings: {
    /** From one second, doubling, by half at random so that many do not come back at once; Redis itself may be asked more often. */
    backoffStrategy: (attempt: number, _type?: string, error?: Error) => {
      const isAway = error instanceof DeckhandError && error.code === "REDIS_DOWN";
      return Math.min(1000 * 2 ** (attempt - 1), isAway ? LIMITS.wakeRetryRedis : LIMITS.wakeRetryMax) * (0.5 + Math.random() / 2);
    },
  },
} as const;

const JOB: JobsOptions = {
  attempts: LIMITS.wakeTries,
  backoff: { type: "custom" },
  removeOnComplete: true,
  removeOnFail: { count: 1000, age: 7 * 24 * 60 * 60 },
};

/** It takes no more jobs; false when a handler has not ended in time. */
async function end({ worker, rings }: Served, graceMs: number): Promise<boolean> {
  // First: what it has just fetched is given back, and would be fetched again at once.
  await worker.pause(true);
  return await rings.end(graceMs);
}

interface BellRopes {
  pull(name: string, conversation: string): Promise<void>;
  /** Resolves when nothing waits or runs there, or when that cannot be known. */
  quiet(name: string): Promise<void>;
  close(): Promise<void>;
}

/** The producers' side, made as it is needed. */
function bellRopes(producer: Connection, trace: Trace): BellRopes {
  const unstick = script(producer, "unstick.lua");
  const bells = new Map<string, Bell<Ring>>();
  function bellOf(name: string): Bell<Ring> {
    const made = bells.get(name);
    if (made) return made;
    const bell = new Bell<Ring>(name, {
      connection: producer.client,
      prefix: PREFIX,
      streams: { events: { maxLen: 1000 } },
      // Asked once; the answer lost to a blip would break this bell for ever.
      skipVersionCheck: true,
    });
    bell.on("error", quietly(trace, name).tell);
    bells.set(name, bell);
    return bell;
  }
  return {
    async pull(name, conversation) {
      const deduplication = { id: conversation, keepLastIfActive: true };
      const keys = [`${PREFIX}:${name}:de:${conversation}`, `${PREFIX}:${name}:delayed`];
      // One after the other on the same connection: nobody waits for two answers.
      const freed = unstick(keys, [`${PREFIX}:${name}:`, Date.now() + LIMITS.clockAhead]);
      await Promise.all([freed, producer.ask(() => bellOf(name).add("wake", { conversation }, { ...JOB, deduplication }))]);
    },
    async quiet(name) {
      const busy = (): Promise<number> => producer.ask(() => bellOf(name).getJobCountByTypes("wait", "active"));
      for (const until = performance.now() + LIMITS.lastPosts; performance.now() < until; await sleep(20)) {
        if ((await busy().catch(() => 0)) === 0) return;
      }
    },
    async close() {
      await Promise.all([...bells.values()].map((bell) => bell.close()));
    },
  };
}
