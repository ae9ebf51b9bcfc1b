import { type Job, WaitingError } from "bullmq";
import { messageOf } from "../core/errors.ts";
import type { Trace, Wake } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { KEYS } from "./keys.ts";

/** What a job carries: never content. */
export interface Ring {
  conversation: string;
}

export interface Rings {
  /** BullMQ's processor. */
  process(job: Job<Ring>, token?: string): Promise<void>;
  /**
   * Tells the running handlers that we leave, aborts them after `graceMs`, waits for them and sends their jobs back. False
   * when some have not ended in time: their locks run out.
   */
  end(graceMs: number): Promise<boolean>;
}

/** Extends the lock of a job; 0 when somebody else has it. */
export type Renew = (job: string, token: string) => Promise<unknown>;

/** Runs the handler for each job under a lock that it renews itself. */
export function answerRings(queue: string, lockMs: number, renew: Renew, handler: (wake: Wake) => Promise<void>, trace: Trace): Rings {
  const running = new Map<Running, Promise<void>>();
  let ending = false;

  async function answer(job: Job<Ring>, token: string, { letGo, leave }: Running): Promise<void> {
    const { conversation } = job.data;
    const lock = { key: KEYS.lock(queue, job.id as string), token };
    const release = keepLock(
      () => renew(job.id as string, token),
      lockMs,
      () => {
        trace.warn("lock-lost", { conversation });
        letGo.abort(new Error("the lock on this conversation was lost"));
      },
    );
    try {
      await handler({ conversation, lock, signal: letGo.signal, leaving: leave.signal });
    } finally {
      release();
    }
  }

  return {
    async process(job, token = "") {
      if (!ending) {
        const each: Running = { letGo: new AbortController(), leave: new AbortController() };
        const run = answer(job, token, each);
        running.set(each, run);
        try {
          await run;
        } catch (thrown) {
          // One that was told to end may fail on its way out; it is rung again either way.
          if (!ending) throw thrown instanceof Error ? thrown : new Error(messageOf(thrown));
        } finally {
          running.delete(each);
        }
      }
      if (!ending) return;
      // Whatever it could still do, it was told to stop: another worker looks again, at once.
      await job.moveToWait(token);
      throw new WaitingError();
    },
    async end(graceMs) {
      ending = true;
      const why = new Error("this process ends");
      for (const { leave } of running.keys()) leave.abort(why);
      const ended = Promise.allSettled(running.values());
      if (graceMs > 0 && (await within(graceMs, ended))) return true;
      for (const { letGo } of running.keys()) letGo.abort(why);
      return await within(LIMITS.handlerEnd, ended);
    },
  };
}

/** What one handler is told with. */
interface Running {
  letGo: AbortController;
  leave: AbortController;
}

/** Waits for it, but not longer; false when it was not done by then. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(late.resolve, ms, false);
  const done = await Promise.race([work.then(() => true), late.promise]);
  clearTimeout(timer);
  return done;
}

/**
 * Renews the lock of one run until the returned function is called. `lost` is called once when somebody else has
 * it, or when it has run out because Redis did not answer for so long.
 */
export function keepLock(extend: () => Promise<unknown>, lockMs: number, lost: () => void): () => void {
  let over = false;
  let busy = false;
  let expiry = setTimeout(end, lockMs);
  const beat = setInterval(() => void renew(), lockMs / 3);

  function release(): void {
    over = true;
    clearInterval(beat);
    clearTimeout(expiry);
  }
  function end(): void {
    release();
    lost();
  }
  async function renew(): Promise<void> {
    if (busy) return;
    busy = true;
    const sent = performance.now();
    // A beat that fails is one that did not come: the expiry decides.
    const kept = await extend().catch(() => undefined);
    busy = false;
    if (over || kept === undefined) return;
    if (kept === 0) return end();
    clearTimeout(expiry);
    expiry = setTimeout(end, Math.max(0, sent + lockMs - performance.now()));
  }
  return release;
}
