import { type Job, WaitingError } from "bullmq";
import { messageOf } from "../core/errors.ts";
import type { Trace, Wake } from "../core/ports.ts";
import { KEYS } from "./keys.ts";

/** What a job carries: never content. */
export interface Ring {
  conversation: string;
}

export interface Rings {
  /** BullMQ's processor. */
  process(job: Job<Ring>, token?: string): Promise<void>;
  /** Aborts the running handlers, waits for them and sends their jobs back. */
  end(): Promise<void>;
}

/** Runs the handler for each job under a lock that it renews itself. */
export function answerRings(queue: string, lockMs: number, handler: (wake: Wake) => Promise<void>, trace: Trace): Rings {
  const running = new Map<AbortController, Promise<void>>();
  let ending = false;

  async function answer(job: Job<Ring>, token: string, controller: AbortController): Promise<void> {
    const { conversation } = job.data;
    const lock = { key: KEYS.lock(queue, job.id as string), token };
    const release = keepLock(job, token, lockMs, () => {
      trace.warn("lock-lost", { conversation });
      controller.abort(new Error("the lock on this conversation was lost"));
    });
    try {
      await handler({ conversation, lock, signal: controller.signal });
    } finally {
      release();
    }
  }

  return {
    async process(job, token = "") {
      const controller = new AbortController();
      if (!ending) {
        const run = answer(job, token, controller);
        running.set(controller, run);
        try {
          await run;
        } catch (thrown) {
          // One that was told to end may fail on its way out; it is rung again either way.
          if (!ending) throw thrown instanceof Error ? thrown : new Error(messageOf(thrown));
        } finally {
          running.delete(controller);
        }
      }
      if (!ending) return;
      // Whatever it could still do, it was told to stop: another worker looks again, at once.
      await job.moveToWait(token);
      throw new WaitingError();
    },
    async end() {
      ending = true;
      for (const controller of running.keys()) controller.abort(new Error("this process ends"));
      await Promise.allSettled(running.values());
    },
  };
}

/**
 * Renews the lock of one run until the returned function is called. `lost` is called once when somebody else has
 * it, or when it has run out because Redis did not answer for so long.
 */
function keepLock(job: Job<Ring>, token: string, lockMs: number, lost: () => void): () => void {
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
    const kept = await job.extendLock(token, lockMs).catch(() => undefined);
    busy = false;
    if (over || kept === undefined) return;
    if (kept === 0) return end();
    clearTimeout(expiry);
    expiry = setTimeout(end, Math.max(0, sent + lockMs - performance.now()));
  }
  return release;
}
