/** A method's class: the tier is the number of calls that any minute allows; `post` counts per channel; `none` is free. */
export type Tier = 20 | 50 | 100 | "post" | "none";

const MINUTE = 60_000;
/** Slack promises one post a second and channel and "short bursts" without a figure. */
const POST_BURST = 6;
const POST_EVERY = 1_000;

/** Slack's rate limits, kept as the times of the calls that were let through. */
export class Limits {
  readonly #passed = new Map<string, number[]>();
  readonly #posts = new Map<string, { tokens: number; at: number }>();

  /** 0 when the call may pass, else the whole seconds of `Retry-After`. */
  take(method: string, tier: Tier, channel: string, now = Date.now()): number {
    if (tier === "none") return 0;
    if (tier === "post") return this.#takePost(channel, now);
    const passed = (this.#passed.get(method) ?? []).filter((at) => at > now - MINUTE);
    this.#passed.set(method, passed);
    if (passed.length >= tier) return Math.max(1, Math.ceil(((passed[0] as number) + MINUTE - now) / 1000));
    passed.push(now);
    return 0;
  }

  #takePost(channel: string, now: number): number {
    const bucket = this.#posts.get(channel) ?? { tokens: POST_BURST, at: now };
    bucket.tokens = Math.min(POST_BURST, bucket.tokens + (now - bucket.at) / POST_EVERY);
    bucket.at = now;
    this.#posts.set(channel, bucket);
    if (bucket.tokens < 1) return Math.max(1, Math.ceil(((1 - bucket.tokens) * POST_EVERY) / 1000));
    bucket.tokens -= 1;
    return 0;
  }
}
