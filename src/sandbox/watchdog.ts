/**
 * A worker that is stopped or blocked for longer than its lock on a conversation lasts has lost that conversation, and
 * somebody else goes on with it. Its commands must not go on beside that: the worker beats, and when it does not, its
 * runner ends them.
 */

/** How often we look. What counts are looks in a row without a sign of life, not time: we may have been stopped ourselves. */
const LOOKS = 10;

/** The worker's side: how often it beats (milliseconds), so that a few lost turns do no harm. */
export function beatEvery(quietMs: number): number {
  return Math.min(1000, quietMs / 5);
}

/** The runner's side: calls `silent` when there was no sign of life for `quietMs`, and again until there is one. */
export function watchdog(quietMs: number, silent: () => void): { alive(): void } {
  let missed = 0;
  setInterval(() => {
    missed += 1;
    if (missed > LOOKS) silent();
  }, quietMs / LOOKS).unref();
  return { alive: () => void (missed = 0) };
}
