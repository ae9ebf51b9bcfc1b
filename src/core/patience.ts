import { DeckhandError } from "./errors.ts";
import type { Clock } from "./ports.ts";

const FIRST_MS = 1_000;
const MOST_MS = 30_000;
/** Our own Redis: to ask it often costs nobody anything, and people wait. */
const REDIS_MOST_MS = 2_000;

/**
 * Does it again and again, less and less often. `onFailure` tells of a failure, or throws what no waiting mends.
 * Undefined when aborted meanwhile.
 */
export async function untilDone<T>(
  act: () => Promise<T>,
  options: { clock: Clock; signal: AbortSignal; onFailure: (error: unknown, tries: number) => void },
): Promise<T | undefined> {
  const { clock, signal, onFailure } = options;
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      return await act();
    } catch (error) {
      onFailure(error, tries);
      const isOurs = error instanceof DeckhandError && error.code === "REDIS_DOWN";
      await clock.sleep(Math.min(FIRST_MS * 2 ** tries, isOurs ? REDIS_MOST_MS : MOST_MS), signal);
    }
  }
  return undefined;
}

/** How long to wait after so many failures in a row: twice as long each time, and not all at once. `random` is from 0 to 1. */
export function backoff(failures: number, firstMs: number, mostMs: number, random: number): number {
  const full = Math.min(firstMs * 2 ** (failures - 1), mostMs);
  return (full / 2) * (1 + random);
}
