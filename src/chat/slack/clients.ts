import { type Logger, LogLevel, WebClient, type WebClientOptions } from "@slack/web-api";
import type { Trace } from "../../core/ports.ts";

/**
 * Clients by class, so that a slow or limited one never holds up another. None of them waits out a 429: the
 * caller decides. Only look-ups are tried again by the SDK, since a second post would be a second message.
 */
export interface Clients {
  /** auth.test and lines for one person's eyes. */
  control: WebClient;
  /** users.info, conversations.history and conversations.replies: harmless to repeat. */
  lookup: WebClient;
  /** Posts, edits and uploads. */
  content: WebClient;
}

export function slackClients(options: { botToken: string; apiUrl: string | null; trace: Trace }): Clients {
  const logger = slackLogger(options.trace);
  const make = (retries: number, timeout: number): WebClient =>
    new WebClient(options.botToken, { ...clientOptions(options.apiUrl, retries, timeout), logger });
  return { control: make(0, 10_000), lookup: make(2, 10_000), content: make(0, 30_000) };
}

/** A new object each time: Bolt and socket-mode write into the one that they are given. `timeout` in ms. */
export function clientOptions(apiUrl: string | null, retries: number, timeout: number): WebClientOptions {
  return {
    ...(apiUrl !== null && { slackApiUrl: apiUrl }),
    retryConfig: { retries, minTimeout: 250, maxTimeout: 2_000, factor: 2 },
    timeout,
    rejectRateLimitedCalls: true,
  };
}

/** The SDKs' warnings in our trace: first line only, tokens taken out. */
export function slackLogger(trace: Trace): Logger {
  const warn = (...parts: unknown[]): void => trace.warn("slack.sdk", { text: line(parts) });
  const quiet = (): void => undefined;
  return { debug: quiet, info: quiet, warn, error: warn, setLevel: quiet, setName: quiet, getLevel: () => LogLevel.WARN };
}

function line(parts: unknown[]): string {
  const words = parts.map((part) => (part instanceof Error ? part.message : typeof part === "string" ? part : ""));
  const [first = ""] = words.join(" ").trim().split("\n");
  return first.replace(/x(?:ox[a-z]|app)-[\w-]+/g, "x…").slice(0, 300);
}
