import { messageOf } from "./core/errors.ts";
import type { Trace } from "./core/ports.ts";

/** An SDK that may reject where nobody catches, and whose connections are supervised. */
export interface Supervised {
  /** Goes before the name of what is traced: `slack`. */
  platform: string;
  owns: (reason: Error) => boolean;
}

/**
 * The last net: a rejection inside a supervised SDK is traced and forgotten. Every other one is traced and ends the
 * process as usual. Returns what takes the net away.
 */
export function guardProcess(trace: Trace, supervised: Supervised[]): () => void {
  const onRejection = (reason: unknown): void => {
    const owner = reason instanceof Error ? supervised.find((sdk) => sdk.owns(reason)) : undefined;
    if (owner) return trace.error(`${owner.platform}.rejection-caught`, { error: messageOf(reason) });
    trace.error("unhandled-rejection", { error: messageOf(reason) });
    throw reason instanceof Error ? reason : new Error(messageOf(reason));
  };
  process.on("unhandledRejection", onRejection);
  return () => void process.off("unhandledRejection", onRejection);
}
