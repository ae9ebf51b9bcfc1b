import { LIMITS } from "../limits.ts";
import { checkpoint } from "./checkpoint.ts";
import { DeckhandError, messageOf } from "./errors.ts";
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
  await log.setBack(now);
  await each(await log.approvalsDue(now), (approval) => expire(approval, now, deps), trace);
  // Also rings for a long run that goes on: that ring finds nothing to do.
  const left = await log.dirtySince(now - age);
  await each(left, ({ conversation, workspace }) => queue.wake(conversation, workspace), trace);
  const behind = await log.postsDirtySince(now - age);
  // Of those left alone the thread may say what is not so any more: that somebody works on it, or that nobody is there to.
  const untrue = left.map(({ conversation }) => conversation).filter((conversation) => !behind.includes(conversation));
  await each([...behind, ...untrue], (conversation) => queue.wakePosts(conversation), trace);
  // To the end of the line: what nobody serves now must not keep the sweeper from the rest.
  const rung = { work: left.map(({ conversation }) => conversation), posts: behind };
  await log.rung(rung, now);
}

/** Does it for each; one that cannot be done does not keep the others away, but without Redis none can. */
async function each<T>(items: T[], act: (item: T) => Promise<void>, trace: Trace): Promise<void> {
  for (const item of items) {
    try {
      await act(item);
    } catch (thrown) {
      if (thrown instanceof DeckhandError && thrown.code === "REDIS_DOWN") throw thrown;
      trace.warn("sweep-skipped", { item, error: messageOf(thrown) });
    }
  }
}

async function expire(approval: string, now: number, { log, queue, trace }: SweepDeps): Promise<void> {
  const request = await log.requestOf(approval);
  const decided = await log.decide(approval, now, { decision: "expired" }, request?.conversation);
  if (decided.kind !== "won" || !request) return;
  const { conversation, workspace } = request;
  checkpoint("expired");
  trace.info("expired", { conversation, approval });
  await queue.wake(conversation, workspace);
  await queue.wakePosts(conversation);
}

/** Rings for the threads whose budget is full again. */
export async function sweepPosts(deps: SweepDeps): Promise<void> {
  for (const conversation of await deps.log.takeDuePosts(deps.clock.now())) await deps.queue.wakePosts(conversation);
}

/** Runs `act` every `everyMs` until the signal aborts; a failure is traced and tried again. */
export async function every(act: () => Promise<void>, everyMs: number, deps: SweepDeps, signal: AbortSignal): Promise<void> {
  let told = { error: "", at: 0 };
  while (!signal.aborted) {
    try {
      await act();
    } catch (thrown) {
      const [error, at] = [messageOf(thrown), deps.clock.now()];
      // An outage is one trouble, however many sweeps it meets.
      const isOld = error === told.error && Math.abs(at - told.at) < LIMITS.sweepRemind;
      if (!isOld) deps.trace.warn("sweep-failed", { error });
      if (!isOld) told = { error, at };
    }
    await deps.clock.sleep(everyMs, signal);
  }
}
