import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Clock, Trace } from "../../core/ports.ts";
import { LIMITS } from "../../limits.ts";

export interface LeadOptions {
  log: Pick<Log, "lease">;
  clock: Clock;
  trace: Trace;
  /** Names this process among those that want the lease. */
  holder: string;
}

const LEASE = "discord:gateway";

/**
 * Every process with the token would hear everything: one at a time hears. `act` runs while the lease is held and is
 * aborted when it is lost; then this process waits for its next turn. Ends with the signal, giving the lease up.
 */
export async function leading(
  options: LeadOptions,
  signal: AbortSignal,
  onWaiting: () => void,
  act: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { log, clock, trace, holder } = options;
  while (!signal.aborted) {
    const began = clock.now();
    const held = await tryLease(options);
    if (held !== "held") {
      if (held === "taken") onWaiting();
      await clock.sleep(LIMITS.leaseLook, signal);
      continue;
    }
    trace.info("discord.leading");
    const term = new AbortController();
    const onEnd = (): void => term.abort();
    signal.addEventListener("abort", onEnd, { once: true });
    if (signal.aborted) onEnd();
    const kept = keep(options, began, term);
    await act(term.signal);
    term.abort();
    signal.removeEventListener("abort", onEnd);
    await kept;
  }
  await log.lease(LEASE, holder, 0).catch((error: unknown) => trace.warn("discord.lease-kept", { error: messageOf(error) }));
}

/** Renews the lease until the term ends; ends it when somebody else has the lease, or may have it because ours ran out. */
async function keep(options: LeadOptions, from: number, term: AbortController): Promise<void> {
  const { clock, trace } = options;
  let until = from + LIMITS.lease;
  while (!term.signal.aborted) {
    await clock.sleep(LIMITS.lease / 3, term.signal);
    const now = clock.now();
    const held = term.signal.aborted ? "held" : await tryLease(options);
    if (held === "held") until = now + LIMITS.lease;
    if (held === "taken" || clock.now() >= until) {
      trace.warn("discord.lead-lost", { held });
      term.abort();
    }
  }
}

async function tryLease({ log, holder, trace }: LeadOptions): Promise<"held" | "taken" | "unknown"> {
  try {
    return (await log.lease(LEASE, holder, LIMITS.lease)) ? "held" : "taken";
  } catch (error) {
    trace.warn("discord.lease-unknown", { error: messageOf(error) });
    return "unknown";
  }
}
