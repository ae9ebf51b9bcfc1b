import { messageOf } from "./errors.ts";

/** Network failures in which no byte of the request has left. */
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** What a failed connection calls itself, and whether the request may have arrived all the same. */
export function networkFailure(error: Error): { code: string; mayHaveArrived: boolean } {
  const code = codeOf(error);
  return { code, mayHaveArrived: !NEVER_SENT.has(code) };
}

function codeOf(error: Error): string {
  for (const each of [error, error.cause]) {
    if (each instanceof Error && "code" in each && typeof each.code === "string") return each.code;
  }
  return error.name === "TimeoutError" || error.name === "AbortError" ? "timeout" : "connection_lost";
}

/** Under "fetch failed" is what tells a person more: `connect ECONNREFUSED 10.0.0.1:443`. */
export function innermost(error: unknown): string {
  let last = error;
  for (let depth = 0; depth < 5 && last instanceof Error; depth++) {
    const { original, cause, errors } = last as Error & { original?: unknown; errors?: unknown[] };
    const below = original ?? cause ?? errors?.[0];
    if (below === undefined) break;
    last = below;
  }
  return messageOf(last);
}
