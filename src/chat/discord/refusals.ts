import { DiscordAPIError, HTTPError, RateLimitError, RESTJSONErrorCodes as Code } from "discord.js";
import { DeckhandError } from "../../core/errors.ts";
import { innermost, networkFailure } from "../../core/network.ts";
import { ChatError, type ChatRefusal } from "../../core/ports.ts";

/** The thread or its channel takes nothing from us any more. */
const GONE = new Set<unknown>([
  Code.UnknownChannel,
  Code.UnknownGuild,
  Code.MissingAccess,
  Code.CannotSendMessagesToThisUser,
  Code.CannotSendMessagesInNonTextChannel,
  Code.ThreadLocked,
  // Only when it could not be brought back from the archive.
  Code.InvalidActionOnArchivedThread,
]);

/** Discord is too busy for this one now. */
const BUSY = new Set<unknown>([Code.APIResourceOverloaded]);

const BUSY_WAIT_MS = 10_000;
const NETWORK_WAIT_MS = 5_000;
const PROXY_WAIT_MS = 30_000;
/** A bad token may be mended while we run, so it only waits. */
const TOKEN_WAIT_MS = 60_000;
const RATE_WAIT_MS = 500;

/** What a failed call means for a post. `withFile`: a missing permission may be the one for files. */
export function chatError(error: unknown, withFile = false): ChatError {
  return error instanceof ChatError ? error : new ChatError(refusalOf(error, withFile), error);
}

function refusalOf(error: unknown, withFile: boolean): ChatRefusal {
  if (error instanceof RateLimitError) {
    const retryAfterMs = Math.ceil(Math.max(error.retryAfter, error.sublimitTimeout, RATE_WAIT_MS));
    if (error.global) return { kind: "later", code: "ratelimited", retryAfterMs, limit: "everywhere" };
    // Edits have narrower limits of their own, of old messages for one: sends may go on.
    const isOfEdits = error.sublimitTimeout > 0 && error.method.toUpperCase() === "PATCH";
    return { kind: "later", code: "ratelimited", retryAfterMs, ...(isOfEdits ? {} : { limit: "here" }) };
  }
  if (error instanceof DiscordAPIError) return apiRefusal(error, withFile);
  if (error instanceof HTTPError) return { kind: "doubtful", code: `http_${error.status}` };
  if (!(error instanceof Error)) return { kind: "doubtful", code: "unexpected" };
  const { code, mayHaveArrived } = networkFailure(error);
  return mayHaveArrived ? { kind: "doubtful", code } : { kind: "later", code, retryAfterMs: NETWORK_WAIT_MS };
}

function apiRefusal(error: DiscordAPIError, withFile: boolean): ChatRefusal {
  const code = codeOf(error);
  if (error.status === 401) return { kind: "later", code: "unauthorized", retryAfterMs: TOKEN_WAIT_MS };
  if (code === null) {
    // Not Discord's own words: something on the way answered.
    const http = `http_${error.status}`;
    return error.status === 413 ? { kind: "refused", code: http } : { kind: "later", code: http, retryAfterMs: PROXY_WAIT_MS };
  }
  if (BUSY.has(code)) return { kind: "later", code: String(code), retryAfterMs: BUSY_WAIT_MS };
  if (GONE.has(code) || (code === Code.MissingPermissions && !withFile)) return { kind: "gone", code: String(code) };
  return { kind: "refused", code: String(code) };
}

/** Discord's own code of a refusal; null for everything else. */
export function codeOf(error: unknown): number | null {
  return error instanceof DiscordAPIError && typeof error.code === "number" && error.code > 0 ? error.code : null;
}

/** DISCORD_AUTH or DISCORD_DOWN for a failed call that every valid token may make. */
export function discordError(error: unknown): DeckhandError {
  const cause = { cause: error };
  const isRefused = error instanceof DiscordAPIError && error.status === 401;
  return isRefused ? new DeckhandError("DISCORD_AUTH", "401", cause) : new DeckhandError("DISCORD_DOWN", innermost(error), cause);
}
