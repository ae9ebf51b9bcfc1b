import { messageOf } from "../../core/errors.ts";
import type { Trace } from "../../core/ports.ts";

/**
 * The last net: a rejection inside socket-mode is traced and forgotten, since its connections are supervised.
 * Every other one is traced and ends the process as usual. Returns what takes the net away.
 */
export function guardProcess(trace: Trace): () => void {
  const onRejection = (reason: unknown): void => {
    if (fromSocketMode(reason)) return trace.error("slack.rejection-caught", { error: messageOf(reason) });
    trace.error("unhandled-rejection", { error: messageOf(reason) });
    throw reason instanceof Error ? reason : new Error(messageOf(reason));
  };
  process.on("unhandledRejection", onRejection);
  return () => void process.off("unhandledRejection", onRejection);
}

function fromSocketMode(reason: unknown): boolean {
  if (!(reason instanceof Error)) return false;
  if ("code" in reason && String(reason.code).startsWith("slack_socket_mode_")) return true;
  return /[\\/]@slack[\\/]socket-mode[\\/]/.test(reason.stack ?? "");
}
