import { LIMITS } from "../limits.ts";
import { takeTail } from "./cut.ts";
import { messageOf } from "./errors.ts";
import type { Live, Log, Wait } from "./log.ts";
import type { Clock, Queue, Trace } from "./ports.ts";
import type { Redact } from "./redactor.ts";

/** Hears what one command prints while it runs; neither throws. */
export interface LiveEar {
  /** More of it, in whole lines. */
  hear(text: string): void;
  /** It has ended: nothing more is told. */
  end(): void;
}

/** Hears an answer of the model while it is written, in whole words. */
export interface AnswerEar extends LiveEar {
  /** What was heard counts for nothing: the model is asked again, now, or when this says. */
  again(wait?: Wait): void;
}

/** What stands in the place of a call's id in what is told of the answer to a request that has read up to this entry. */
export function answerAfter(read: number): string {
  return `answer:${read}`;
}

/** Up to where that request has read; null when it is a call. */
export function readOf(call: string): number | null {
  return call.startsWith("answer:") ? Number(call.slice(7)) : null;
}

/** A wait as people read it. */
export function waitText({ why, at }: Wait): string {
  return `${why}; asking again at ${new Date(at).toISOString().slice(11, 19)} UTC.`;
}

/**
 * Tells the newest lines of a command to whoever looks on: not at all when it ends soon, then at most once in
 * LIMITS.liveTell while something comes, and at most LIMITS.liveBytes. Waits for nobody.
 */
export function liveEar(tell: (text: string) => void, clock: Clock): LiveEar {
  const { hear, end } = answerEar(({ text }) => tell(text), clock);
  return { hear, end };
}

/** The same of an answer of the model; that the service asks us to wait is told at once. */
export function answerEar(tell: (told: Pick<Live, "text" | "wait">) => void, clock: Clock): AnswerEar {
  const over = new AbortController();
  let newest = "";
  let pause: number = LIMITS.liveFrom;
  let waits = false;
  /** Whether anything of this is seen. */
  let isTold = false;

  async function tellLater(): Promise<void> {
    if (waits || over.signal.aborted) return;
    waits = true;
    await clock.sleep(pause, over.signal);
    waits = false;
    if (over.signal.aborted) return;
    pause = LIMITS.liveTell;
    isTold = true;
    tell({ text: newest });
  }

  return {
    hear(text) {
      const fresh = takeTail(text, LIMITS.liveBytes, LIMITS.liveBytes / 4).text;
      newest = takeTail(newest + fresh, LIMITS.liveBytes, Number.POSITIVE_INFINITY).text;
      void tellLater();
    },
    again(wait) {
      newest = "";
      if (wait && !over.signal.aborted) tell({ text: "", wait });
      else if (isTold) void tellLater();
      isTold = wait !== undefined;
    },
    // With a reason of ours: else one is made, with its stack, for each command.
    end: () => over.abort("over"),
  };
}

/** Where the gateway keeps what it has heard. */
export interface LiveBoard {
  heard(live: Live): void;
  /** The newest of a conversation; of which call, it says itself. */
  newest(conversation: string): Omit<Live, "conversation"> | null;
}

interface BoardParts {
  log: Pick<Log, "once">;
  queue: Pick<Queue, "wakePosts">;
  clock: Clock;
  trace: Trace;
  redact: Redact;
  /** Conversations with the same answer share a budget and take turns. Null: its thread is not ours to keep up to date. */
  budget: (conversation: string) => string | null;
  /** Ends it. */
  signal: AbortSignal;
}

/** Keeps the newest lines of a bounded number of conversations in memory, and rings for their threads now and then. */
export function liveBoard({ log, queue, clock, trace, redact, budget, signal }: BoardParts): LiveBoard {
  const kept = new Map<string, Omit<Live, "conversation"> & { at: number }>();
  const waiting = new Set<string>();

  /** Some gateway rings for each budget at a time: what they ring for costs an edit. */
  async function ring(conversation: string, shared: string): Promise<void> {
    try {
      while (!(await log.once(`live:${shared}`, LIMITS.liveRing))) {
        await clock.sleep(LIMITS.liveRing / 4, signal);
        if (signal.aborted) return;
      }
      await queue.wakePosts(conversation);
    } catch (thrown) {
      // The next lines ring again.
      trace.info("live-not-rung", { conversation, error: messageOf(thrown) });
    } finally {
      waiting.delete(conversation);
    }
  }

  return {
    heard({ conversation, ...live }) {
      const shared = budget(conversation);
      if (shared === null || signal.aborted) return;
      kept.delete(conversation);
      kept.set(conversation, { ...live, at: clock.now() });
      for (const oldest of kept.keys()) if (kept.size > LIMITS.liveThreads) kept.delete(oldest);
      if (waiting.has(conversation)) return;
      waiting.add(conversation);
      void ring(conversation, shared);
    },
    newest(conversation) {
      const found = kept.get(conversation);
      if (!found || clock.now() - found.at > LIMITS.commandTimeMax) return null;
      const { call, text, wait } = found;
      return { call, text: redact(text), ...(wait ? { wait: { ...wait, why: redact(wait.why) } } : {}) };
    },
  };
}
