import { WebAPIPlatformError, WebAPIRateLimitedError, type WebClient } from "@slack/web-api";
import { CatchUp, hearAll } from "../../core/catch-up.ts";
import { parseSlackThread } from "../../core/inbound.ts";
import type { Log } from "../../core/log.ts";
import type { Clock, Trace } from "../../core/ports.ts";
import { LIMITS } from "../../limits.ts";
import { codeOf } from "./refusals.ts";

/** A message of the history, as Slack gives it. */
type Raw = Record<string, unknown> & { ts: string; latest_reply?: string; thread_ts?: string };

export interface BackfillOptions {
  client: WebClient;
  log: Pick<Log, "mark" | "marked" | "threadsSince">;
  clock: Clock;
  trace: Trace;
  /** Ids of the channels to look through. */
  channels: string[];
  /** Walks a message through the same corridor as a live event. Rejects when it was not kept. */
  hear: (event: Record<string, unknown>) => Promise<void>;
}

/** Looked at again before each mark: what was under way at a crash, and what came late. Longer than Slack's last retry. */
const OVERLAP_MS = 10 * 60_000;
/** A mark is written at most this often for a channel; the overlap covers it. */
const MARK_EVERY_MS = 30_000;
const PAGE = 200;
/** Tier 3 allows 50 calls a minute for everything; after a few free ones we take one every 1.5 s. */
const FREE_CALLS = 15;
const PACE_MS = 1_500;
/** A channel or thread that is not ours (any more) has nothing for us. */
const NOT_OURS = new Set(["channel_not_found", "not_in_channel", "is_archived", "thread_not_found", "missing_scope", "message_not_found"]);

/**
 * Finds the messages of an absence. Marks (`slack:seen:C1`, a Slack ts) say up to where a channel is known; they
 * move only while nothing is missing. The first start of all sets the marks and looks at nothing older.
 */
export class Backfill {
  readonly #options: BackfillOptions;
  readonly #marks = new Map<string, number>();
  readonly #catchUp: CatchUp<Record<string, unknown>>;

  constructor(options: BackfillOptions) {
    this.#options = options;
    this.#catchUp = new CatchUp({ ...options, platform: "slack", look: (signal, aside) => this.#lookThrough(signal, aside) });
  }

  /** Something may be missing: look, after `delayMs`, and again until a whole look succeeded. */
  catchUp(delayMs = 0): void {
    this.#catchUp.want(delayMs);
  }

  /** A live event was not kept: it is heard again after `delayMs`, when Slack may have given up sending it. */
  missed(event: Record<string, unknown>, delayMs: number): void {
    this.#catchUp.wantAgain(event, delayMs);
  }

  /** A live message was kept. Moves its channel's mark when nothing before it is missing. */
  async saw(channel: string, ts: string): Promise<void> {
    const at = Number(ts) * 1000;
    if (!this.#catchUp.isWhole || at < (this.#marks.get(channel) ?? 0) + MARK_EVERY_MS) return;
    await this.#mark(channel, at);
  }

  async stop(): Promise<void> {
    await this.#catchUp.stop();
  }

  async #lookThrough(signal: AbortSignal, aside: readonly Record<string, unknown>[]): Promise<void> {
    const { clock, log, trace, channels } = this.#options;
    const now = clock.now();
    // A Redis that takes nothing: then nobody need ask Slack.
    await log.mark("slack:looked", String(now));
    const horizon = now - LIMITS.backfillHorizon;
    const reader = new Reader(this.#options, signal);
    const missed: Record<string, unknown>[] = [...aside];
    const marks = new Map<string, number>();
    const open = (await log.threadsSince(horizon)).filter((key) => key.startsWith("slack:")).map(parseSlackThread);
    const all = new Set([...channels, ...open.map((thread) => thread.channel)]);
    for (const channel of all) {
      const mark = await log.marked(`slack:seen:${channel}`);
      // Slack's time, not ours, which may have been wrong: a mark ahead of both would hide what is said until then.
      const known = Math.min(mark === null ? now : Number(mark) * 1000, now);
      marks.set(channel, known);
      const since = mark === null ? horizon : Math.max(known - OVERLAP_MS, horizon);
      const threads = new Set(open.filter((thread) => thread.channel === channel).map((thread) => thread.ts));
      if (channels.includes(channel) && mark !== null) missed.push(...(await reader.channel(channel, horizon, since, threads)));
      for (const thread of threads) missed.push(...(await reader.thread(channel, thread, since)));
    }
    missed.sort((a, b) => timeOf(a) - timeOf(b));
    await hearAll(missed, this.#options.hear, signal);
    if (signal.aborted) return;
    for (const [channel, known] of marks) {
      const heard = missed.filter((message) => message["channel"] === channel).map(timeOf);
      await this.#mark(
        channel,
        heard.reduce((newest, at) => Math.max(newest, at), known),
      );
    }
    trace.info("slack.backfilled", { channels: all.size, messages: missed.length });
  }

  async #mark(channel: string, at: number): Promise<void> {
    await this.#options.log.mark(`slack:seen:${channel}`, slackTs(at));
    this.#marks.set(channel, at);
  }
}

/** Milliseconds since 1970. */
function timeOf(message: Record<string, unknown>): number {
  return Number(message["ts"]) * 1000;
}

/** Pages of history, gently; a 429 is waited out. */
class Reader {
  readonly #options: BackfillOptions;
  readonly #signal: AbortSignal;
  #calls = 0;

  constructor(options: BackfillOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /**
   * Messages of a channel after `since`. A young root with young replies is added to `threads`; an open thread
   * that the history shows to be quiet is taken out.
   */
  async channel(channel: string, horizon: number, since: number, threads: Set<string>): Promise<Raw[]> {
    const roots = await this.#pages(channel, (cursor) =>
      this.#options.client.conversations.history({ channel, oldest: slackTs(horizon), limit: PAGE, ...cursor }),
    );
    for (const root of roots) {
      const replied = root.latest_reply !== undefined && Number(root.latest_reply) * 1000 > since;
      if (replied) threads.add(root.ts);
      else threads.delete(root.ts);
    }
    return roots.filter((root) => Number(root.ts) * 1000 > since);
  }

  async thread(channel: string, ts: string, since: number): Promise<Raw[]> {
    const messages = await this.#pages(channel, (cursor) =>
      this.#options.client.conversations.replies({ channel, ts, oldest: slackTs(since), limit: PAGE, ...cursor }),
    );
    return messages.filter((message) => message.ts !== ts && Number(message.ts) * 1000 > since);
  }

  async #pages(
    channel: string,
    get: (cursor: { cursor?: string }) => Promise<{ messages?: unknown[]; response_metadata?: { next_cursor?: string } }>,
  ): Promise<Raw[]> {
    const found: Raw[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#call(() => get(cursor ? { cursor } : {}));
      if (page === null) return found;
      found.push(...((page.messages ?? []) as Raw[]).map((message) => ({ ...message, type: "message", channel })));
      cursor = page.response_metadata?.next_cursor;
    } while (cursor && !this.#signal.aborted);
    return found;
  }

  /** null when the channel or thread is not ours. */
  async #call<T>(get: () => Promise<T>): Promise<T | null> {
    const { clock, trace } = this.#options;
    for (;;) {
      this.#calls += 1;
      if (this.#calls > FREE_CALLS) await clock.sleep(PACE_MS, this.#signal);
      if (this.#signal.aborted) return null;
      try {
        return await get();
      } catch (error) {
        if (error instanceof WebAPIPlatformError && NOT_OURS.has(codeOf(error))) {
          trace.warn("slack.backfill-skipped", { error: codeOf(error) });
          return null;
        }
        if (!(error instanceof WebAPIRateLimitedError)) throw error;
        await clock.sleep(error.retryAfter * 1000, this.#signal);
      }
    }
  }
}

/** Milliseconds as Slack writes a time. */
export function slackTs(ms: number): string {
  return (Math.max(ms, 0) / 1000).toFixed(6);
}
