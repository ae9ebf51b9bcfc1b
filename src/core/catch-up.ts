import { messageOf } from "./errors.ts";
import { untilDone } from "./patience.ts";
import type { Clock, Trace } from "./ports.ts";

export interface CatchUpOptions<T> {
  clock: Clock;
  trace: Trace;
  /** Goes before the names of what is traced: `slack`. */
  platform: string;
  /** Hears everything that may have been missed, and what was put aside. Rejects when something of it was not kept. */
  look: (signal: AbortSignal, aside: readonly T[]) => Promise<void>;
}

/** Several messages in a row that are not kept are an outage. */
const FAILURES_MAX = 3;
/** What is put aside for an outage; of more than this the oldest are left to the platform's own history. */
const ASIDE_MAX = 1_000;

/** Looks for what an absence missed, again and again until a whole look succeeded. */
export class CatchUp<T> {
  readonly #options: CatchUpOptions<T>;
  readonly #ending = new AbortController();
  #wanted = 0;
  #done = 0;
  #running: Promise<void> | undefined;
  #aside: T[] = [];

  constructor(options: CatchUpOptions<T>) {
    this.#options = options;
  }

  /** Something may be missing: look, after `delayMs`. */
  want(delayMs = 0): void {
    this.#wanted += 1;
    this.#running ??= this.#run(delayMs);
  }

  /** This came and could not be kept: it is heard again with the next look, after `delayMs`, wherever it was said. */
  wantAgain(message: T, delayMs: number): void {
    this.#aside = [...this.#aside, message].slice(-ASIDE_MAX);
    this.want(delayMs);
  }

  /** Nothing is known to be missing. */
  get isWhole(): boolean {
    return this.#done === this.#wanted;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #run(delayMs: number): Promise<void> {
    const { clock, trace, platform } = this.#options;
    const { signal } = this.#ending;
    await clock.sleep(delayMs, signal);
    const onFailure = (error: unknown, tries: number): void =>
      trace.warn(`${platform}.backfill-failed`, { error: messageOf(error), tries });
    while (!signal.aborted && !this.isWhole) {
      const round = this.#wanted;
      const heard = await untilDone(() => this.#look(signal), { clock, signal, onFailure });
      if (signal.aborted || !heard) break;
      this.#aside = this.#aside.filter((message) => !heard.has(message));
      // What was said after it, in the conversation that it opened, was nobody's until now.
      if (heard.size > 0) this.#wanted += 1;
      this.#done = round;
    }
    this.#running = undefined;
  }

  async #look(signal: AbortSignal): Promise<ReadonlySet<T>> {
    const aside = new Set(this.#aside);
    await this.#options.look(signal, [...aside]);
    return aside;
  }
}

/** One bad message does not keep the others away. Rejects when one was not kept. */
export async function hearAll<T>(missed: T[], hear: (message: T) => Promise<void>, signal: AbortSignal): Promise<void> {
  let inARow = 0;
  let failed: unknown;
  for (const message of missed) {
    if (signal.aborted) return;
    try {
      await hear(message);
      inARow = 0;
    } catch (error) {
      failed ??= error;
      inARow += 1;
      if (inARow === FAILURES_MAX) break;
    }
  }
  if (failed !== undefined) throw failed;
}
