import { WebAPIPlatformError, WebClient } from "@slack/web-api";
import { DeckhandError } from "../../core/errors.ts";
import { innermost } from "../../core/network.ts";
import type { ChatError, Trace } from "../../core/ports.ts";
import { clientOptions, slackLogger } from "./clients.ts";
import { SCOPES } from "./manifest.ts";
import { codeOf } from "./refusals.ts";

export interface HealthOptions {
  botToken: string;
  appToken: string;
  apiUrl: string | null;
}

/** What keeps Slack from working: one DeckhandError line a problem (SLACK_AUTH, SLACK_SCOPE, SLACK_DOWN). Never rejects. */
export async function slackHealth(options: HealthOptions): Promise<string[]> {
  const checks = await Promise.all([checkBot(options), checkApp(options)]);
  return [...new Set(checks.flat().map((problem) => problem.line()))];
}

async function checkBot({ botToken, apiUrl }: HealthOptions): Promise<DeckhandError[]> {
  try {
    const answer = await client(botToken, apiUrl).auth.test();
    const granted = answer.response_metadata?.scopes ?? [];
    const missing = SCOPES.filter((scope) => !granted.includes(scope));
    return missing.length > 0 ? [new DeckhandError("SLACK_SCOPE", `the scopes ${missing.join(", ")}`)] : [];
  } catch (error) {
    return [slackError(error, "SLACK_BOT_TOKEN")];
  }
}

async function checkApp({ appToken, apiUrl }: HealthOptions): Promise<DeckhandError[]> {
  try {
    await client(appToken, apiUrl).apps.connections.open({});
    return [];
  } catch (error) {
    return [slackError(error, "SLACK_APP_TOKEN")];
  }
}

/** SLACK_AUTH, SLACK_SCOPE or SLACK_DOWN for a failed call with the token that `setting` names. */
export function slackError(error: unknown, setting: string): DeckhandError {
  const cause = { cause: error };
  if (!(error instanceof WebAPIPlatformError)) return new DeckhandError("SLACK_DOWN", innermost(error), cause);
  const code = codeOf(error);
  if (code === "missing_scope") return new DeckhandError("SLACK_SCOPE", `${setting} needs ${neededScope(error.data)}`, cause);
  const passing = /^(?:internal_error|fatal_error|service_unavailable|request_timeout|team_added_to_org|rate_?limited|not_json)$/.test(
    code,
  );
  return passing ? new DeckhandError("SLACK_DOWN", code, cause) : new DeckhandError("SLACK_AUTH", `${setting}: ${code}`, cause);
}

/** SLACK_SCOPE, SLACK_CHANNEL, SLACK_AUTH or SLACK_DOWN for what could not be done in a channel. */
export function slackRefusal({ refusal: { kind, code }, cause }: ChatError, channel: string): DeckhandError {
  const isOfChannel = (kind === "gone" || kind === "refused") && code !== "missing_scope";
  return isOfChannel ? new DeckhandError("SLACK_CHANNEL", `${code} (${channel})`, { cause }) : slackError(cause, "SLACK_BOT_TOKEN");
}

/** Slack names the scope; for the app-level token it is always this one. */
function neededScope(answer: object): string {
  return "needed" in answer && typeof answer.needed === "string" ? answer.needed : "connections:write";
}

function client(token: string, apiUrl: string | null): WebClient {
  const silent: Trace = { info: () => undefined, warn: () => undefined, error: () => undefined };
  return new WebClient(token, { ...clientOptions(apiUrl, 0, 10_000), logger: slackLogger(silent) });
}
