import type { Entry, NewEntry, Person } from "./entry.ts";
import type { Rules } from "./rules.ts";
import type { Spent } from "./spending.ts";

/** One arrival to be kept. `opened` is used when the conversation is new; without it an unknown one is refused. */
export interface ArrivalRecord {
  conversation: string;
  /** The platform's id: the second arrival with the same id changes nothing. */
  event: string;
  at: number;
  opened?: NewEntry<"opened">;
  /** Only as the first of its conversation: nothing is changed where there is one (`known`). */
  begins?: boolean;
  entry: NewEntry;
  /** Whether a worker has something to do now. */
  wakes: boolean;
  /** The writer: an open approval that this person asked for is superseded. */
  supersedes?: Person;
  /** Who stops the work: an open approval is cancelled, whoever asked for it. */
  cancels?: Person;
}

export type Ingested =
  | { kind: "appended"; seq: number; workspace: string; superseded?: string }
  | { kind: "duplicate" }
  | { kind: "known" }
  | { kind: "unknown" };

/** The doorbell's lock, checked at takeover so that a worker that lost it cannot depose the rightful one. */
export interface WakeLock {
  key: string;
  token: string;
  /** Nobody has taken it yet: who takes the thread takes it too, for so long (ms), and gives it back by settling. */
  lasts?: number;
}

/** `entries`: the log from its beginning, as far as it is short; `whole`: that is all of it. */
export type Takeover =
  | { kind: "taken"; epoch: number; takeovers: number; entries: Entry[]; whole: boolean }
  | { kind: "suspect" }
  | { kind: "lost" };
export type Appended = { kind: "appended"; entries: Entry[] } | { kind: "fenced" };
export type Settled = "settled" | "more" | "fenced";

export interface Head {
  seq: number;
  workspace: string;
  channel: string;
  /** The approval that is open, if any. */
  approval?: string;
}

/** Why the model is not asked now, in words for people, and when it will be. */
export interface Wait {
  why: string;
  at: number;
}

/** What is seen of a call while it runs, or of an answer while it is written; nothing of it is kept. */
export interface Live {
  conversation: string;
  /** The call's id, or `answerAfter` of what the request has read. */
  call: string;
  text: string;
  /** Nothing is written: the model is asked again later. */
  wait?: Wait;
}

export interface Pending {
  key: string;
  chunk: number;
  nonce: string;
  at: number;
  shows: string;
  tries: number;
  /** When it was first looked for in vain, because the platform could not tell. */
  looked?: number;
}

/** A post in its thread: the platform's ids of its messages, and of each a digest of what it shows ("": not known). */
export interface SentPost {
  refs: string[];
  shows: string[];
  /** A part of it may be there twice. */
  doubted?: boolean;
  /** Edits in a row whose outcome is not known. */
  fails?: number;
  /** What stands before it in the thread is in its message: from the entry with this seq on, shown in this form. */
  before?: { from: number; form: number };
}

/** The poster's memory of one thread; stored whole, fenced by the poster's own epoch. */
export interface PostState {
  /** Everything up to this seq has been posted or needs no post. */
  cursor: number;
  /** A send that may have happened: found, or sent again under the same nonce. `at`: the first try; `shows`: the last. */
  pending?: Pending;
  /** What is under way or may change still, by the post's key. */
  sent: Record<string, SentPost>;
  /** The newest message in the thread that is ours. */
  last?: string;
  /** When the thread's own measure of posts and edits is full again. */
  paced?: number;
  /** Set when the thread can no longer be reached: the platform's code. */
  unreachable?: string;
}

export interface PostClaim {
  epoch: number;
  state: PostState;
  /** Nothing was kept of this thread: what it was to begin with is kept now; `state` is without it. */
  begun?: true;
}

/** What goes with the end of a drain. */
export interface PostsEnd {
  state?: PostState;
  at?: number;
  lock?: WakeLock;
}

/** What was asked, and the conversation that it belongs to. */
export interface Request {
  conversation: string;
  workspace: string;
  channel: string;
  asked: Entry<"approval-asked">;
}

/** A decision before it has its place. */
export type Deciding = Pick<NewEntry<"approval-decided">, "decision" | "by" | "reason" | "rule">;
export type Decided = { kind: "won" | "already"; entry: Entry<"approval-decided"> } | { kind: "unknown" };

/**
 * The durable log. Every method is one atomic act; all may throw REDIS_DOWN, after which the caller does not
 * know whether the act happened: every act may be repeated with the same arguments.
 */
export interface Log {
  readonly rules: Rules;
  /** Dedupes, opens, appends and marks the conversation dirty in one act. Twice: `duplicate`. */
  ingest(record: ArrivalRecord): Promise<Ingested>;
  /** An arrival that is not kept: delivered again it will be a duplicate. False when it was heard before. */
  decline(event: string): Promise<boolean>;
  /**
   * Raises the epoch: later appends under an older epoch are refused. `lost` when `lock` is no longer held. `unless-suspect`: not
   * when it was taken over before and did not get on since; then nothing is changed.
   */
  takeover(conversation: string, lock: WakeLock, manner?: "unless-suspect"): Promise<Takeover>;
  /** Appends under the epoch. Twice with the same `op`: the same entries come back, nothing is added. */
  append(conversation: string, epoch: number, op: string, at: number, entries: NewEntry[]): Promise<Appended>;
  /**
   * Decides an approval once, and stores the rule that the decision carries. `already` carries the decision that stands. `of`: its
   * conversation, where that is known.
   */
  decide(approval: string, at: number, decision: Deciding, of?: string): Promise<Decided>;
  /** Ends a wake: `more` when an input with a seq above `upTo` has come in meanwhile. */
  settle(conversation: string, epoch: number, upTo: number): Promise<Settled>;

  head(conversation: string): Promise<Head | null>;
  /** Entries with seq above `after`, in order. */
  read(conversation: string, after: number): Promise<Entry[]>;
  /** What an approval is about, and where; null when it is not known (any more). */
  requestOf(approval: string): Promise<Request | null>;
  /** Seq of the newest `stop`, 0 when there is none: cheap, polled while a command runs. */
  stopSeq(conversation: string): Promise<number>;
  /** Calls back on a hint that something came in for a conversation. Hints may be lost. Returns its end. */
  onHint(listener: (conversation: string) => void): Promise<() => Promise<void>>;
  /** Tells whoever listens now, in any process, what a command has just printed or a model written; redacted. May be lost. */
  tellLive(live: Live): Promise<void>;
  onLive(listener: (live: Live) => void): Promise<() => Promise<void>>;
  /** Whether some worker serves this workspace now. */
  isServed(workspace: string): Promise<boolean>;

  /**
   * The poster's claim on a thread, with its own epoch; null when the lock is somebody else's: then it is due when one of the poster's own has run out.
   * `begins`: what is kept with it where nothing is kept of the thread.
   */
  takePosts(conversation: string, lock: WakeLock, begins?: PostState): Promise<PostClaim | null>;
  savePosts(conversation: string, epoch: number, state: PostState): Promise<"saved" | "fenced">;
  /**
   * `more` when the log has grown past `cursor`. Keeps the state in the same act; with `at` it is not done, but looked at again
   * then (the budget is empty until then).
   */
  settlePosts(conversation: string, epoch: number, cursor: number, rest?: PostsEnd): Promise<Settled>;
  /** The poster wants to be woken at this time. */
  postAt(conversation: string, at: number): Promise<void>;

  /** What is marked further ahead than LIMITS.clockAhead was marked by a clock that was set back since: its time is now. */
  setBack(now: number): Promise<void>;
  /** What the sweeper looks at: oldest first, at most 100 of each. */
  dirtySince(before: number): Promise<{ conversation: string; workspace: string }[]>;
  postsDirtySince(before: number): Promise<string[]>;
  /** These were rung for at `at`: until then they do not count as left alone. */
  rung(conversations: { work: string[]; posts: string[] }, at: number): Promise<void>;
  /** Removes and returns the conversations whose `postAt` time has come. */
  takeDuePosts(now: number): Promise<string[]>;
  approvalsDue(now: number): Promise<string[]>;

  /** Threads with activity since then, for the backfill after an absence. */
  threadsSince(since: number): Promise<string[]>;
  /** Durable marks such as "last message seen in this channel". */
  mark(name: string, value: string): Promise<void>;
  marked(name: string): Promise<string | null>;
  /** True the first time within `ttlMs`. */
  once(name: string, ttlMs: number): Promise<boolean>;
  /**
   * Takes what one holder at a time may have, or keeps it: for `ttlMs` from now. False when somebody else has it.
   * Its holder gives it up with a `ttlMs` of 0.
   */
  lease(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /**
   * Books what a request took of a day (`2026-11-30`), in the place of what it was booked with before, and gives what all
   * requests of all conversations have taken of that day. `cost` null: as far as is known, nothing has a price.
   */
  spend(day: string, request: string, spent: Spent): Promise<Spent>;
  putBlob(key: string, data: Uint8Array, ttlMs: number): Promise<void>;
  getBlob(key: string): Promise<Uint8Array | null>;
  close(): Promise<void>;
}
