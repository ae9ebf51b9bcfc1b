import { LIMITS } from "../limits.ts";
import type { Clock } from "./ports.ts";

/**
 * A conversation whose worker died before it got on may have killed it, or may only have been there. A process takes such
 * suspects up one after the other, so that the next death counts against the right one and not against all of them.
 */
let last: Promise<void> = Promise.resolve();

/** Waits for its turn, or until the signal aborts. Gives what ends the turn: it got on. By itself it ends after LIMITS.suspectTime. */
export async function ownTurn(clock: Clock, signal: AbortSignal): Promise<() => void> {
  const before = last;
  const { promise, resolve } = Promise.withResolvers<void>();
  last = before.then(() => promise);
  const aborted = Promise.withResolvers<void>();
  if (signal.aborted) aborted.resolve();
  signal.addEventListener("abort", () => aborted.resolve(), { once: true });
  await Promise.race([before, aborted.promise]);
  void clock.sleep(LIMITS.suspectTime, signal).then(resolve);
  return resolve;
}
