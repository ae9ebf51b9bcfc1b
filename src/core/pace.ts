import { LIMITS } from "../limits.ts";

/**
 * A thread's own measure of posts and edits, whatever its platform takes: LIMITS.paceBurst, then one each LIMITS.paceEvery. All
 * that is kept of it is when it is full again. Gives how long (ms) a call that leaves `keep` of them has to wait.
 */
export function paceWait(full: number | undefined, now: number, keep: number): number {
  return Math.max(0, taken(full, now) - (LIMITS.paceBurst - 1 - keep) * LIMITS.paceEvery);
}

/** When it is full again after so many calls. What could not wait may find it empty, and leaves it so. */
export function paced(full: number | undefined, now: number, calls: number): number {
  return now + Math.min(LIMITS.paceBurst * LIMITS.paceEvery, taken(full, now) + calls * LIMITS.paceEvery);
}

/** In milliseconds. A clock that was set back must not close it. */
function taken(full = 0, now: number): number {
  return full > now + LIMITS.paceBurst * LIMITS.paceEvery ? 0 : Math.max(0, full - now);
}
