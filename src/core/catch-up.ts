import { messageOf } from "./errors.ts";
import { untilDone } from "./patience.ts";
import type { Clock, Trace } from "./ports.ts";

export interface CatchUpOptions {
  clock: Clock;
  trace: Trace;
  /** Goes before the names of what is traced: `slack`. */
  platform: string;
  /** Hears everything that may have been missed. Rejects when something of it was not kept. */
  look: (signal: AbortSignal) => Promise<void>;
}

/** Several messages in a row that are not kept are an outage. */
const FAILURES_MAX = 3;

/** Looks for what an absence missed, again and again until a whole look succeeded. */
export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #ending = new AbortController();
  #wanted = 0;
  #done = 0;
  #running: Promise<void> | undefined;

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** Something may be missing: look, after `delayMs`. */
  want(delayMs = 0): void {
    this.#wanted += 1;
    this.#running ??= this.#run(delayMs);
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
    const { clock, trace, platform, look } = this.#options;
    const { signal } = this.#ending;
    await clock.sleep(delayMs, signal);
    const onFailure = (error: unknown, tries: number): void =>
      trace.warn(`${platform}.backfill-failed`, { error: messageOf(error), tries });
    while (!signal.aborted && !this.isWhole) {
      const round = this.#wanted;
      await untilDone(() => look(signal), { clock, signal, onFailure });
      if (!signal.aborted) this.#done = round;
    }
    this.#running = undefined;
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
