import type { Entry } from "./core/entry.ts";
import type { Head, Live, PostState, WakeLock } from "./core/log.ts";
import type { Clock } from "./core/ports.ts";
import type { Spent } from "./core/spending.ts";
import type { memoryRules } from "./memory-rules.ts";

/** Locks of wakes that are over: who still holds one may not take a conversation over. Any other lock may. */
const over = new WeakSet<WakeLock>();

/** For memory-queue.ts: this wake has ended. */
export function lockIsOver(lock: WakeLock): void {
  over.add(lock);
}

export function isOver(lock: WakeLock): boolean {
  return over.has(lock);
}

export interface Conversation {
  head: Head;
  entries: Entry[];
  epoch: number;
  takeovers: number;
  ops: Map<string, Entry[]>;
  /** Seq of the newest input that wakes. */
  woke: number;
  stop: number;
  posts: { epoch: number; state: PostState | null };
  touched: number;
}

export interface Approval {
  conversation: string;
  asked: Entry<"approval-asked">;
  decided?: Entry<"approval-decided">;
}

export interface Store {
  clock: Clock;
  conversations: Map<string, Conversation>;
  approvals: Map<string, Approval>;
  /** Names with the time when they end. */
  kept: Map<string, { value: unknown; until: number }>;
  dirty: Map<string, number>;
  postsDirty: Map<string, number>;
  postsDue: Map<string, number>;
  listeners: Set<(conversation: string) => void>;
  lookers: Set<(live: Live) => void>;
  /** What each request of a day took, by day and request. */
  spent: Map<string, Map<string, Spent>>;
  rules: ReturnType<typeof memoryRules>;
}

export function isKept(store: Store, name: string): boolean {
  return (store.kept.get(name)?.until ?? 0) > store.clock.now();
}

/** Moves a time that is kept, never back. */
export function later(times: Map<string, number>, conversation: string, at: number): void {
  const since = times.get(conversation);
  if (since !== undefined) times.set(conversation, Math.max(since, at));
}

export function oldest(times: Map<string, number>, until: number): string[] {
  const due = [...times].filter(([, at]) => at <= until).sort(([, a], [, b]) => a - b);
  return due.slice(0, 100).map(([name]) => name);
}
