import { checkpoint } from "./checkpoint.ts";
import { type State, emptyState, fold } from "./conversation.ts";
import type { Entry, EntryType, NewEntry } from "./entry.ts";
import { DeckhandError } from "./errors.ts";
import type { History } from "./history.ts";
import type { Log, Takeover } from "./log.ts";
import type { Clock } from "./ports.ts";

/** When the work on a conversation has to end: `signal` at once, `leaving` with what runs; see `Wake`. */
export interface Ends {
  signal: AbortSignal;
  leaving: AbortSignal;
}

/** One worker's hold on one conversation: the entries it has read, their fold, and the right to append. */
export interface Session {
  readonly conversation: string;
  readonly entries: Entry[];
  readonly state: State;
  /** What the model is told, folded with the state. */
  readonly history: History;
  /** Reads what has come in since. */
  refresh(): Promise<void>;
  /** Appends, durable when it resolves, and reads on; with nothing to append it reads on. Throws REDIS_FENCED when another worker took over. */
  append(entries: NewEntry[]): Promise<void>;
}

/** What people wait for: an answer, or a question to them. */
const AWAITED = new Set<EntryType>(["final", "failed", "approval-asked", "approval-decided", "paused"]);

/** A conversation that is ours. */
export type Taken = Extract<Takeover, { kind: "taken" }>;

interface Parts {
  log: Log;
  clock: Clock;
  signal: AbortSignal;
  /** Called after each append, so that the thread is brought up to date; `urgent`: somebody waits for it. */
  appended: (conversation: string, urgent: boolean) => void;
  /** A new history for a conversation of which this is known. */
  tells: (state: State) => History;
}

/** `taken`: what the takeover gave. */
export async function openSession(conversation: string, taken: Taken, parts: Parts): Promise<Session> {
  const { log, clock, signal } = parts;
  const { epoch } = taken;
  const entries: Entry[] = [];
  const state = emptyState();
  const session: Session = {
    conversation,
    entries,
    state,
    get history() {
      return (history ??= parts.tells(state));
    },
    refresh: () => inTurn(readOn),
    append: (news) => inTurn(() => add(news)),
  };
  let history: History | undefined;
  let line: Promise<unknown> = Promise.resolve();
  let ops = 0;

  /** Commands that run side by side append too: one after the other, so that nothing is read twice. */
  async function inTurn(act: () => Promise<void>): Promise<void> {
    const done = line.then(act, act);
    line = done.catch(() => {});
    return await done;
  }
  async function readOn(): Promise<void> {
    take(await patiently(() => log.read(conversation, state.seq), clock, signal));
  }
  function take(fresh: Entry[]): void {
    // One by one: a call takes no more than some ten thousand arguments.
    for (const entry of fresh) entries.push(entry);
    fold(fresh, state);
    if (fresh.length > 0) session.history.add(fresh);
  }
  async function add(news: NewEntry[]): Promise<void> {
    let isRead = false;
    if (news.length > 0) {
      for (const { type } of news) checkpoint(`before-${type}`);
      const at = clock.now();
      // Known to this epoch alone, and in this epoch nobody else appends.
      const op = `s${++ops}`;
      const done = await patiently(() => log.append(conversation, epoch, op, at, news), clock, signal);
      if (done.kind === "fenced") throw new DeckhandError("REDIS_FENCED");
      for (const { type } of news) checkpoint(`after-${type}`);
      // Nothing has come in between: what was appended is all that there is to read.
      isRead = done.entries[0]?.seq === state.seq + 1;
      if (isRead) take(done.entries);
    }
    if (!isRead) await readOn();
    const urgent = news.some(({ type }) => AWAITED.has(type));
    if (news.length > 0) parts.appended(conversation, urgent);
  }
  take(taken.entries);
  if (!taken.whole) await session.refresh();
  return session;
}

/** Repeats an act of the log while Redis is away: every act may be repeated with the same arguments. */
export async function patiently<T>(act: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 2000)) {
    try {
      return await act();
    } catch (thrown) {
      const away = thrown instanceof DeckhandError && thrown.code === "REDIS_DOWN";
      if (!away || signal.aborted) throw thrown;
      await clock.sleep(waitMs, signal);
    }
  }
}
