import { randomUUID } from "node:crypto";
import type { Entry } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Queue, Trace, Wake } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { type Connection, type Script, script } from "./connect.ts";
import { KEYS } from "./keys.ts";
import { keepLock, within } from "./rings.ts";

export interface NearBell {
  /** Rings. A thread that is being looked at is looked at once more after that. `coming`: see `Wake`. */
  ring(conversation: string, coming?: Entry[]): void;
  /** The same; resolves when it has been looked at, and rejects with what the handler threw, or with why it was cut short. */
  answer(conversation: string, coming?: Entry[]): Promise<void>;
  /** From now on rings are answered. */
  serve(handler: (wake: Wake) => Promise<void>): void;
  /**
   * Finishes what is due, for LIMITS.lastPosts at most and no shorter than `quiet` takes; then nothing more is begun, and `far`
   * hears of what is left. Never rejects.
   */
  close(quiet?: Promise<unknown>): Promise<void>;
}

export interface NearParts {
  log: Pick<Log, "lease"> & { connection: Connection };
  trace: Trace;
  /** Hears what could not be done here, and tries it again. */
  far: Pick<Queue, "wakePosts">;
  lockMs: number;
}

/**
 * The doorbell in a gateway for its own threads: what it hears or keeps itself it also posts, at once, without a way round
 * through Redis. Its wakes hold a lock that no other gateway's do; who finds it taken leaves the thread to its holder,
 * which looks whether there is more before it gives the lock back; it is due again when that lock has run out. A lost ring is
 * healed by the sweeper.
 */
export function nearBell(parts: NearParts): NearBell {
  const renew = script(parts.log.connection, "renew.lua");
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const running = new Map<string, { over: Promise<void>; letGo: AbortController; asked: PromiseWithResolvers<void> }>();
  const leaving = new AbortController();
  let handler: ((wake: Wake) => Promise<void>) | undefined;

  async function answer(conversation: string, coming?: Entry[]): Promise<void> {
    leaving.signal.throwIfAborted();
    const asked = waiting.get(conversation) ?? Promise.withResolvers<void>();
    waiting.set(conversation, asked);
    answerAll(coming && { conversation, coming });
    await asked.promise;
  }

  /** `now`: what is true of one in this very moment alone. */
  function answerAll(now?: Pick<Wake, "conversation" | "coming">): void {
    for (const [conversation, asked] of waiting) {
      if (!handler || leaving.signal.aborted || running.size >= LIMITS.postsAtOnce) return;
      if (running.has(conversation)) continue;
      waiting.delete(conversation);
      const letGo = new AbortController();
      const wake = now?.conversation === conversation ? now : { conversation };
      const over = look(wake, handler, { ...parts, renew }, { letGo, leaving: leaving.signal })
        .then(asked.resolve, asked.reject)
        .then(() => {
          running.delete(conversation);
          answerAll();
        });
      running.set(conversation, { over, letGo, asked });
    }
  }

  async function rest(): Promise<void> {
    while (running.size > 0) await Promise.all([...running.values()].map(({ over }) => over));
  }

  const rings = ringsFor(answer, parts, leaving.signal);
  return {
    ring: rings.ring,
    answer,
    serve(act) {
      handler = act;
      answerAll();
    },
    async close(quiet) {
      const why = new Error("this process ends");
      await Promise.all([quiet, within(LIMITS.lastPosts, rest())]);
      leaving.abort(why);
      for (const asked of waiting.values()) asked.reject(why);
      waiting.clear();
      const left = (await within(LIMITS.handlerEnd, rest())) ? [] : running.values();
      for (const { letGo, asked } of left) {
        letGo.abort(why);
        asked.reject(why);
      }
      await within(LIMITS.lastPosts, rings.heard());
    },
  };
}

/** Rings that nobody waits for: what fails is passed on. */
function ringsFor(answer: NearBell["answer"], { trace, far }: NearParts, leaving: AbortSignal) {
  const open = new Set<Promise<void>>();
  return {
    ring(conversation: string, coming?: Entry[]): void {
      const rung = answer(conversation, coming)
        .catch(async (thrown: unknown) => {
          if (!leaving.aborted) trace.warn("posts-failed", { conversation, error: messageOf(thrown) });
          await far.wakePosts(conversation);
        })
        .catch((thrown: unknown) => trace.warn("ring-failed", { conversation, error: messageOf(thrown) }))
        .finally(() => open.delete(rung));
      open.add(rung);
    },
    /** Resolves when all so far are answered or passed on. */
    heard: async (): Promise<unknown> => await Promise.all(open),
  };
}

/** Calls the handler under a lock, which it takes together with the thread and which is kept while it runs. */
async function look(
  wake: Pick<Wake, "conversation" | "coming">,
  handler: (wake: Wake) => Promise<void>,
  { log, trace, lockMs, renew }: NearParts & { renew: Script },
  { letGo, leaving }: { letGo: AbortController; leaving: AbortSignal },
): Promise<void> {
  const { conversation } = wake;
  const name = `post:${conversation}`;
  const lock = { key: KEYS.lease(name), token: randomUUID(), lasts: lockMs };
  const release = keepLock(
    () => renew([lock.key], [lock.token, lockMs]),
    lockMs,
    () => letGo.abort(new Error("the lock on this thread was lost")),
  );
  try {
    await handler({ ...wake, lock, signal: letGo.signal, leaving });
    // Then there may be more to do.
    letGo.signal.throwIfAborted();
    leaving.throwIfAborted();
  } finally {
    release();
    // Given back already where all was done; else it would run out.
    log.lease(name, lock.token, 0).catch((thrown: unknown) => trace.info("lock-kept", { conversation, error: messageOf(thrown) }));
  }
}
