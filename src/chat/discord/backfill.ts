import { type APIMessage, type APIThreadChannel, type RESTGetAPIGuildThreadsResult, Routes } from "discord.js";
import { CatchUp, hearAll } from "../../core/catch-up.ts";
import { parseDiscordThread } from "../../core/inbound.ts";
import type { Log } from "../../core/log.ts";
import type { Clock, Trace } from "../../core/ports.ts";
import { LIMITS } from "../../limits.ts";
import type { Api } from "./api.ts";
import { historyAfter } from "./history.ts";
import type { PlaceOf } from "./places.ts";
import { chatError } from "./refusals.ts";
import { byAge, idAt, timeOf } from "./snowflake.ts";

export interface BackfillOptions {
  api: Api;
  log: Pick<Log, "mark" | "marked" | "threadsSince">;
  clock: Clock;
  trace: Trace;
  /** Ids of the channels to look through. */
  channels: string[];
  placeOf: PlaceOf;
  /** Walks a message through the same corridor as a live event. Rejects when it was not kept. */
  hear: (message: unknown) => Promise<void>;
}

/** Everything before this id is known: one connection brings all channels, so one mark serves them all. */
const MARK = "discord:seen";
/** Looked at again before the mark: what was under way at a crash, and what came late. */
const OVERLAP_MS = 10 * 60_000;
/** The mark is written at most this often; the overlap covers it. */
const MARK_EVERY_MS = 30_000;

/**
 * Finds the messages of an absence: in the watched channels with their threads, and in every open conversation. The mark
 * moves only while nothing is missing. The first start of all sets it and looks at nothing older in channels.
 */
export class Backfill {
  readonly #options: BackfillOptions;
  readonly #catchUp: CatchUp<APIMessage>;
  #markedAt = 0;

  constructor(options: BackfillOptions) {
    this.#options = options;
    this.#catchUp = new CatchUp({ ...options, platform: "discord", look: (signal, aside) => this.#lookThrough(signal, aside) });
  }

  /** Something may be missing: look, after `delayMs`, and again until a whole look succeeded. */
  catchUp(delayMs = 0): void {
    this.#catchUp.want(delayMs);
  }

  /** A live message was not kept: it is heard again after `delayMs`; Discord does not send it twice. */
  missed(message: unknown, delayMs: number): void {
    this.#catchUp.wantAgain(message as APIMessage, delayMs);
  }

  /** A live message was kept. */
  async saw(id: string): Promise<void> {
    const at = timeOf(id);
    if (this.#catchUp.isWhole && at >= this.#markedAt + MARK_EVERY_MS) await this.#mark(at);
  }

  async stop(): Promise<void> {
    await this.#catchUp.stop();
  }

  async #mark(at: number): Promise<void> {
    await this.#options.log.mark(MARK, idAt(at));
    this.#markedAt = at;
  }

  async #lookThrough(signal: AbortSignal, aside: readonly APIMessage[]): Promise<void> {
    const { clock, log, trace, hear } = this.#options;
    const now = clock.now();
    // A Redis that takes nothing: then nobody need ask Discord.
    await log.mark("discord:looked", String(now));
    const horizon = now - LIMITS.backfillHorizon;
    const mark = await log.marked(MARK);
    // Discord's time, not ours, which may have been wrong: a mark ahead of both would hide what is said until then.
    const known = Math.min(mark === null ? now : timeOf(mark), now);
    const since = idAt(mark === null ? horizon : Math.max(known - OVERLAP_MS, horizon));
    const open = (await log.threadsSince(horizon)).filter((key) => key.startsWith("discord:")).map(parseDiscordThread);
    const places = new Map(open.map(({ guild, channel }) => [channel, guild]));
    const quiet = await this.#addWatched(places, since, mark !== null, signal);
    const missed: APIMessage[] = [...aside];
    for (const [channel, guild] of places) {
      if (quiet.has(channel)) continue;
      const messages = await this.#unlessGone(() => historyAfter(this.#options.api, channel, since, signal));
      missed.push(...(messages ?? []).map((message) => ({ ...message, guild_id: guild })));
    }
    missed.sort((a, b) => byAge(a.id, b.id));
    await hearAll(missed, hear, signal);
    if (signal.aborted) return;
    await this.#mark(Math.max(known, timeOf(missed.at(-1)?.id ?? "0")));
    trace.info("discord.backfilled", { channels: places.size, messages: missed.length });
  }

  /** Adds the watched channels and their busy threads to `places`. Gives the threads in which nothing was said since then. */
  async #addWatched(places: Map<string, string | null>, since: string, withChannels: boolean, signal: AbortSignal): Promise<Set<string>> {
    const { api, channels, placeOf } = this.#options;
    const quiet = new Set<string>();
    const guilds = new Set<string>();
    for (const channel of channels) {
      const place = await placeOf(channel);
      if (place?.guild) guilds.add(place.guild);
      if (place && withChannels) places.set(channel, place.guild);
    }
    for (const guild of guilds) {
      const read = async (): Promise<unknown> => await api.read.get(Routes.guildActiveThreads(guild), { signal });
      const active = (await this.#unlessGone(read)) as RESTGetAPIGuildThreadsResult | null;
      for (const thread of (active?.threads ?? []) as APIThreadChannel[]) {
        if (byAge(thread.last_message_id ?? thread.id, since) < 0) quiet.add(thread.id);
        else if (withChannels && channels.includes(thread.parent_id ?? "")) places.set(thread.id, guild);
      }
    }
    return quiet;
  }

  /** A channel that is not ours (any more), or that holds no messages of its own, has nothing for us. */
  async #unlessGone<T>(read: () => Promise<T>): Promise<T | null> {
    try {
      return await read();
    } catch (error) {
      const { kind, code } = chatError(error).refusal;
      if (kind !== "gone" && kind !== "refused") throw error;
      this.#options.trace.warn("discord.backfill-skipped", { code });
      return null;
    }
  }
}
