import type { Bucket, Limiter, Queue, Wake } from "./core/ports.ts";
import { LIMITS } from "./limits.ts";
import { lockIsOver } from "./memory-store.ts";

type Handler = (wake: Wake) => Promise<void>;

/** The doorbell in this process's memory. `failed` hears what a handler threw; the wake is rung again all the same. */
export function memoryQueue(failed: (conversation: string, thrown: unknown) => void = () => {}): Queue {
  const bells = new Map<string, Bell>();
  let closed = false;
  function bellOf(name: string): Bell {
    const bell = bells.get(name) ?? new Bell(failed, () => closed);
    bells.set(name, bell);
    return bell;
  }
  return {
    wake: async (conversation, workspace) => bellOf(`wake-${workspace}`).pull(conversation),
    wakePosts: async (conversation) => bellOf("post").pull(conversation),
    async serve(workspaces, handler) {
      for (const workspace of workspaces) bellOf(`wake-${workspace}`).serve(handler);
    },
    servePosts: async (handler) => bellOf("post").serve(handler),
    async close(graceMs = 0) {
      closed = true;
      await Promise.all([...bells.values()].map((bell) => bell.end(graceMs)));
    },
  };
}

let rings = 0;

class Bell {
  private readonly failed: (conversation: string, thrown: unknown) => void;
  private readonly closed: () => boolean;
  private readonly waiting = new Set<string>();
  /** Conversations whose handler threw, until they are rung again. */
  private readonly resting = new Map<string, NodeJS.Timeout>();
  private readonly running = new Map<string, { letGo: AbortController; leave: AbortController; ended: Promise<void> }>();
  private handler: Handler | undefined;

  constructor(failed: (conversation: string, thrown: unknown) => void, closed: () => boolean) {
    this.failed = failed;
    this.closed = closed;
  }

  pull(conversation: string): void {
    this.waiting.add(conversation);
    this.answer();
  }

  serve(handler: Handler): void {
    this.handler = handler;
    this.answer();
  }

  async end(graceMs: number): Promise<void> {
    for (const timer of this.resting.values()) clearTimeout(timer);
    const running = [...this.running.values()];
    for (const { leave } of running) leave.abort(new Error("this process ends"));
    const letGo = (): void => running.forEach((each) => each.letGo.abort(new Error("this process ends")));
    const late = setTimeout(letGo, graceMs);
    if (graceMs === 0) letGo();
    await Promise.all(running.map(({ ended }) => ended));
    clearTimeout(late);
  }

  private answer(): void {
    for (const conversation of this.waiting) {
      if (this.closed() || !this.handler || this.running.has(conversation) || this.resting.has(conversation)) continue;
      this.waiting.delete(conversation);
      this.start(conversation, this.handler, 1);
    }
  }

  private start(conversation: string, handler: Handler, attempt: number): void {
    const [letGo, leave] = [new AbortController(), new AbortController()];
    rings += 1;
    const lock = { key: `memory:${conversation}`, token: String(rings) };
    const run = Promise.resolve().then(() => handler({ conversation, lock, signal: letGo.signal, leaving: leave.signal }));
    const ended = run
      .catch((thrown: unknown) => {
        this.failed(conversation, thrown);
        if (!this.closed() && attempt < LIMITS.wakeTries) this.rest(conversation, handler, attempt);
      })
      .then(() => {
        lockIsOver(lock);
        this.running.delete(conversation);
        this.answer();
      });
    this.running.set(conversation, { letGo, leave, ended });
  }

  private rest(conversation: string, handler: Handler, attempt: number): void {
    const again = () => {
      this.resting.delete(conversation);
      this.start(conversation, handler, attempt + 1);
    };
    this.resting.set(conversation, setTimeout(again, Math.min(100 * 2 ** attempt, LIMITS.wakeRetryMax)));
  }
}

const CLOCK_ERROR = 5_000;

/** Token buckets in this process's memory; the same sums as redis/take.lua. */
export function memoryLimiter(): Limiter {
  const buckets = new Map<string, { tokens: number; at: number; blocked: number }>();
  const bucketOf = (name: string) => buckets.get(name) ?? { tokens: Number.POSITIVE_INFINITY, at: 0, blocked: 0 };
  function levelOf({ name, burst, perSecond }: Bucket, now: number): number {
    const { tokens, at } = bucketOf(name);
    return Math.min(burst, tokens + (Math.max(0, now - at) * perSecond) / 1000);
  }
  const neededOf = ({ burst, keep = 0 }: Bucket): number => 1 + Math.max(0, Math.min(keep, burst - 1));
  return {
    async take(wanted, now) {
      // A clock that was set back: no bucket waits until it catches up.
      for (const { name } of wanted) if (bucketOf(name).at > now + CLOCK_ERROR) buckets.delete(name);
      const waits = wanted.flatMap((bucket) => [
        Math.ceil(((neededOf(bucket) - levelOf(bucket, now)) * 1000) / bucket.perSecond),
        bucketOf(bucket.name).blocked - now,
      ]);
      const waitMs = Math.max(0, ...waits);
      if (waitMs > 0) return { waitMs };
      for (const bucket of wanted) buckets.set(bucket.name, { ...bucketOf(bucket.name), tokens: levelOf(bucket, now) - 1, at: now });
      return { waitMs: 0 };
    },
    async block(name, until) {
      const bucket = bucketOf(name);
      buckets.set(name, { ...bucket, blocked: Math.max(bucket.blocked, until) });
    },
  };
}
