import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, WebAPIRequestError } from "@slack/web-api";
import { messageOf } from "../../core/errors.ts";
import { networkFailure } from "../../core/network.ts";
import { ChatError, type ChatRefusal } from "../../core/ports.ts";

/** The thread or its channel takes nothing from us any more. */
const GONE = new Set([
  "is_archived",
  "channel_not_found",
  "not_in_channel",
  "channel_is_limited_access",
  "thread_not_found",
  "cannot_reply_to_message",
  "messages_tab_disabled",
  "restricted_action",
  "restricted_action_read_only_channel",
  "restricted_action_thread_locked",
  "restricted_action_thread_only_channel",
  "restricted_action_non_threadable_channel",
  "ekm_access_denied",
  "team_access_not_granted",
  "account_inactive",
]);

/** What Slack calls its limit of a method when it does not answer 429. */
const LIMITED = new Set(["ratelimited", "rate_limited"]);

/** Milliseconds to wait when Slack does not say. A bad token may be mended while we run, so it only waits. */
const LATER: Record<string, number> = {
  ratelimited: 10_000,
  rate_limited: 10_000,
  message_limit_exceeded: 60_000,
  team_added_to_org: 30_000,
  invalid_auth: 60_000,
  not_authed: 60_000,
  token_expired: 60_000,
  token_revoked: 60_000,
};

/** Slack began to work on it and failed. */
const DOUBTFUL = new Set(["internal_error", "fatal_error", "service_unavailable", "request_timeout", "update_failed"]);

const NETWORK_WAIT_MS = 5_000;
const PROXY_WAIT_MS = 30_000;

/** What a failed call means for a post. `act`: a missing message is the end of an edit, for a send it is the missing root. */
export function chatError(error: unknown, act: "send" | "edit" | "find"): ChatError {
  return error instanceof ChatError ? error : new ChatError(refusalOf(error, act), error);
}

function refusalOf(error: unknown, act: "send" | "edit" | "find"): ChatRefusal {
  if (error instanceof WebAPIRateLimitedError) return limited(error.retryAfter * 1000);
  if (error instanceof WebAPIPlatformError) return platformRefusal(error, act);
  if (error instanceof WebAPIHTTPError) {
    const code = `http_${error.statusCode}`;
    if (error.statusCode >= 500) return { kind: "doubtful", code };
    return error.statusCode === 413 ? { kind: "refused", code } : { kind: "later", code, retryAfterMs: PROXY_WAIT_MS };
  }
  if (error instanceof WebAPIRequestError) {
    const { code, mayHaveArrived } = networkFailure(error.original);
    return mayHaveArrived ? { kind: "doubtful", code } : { kind: "later", code, retryAfterMs: NETWORK_WAIT_MS };
  }
  // The SDK's plain Error for a 429 without a usable header.
  if (messageOf(error).startsWith("Retry header")) return limited(PROXY_WAIT_MS);
  return { kind: "doubtful", code: "unexpected" };
}

function limited(retryAfterMs: number): ChatRefusal {
  return { kind: "later", code: "ratelimited", retryAfterMs, limit: "here" };
}

function platformRefusal(error: WebAPIPlatformError, act: "send" | "edit" | "find"): ChatRefusal {
  const code = codeOf(error);
  const wait = LATER[code];
  if (wait !== undefined) {
    const told = error.data.response_metadata?.retryAfter;
    const retryAfterMs = told ? told * 1000 : wait;
    return LIMITED.has(code) ? limited(retryAfterMs) : { kind: "later", code, retryAfterMs };
  }
  if (GONE.has(code) || (code === "message_not_found" && act !== "edit")) return { kind: "gone", code };
  if (code === "not_json" || DOUBTFUL.has(code)) return { kind: "doubtful", code };
  return { kind: "refused", code };
}

/** Slack's own code. A page of HTML in its place (a proxy's answer) is `not_json`. */
export function codeOf(error: WebAPIPlatformError): string {
  return /^[a-z0-9_]+$/i.test(error.data.error) ? error.data.error : "not_json";
}
