import { Queue as Bell, type JobsOptions, Worker } from "bullmq";
import { DeckhandError } from "../core/errors.ts";
import type { Queue, Trace, Wake } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { type Connection, connect, quietly } from "./connect.ts";
import { PREFIX } from "./keys.ts";
import { type Ring, type Rings, answerRings } from "./rings.ts";

interface Options {
  url: string;
  trace: Trace;
  /** How long a worker that died keeps its conversations, in milliseconds. */
  lockMs?: number;
  stalledMs?: number;
}

export interface WorkerQueue extends Queue {
  /** Takes no more wakes of this workspace, aborts the running handlers and gives their wakes back for others. */
  leave(workspace: string): Promise<void>;
}

/** How long `close` waits for BullMQ after the last handler, when Redis goes away meanwhile. */
const CLOSE_MS = 3000;

/**
 * BullMQ as a doorbell: a job is a conversation's id, one queue a workspace and one for posts. Nothing may rely
 * on it delivering once. Holds two connections, and one more for each queue that is served.
 */
export function bullQueue(options: Options): WorkerQueue {
  const { url, trace, lockMs = LIMITS.lock, stalledMs = LIMITS.stalledCheck } = options;
  const bells = bellRopes(url, trace);
  let consumer: Connection | undefined;
  let closing: Promise<void> | undefined;
  const served: { name: string; worker: Worker; rings: Rings }[] = [];

  async function serveQueue(name: string, concurrency: number, handler: (wake: Wake) => Promise<void>): Promise<void> {
    consumer ??= connect(url, trace, "worker", "patient");
    const rings = answerRings(name, lockMs, handler, trace);
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
    for (const { worker, rings } of served.filter(({ name }) => name === wakeQueue(workspace))) {
      await worker.pause(true);
      await rings.end();
      await worker.close();
    }
  }

  async function close(): Promise<void> {
    await Promise.all(served.map(({ worker }) => worker.pause(true)));
    await Promise.all(served.map(({ rings }) => rings.end()));
    // Without Redis there is nobody to give the jobs back to: their locks run out.
    const away = consumer?.client.status !== "ready";
    if (away) consumer?.client.disconnect();
    const closed = Promise.all(served.map(({ worker }) => worker.close(away)));
    if (!(await within(CLOSE_MS, closed))) consumer?.client.disconnect();
    await within(CLOSE_MS, closed);
    await Promise.all([bells.close(), consumer?.close()]);
  }

  return {
    wake: async (conversation, workspace) => await bells.pull(wakeQueue(workspace), conversation),
    wakePosts: async (conversation) => await bells.pull(POSTS, conversation),
    async serve(workspaces, handler) {
      for (const workspace of workspaces) await serveQueue(wakeQueue(workspace), LIMITS.wakesAtOnce, handler);
    },
    servePosts: async (handler) => await serveQueue(POSTS, LIMITS.postsAtOnce, handler),
    leave,
    close: () => (closing ??= close()),
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
    /** From one second, doubling, by half at random so that many do not come back at once. */
    backoffStrategy: (attempt: number) => Math.min(1000 * 2 ** (attempt - 1), LIMITS.wakeRetryMax) * (0.5 + Math.random() / 2),
  },
} as const;

const JOB: JobsOptions = {
  attempts: LIMITS.wakeTries,
  backoff: { type: "custom" },
  removeOnComplete: true,
  removeOnFail: { count: 1000, age: 7 * 24 * 60 * 60 },
};

/** The producers' side, made as it is needed. */
function bellRopes(url: string, trace: Trace): { pull(name: string, conversation: string): Promise<void>; close(): Promise<void> } {
  const producer = connect(url, trace, "queue");
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
      await producer.ask(() => bellOf(name).add("wake", { conversation }, { ...JOB, deduplication }));
    },
    async close() {
      await Promise.all([...bells.values()].map((bell) => bell.close()));
      await producer.close();
    },
  };
}

/** Waits for it, but not longer; false when it was not done by then. */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(late.resolve, ms, false);
  const done = await Promise.race([work.then(() => true), late.promise]);
  clearTimeout(timer);
  return done;
}
