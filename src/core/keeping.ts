import { LIMITS } from "../limits.ts";
import { checkpoint, isArmedFor } from "./checkpoint.ts";
import type { Entry } from "./entry.ts";
import { messageOf } from "./errors.ts";
import type { ArrivalRecord, Ingested, Log } from "./log.ts";
import type { Clock, Queue, Trace } from "./ports.ts";

export interface KeepDeps {
  log: Log;
  queue: Pick<Queue, "wake" | "wakePosts">;
  /**
   * Rings while an act of the log is on its way, where who answers cannot be there before it. `coming`: what the log of a new
   * conversation will be. Absent: `queue` is rung afterwards.
   */
  ringEarly?: (conversation: string, workspace: string | null, coming?: Entry[]) => void;
  /** Rings after what somebody waits for; `queue` when absent, and then it is waited for. */
  ringSoon?: (conversation: string, workspace: string) => void;
  clock: Clock;
  trace: Trace;
}

/** Keeps the arrival, and rings meanwhile. A ring that fails is healed by the sweeper: what counts is in the log. */
export async function keep(record: ArrivalRecord, workspace: string, deps: KeepDeps): Promise<Ingested> {
  const { conversation, entry, wakes } = record;
  const { log, clock, trace } = deps;
  const woken = wakes ? workspace : null;
  // Who is killed there must have rung nobody.
  const ringEarly = isArmedFor("kept") ? undefined : deps.ringEarly;
  const asked = clock.now();
  const keeping = log.ingest(record);
  ringEarly?.(conversation, woken, comingOf(record));
  const kept = await keeping;
  checkpoint("kept");
  // A ring that was long before what it rings for counts for nothing.
  if (!ringEarly || clock.now() - asked > LIMITS.ringLate) await ring(conversation, woken, deps);
  trace.info("arrived", { conversation, type: entry.type, kept: kept.kind });
  return kept;
}

/** As the log will have it. */
function comingOf({ begins, opened, entry, at }: ArrivalRecord): Entry[] | undefined {
  if (!begins || !opened) return undefined;
  return [opened, entry].map((each, index) => ({ ...each, v: 1, seq: index + 1, at, epoch: 0 }) as Entry);
}

/** For a decision, whose presser waits: it alone is asked of the log, and the rings come when the presser has been told. */
export async function deciding<T>(act: Promise<T>, conversation: string, workspace: string, deps: KeepDeps): Promise<T> {
  const done = await act;
  checkpoint("decided");
  if (deps.ringSoon) deps.ringSoon(conversation, workspace);
  else await ring(conversation, workspace, deps);
  return done;
}

async function ring(conversation: string, workspace: string | null, { queue, trace }: KeepDeps): Promise<void> {
  try {
    // Both at once: whoever waits for the thread does not wait for the worker's bell.
    await Promise.all([workspace === null ? null : queue.wake(conversation, workspace), queue.wakePosts(conversation)]);
  } catch (thrown) {
    trace.warn("ring-failed", { conversation, error: messageOf(thrown) });
  }
}
