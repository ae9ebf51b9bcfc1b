import { createHash } from "node:crypto";
import type { Json } from "./refusal.ts";
import { Refusal, refuse } from "./refusal.ts";

/** So many calls in so many ms, counted from the first. */
export interface Rule {
  name: string;
  limit: number;
  ms: number;
}

/**
 * Discord publishes no figures and says to read the headers. These are what people saw: sends and edits of one channel
 * share 5 in 5 s; old messages take 3 edits in 6 s; a thread takes 2 new names in 10 minutes.
 */
export const RULES = {
  messages: { name: "messages", limit: 5, ms: 5_000 },
  deletes: { name: "deletes", limit: 5, ms: 1_000 },
  reads: { name: "reads", limit: 50, ms: 1_000 },
  changes: { name: "changes", limit: 10, ms: 10_000 },
  typing: { name: "typing", limit: 5, ms: 5_000 },
  reactions: { name: "reactions", limit: 1, ms: 250 },
  webhook: { name: "webhook", limit: 5, ms: 2_000 },
  oldEdits: { name: "old-edits", limit: 3, ms: 6_000 },
  renames: { name: "renames", limit: 2, ms: 600_000 },
  global: { name: "global", limit: 50, ms: 1_000 },
} as const satisfies Record<string, Rule>;

export interface Taken {
  ok: boolean;
  remaining: number;
  /** Seconds until the window ends. */
  resetAfter: number;
}

/** Windows by rule and what they are about, in real time: a caller really has to wait. */
export class Limits {
  readonly #windows = new Map<string, { start: number; used: number }>();

  take(rule: Rule, about: string, now = Date.now()): Taken {
    const key = `${rule.name}:${about}`;
    const before = this.#windows.get(key);
    const window = before && now < before.start + rule.ms ? before : { start: now, used: 0 };
    this.#windows.set(key, window);
    const ok = window.used < rule.limit;
    if (ok) window.used += 1;
    return { ok, remaining: rule.limit - window.used, resetAfter: Math.max(0.001, (window.start + rule.ms - now) / 1000) };
  }
}

export function limitHeaders(rule: Rule, { remaining, resetAfter }: Taken, now = Date.now()): Record<string, string> {
  return {
    "x-ratelimit-limit": String(rule.limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": ((now + resetAfter * 1000) / 1000).toFixed(3),
    "x-ratelimit-reset-after": resetAfter.toFixed(3),
    "x-ratelimit-bucket": createHash("md5").update(rule.name).digest("hex"),
  };
}

/** A 429 as Discord words it. */
export function limited(taken: Taken, scope: "user" | "global", code?: number): Refusal {
  const words = code === undefined ? "You are being rate limited." : String(refuse(code).body.message);
  const body: Json = { message: words, retry_after: taken.resetAfter, global: scope === "global" };
  if (code !== undefined) body.code = code;
  const headers: Record<string, string> = { "retry-after": String(Math.ceil(taken.resetAfter)), "x-ratelimit-scope": scope };
  if (scope === "global") headers["x-ratelimit-global"] = "true";
  return new Refusal(429, body, headers);
}

/** Counts a call against a limit that the headers do not show. */
export function takeHidden(limits: Limits, rule: Rule, about: string, code?: number): void {
  const taken = limits.take(rule, about);
  if (!taken.ok) throw limited(taken, "user", code);
}
