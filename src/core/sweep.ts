import { LIMITS } from "../limits.ts";
import { messageOf } from "./errors.ts";
import type { Log } from "./log.ts";
import type { Clock, Queue, Trace } from "./ports.ts";

export interface SweepDeps {
  log: Log;
  queue: Pick<Queue, "wake" | "wakePosts">;
  clock: Clock;
  trace: Trace;
}

/** Rings again for what should have been looked at, and lets approvals expire. Any number of sweepers may run. */
export async function sweep(deps: SweepDeps, age: number = LIMITS.sweepAge): Promise<void> {
  const { log, queue, clock, trace } = deps;
  const now = clock.now();
  for (const approval of await log.approvalsDue(now)) {
    const conversation = await log.approvalOwner(approval);
    const decided = await log.decide(approval, now, { decision: "expired" });
    if (decided.kind !== "won" || !conversation) continue;
    trace.info("expired", { conversation, approval });
    const head = await log.head(conversation);
    if (head) await queue.wake(conversation, head.workspace);
    await queue.wakePosts(conversation);
  }
  // Also rings for a long run that goes on: that ring finds nothing to do.
  for (const { conversation, workspace } of await log.dirtySince(now - age)) await queue.wake(conversation, workspace);
  for (const conversation of await log.postsDirtySince(now - age)) await queue.wakePosts(conversation);
}

/** Rings for the threads whose budget is full again. */
export async function sweepPosts(deps: SweepDeps): Promise<void> {
  for (const conversation of await deps.log.takeDuePosts(deps.clock.now())) await deps.queue.wakePosts(conversation);
}

/** Runs `act` every `everyMs` until the signal aborts; a failure is traced and tried again. */
export async function every(act: () => Promise<void>, everyMs: number, deps: SweepDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await act();
    } catch (thrown) {
      deps.trace.warn("sweep-failed", { error: messageOf(thrown) });
    }
    await deps.clock.sleep(everyMs, signal);
  }
}
