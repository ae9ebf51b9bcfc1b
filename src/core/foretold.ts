import type { Entry } from "./entry.ts";
import type { Pending, PostState } from "./log.ts";
import type { Bucket, Chat, Clock, Ids } from "./ports.ts";
import type { Lane, Post } from "./post.ts";
import type { Redact } from "./redactor.ts";
import { type Due, render } from "./render.ts";

/** The first send of a new thread, known and noted before anybody has read its log: one wait for the disk less. */
export interface Foretold {
  /** It is kept. */
  note: Pending;
  /** What the budget said. */
  waitMs: number;
}

/** What is to be kept of a thread with the claim on it, and the budgets of the send. */
export interface Beginning {
  state: PostState;
  note: Pending;
  buckets: Bucket[];
}

interface Parts {
  banner: string | null;
  redact: Redact;
  clock: Clock;
  ids: Pick<Ids, "digest">;
  laneOf: (due: Due[]) => Lane;
}

/** The one message that a thread begins with whose log will be this; null where it is not one message. */
export function beginningOf(thread: string, coming: Entry[], chat: Chat, parts: Parts): Beginning | null {
  const { due } = render(coming, parts);
  const [first, ...others] = due;
  const [chunk, ...more] = first && others.length === 0 ? chat.layout(first.post) : [];
  if (!first || !chunk || more.length > 0 || chunk.file) return null;
  const { post } = first;
  const shows = parts.ids.digest(JSON.stringify(chunk));
  const note = { key: post.key, chunk: 0, nonce: nonceOf(thread, post, 0), at: parts.clock.now(), shows, tries: 1 };
  const state = { cursor: 0, sent: { [post.key]: { refs: [], shows: [] } }, pending: note };
  return { state, note, buckets: chat.buckets(thread, "send", parts.laneOf(due)) };
}

/** The same for the same message of the same post, whoever sends it. */
export function nonceOf(thread: string, { key }: Post, chunk: number): string {
  return `${thread}/${key}/${chunk}`;
}
