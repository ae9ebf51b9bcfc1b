import { GatewayDispatchEvents as On } from "discord.js";
import type { Person } from "../../core/entry.ts";
import { messageOf } from "../../core/errors.ts";
import { channelIds, type Inbound, parseDiscordThread } from "../../core/inbound.ts";
import { lines } from "../../core/lines.ts";
import type { Log } from "../../core/log.ts";
import { untilDone } from "../../core/patience.ts";
import type { Clock, Ids, Reply, Trace } from "../../core/ports.ts";
import { LIMITS } from "../../limits.ts";
import type { Access, Api } from "./api.ts";
import { Backfill } from "./backfill.ts";
import { contentMissing, Gateway } from "./gateway.ts";
import { NotOpened, openThread } from "./opening.ts";
import { say } from "./out.ts";
import { areOurs, discordPeople } from "./people.ts";
import { discordPlaces, type Place } from "./places.ts";
import { answerPress } from "./press.ts";
import { type Heard, type Ignored, type Pressed, readEdit, readMessage, readPress, readRemovals, type Self } from "./read.ts";
import type { Label } from "./text.ts";

export interface EarsOptions extends Access {
  trace: Trace;
  log: Pick<Log, "mark" | "marked" | "threadsSince" | "once" | "lease">;
  clock: Clock;
  ids: Pick<Ids, "token">;
  /** Channel keys to look through after an absence, as in DECKHAND_CHANNELS; those of other platforms are left out. */
  watch: string[];
}

type Arrive = (inbound: Inbound) => Promise<Reply>;

/** Stands for whoever removed a message; the core goes by its writer. */
const SOMEBODY: Person = { key: "discord:somebody", name: "somebody", kind: "external", roles: [] };
/** After an outage the next look comes soon, but not while it lasts. */
const NOT_KEPT_MS = 5_000;

/** Everything that hears Discord: the gateway, who and where, the threads that mentions begin, the backfill. */
export class Ears {
  readonly #options: EarsOptions;
  readonly #api: Api;
  readonly #self: Self;
  readonly #arrive: Arrive;
  readonly #gateway: Gateway;
  readonly #backfill: Backfill;
  readonly #placeOf: ReturnType<typeof discordPlaces>;
  readonly #personOf: ReturnType<typeof discordPeople>;
  readonly #inLine = lines();
  readonly #underWay = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  constructor(options: EarsOptions, api: Api, self: Self, arrive: Arrive) {
    this.#options = options;
    this.#api = api;
    this.#self = self;
    this.#arrive = arrive;
    this.#gateway = new Gateway({
      ...options,
      holder: options.ids.token(),
      onEvent: (name, data) => this.#take(name, data),
      onUp: (resumed) => this.#onUp(resumed),
    });
    const channels = channelIds("discord", options.watch);
    this.#placeOf = discordPlaces({ api, clock: options.clock, client: () => this.#gateway.client });
    this.#personOf = discordPeople({ api, clock: options.clock, isOurs: () => areOurs(channels, this.#servers) });
    const hear = (message: unknown): Promise<void> => this.#hear(readMessage(message, self));
    this.#backfill = new Backfill({ ...options, api, channels, placeOf: this.#placeOf, hear });
  }

  async start(): Promise<void> {
    await this.#gateway.start();
  }

  /** Takes nothing new, finishes what is under way, then closes. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#underWay);
    await this.#gateway.stop();
    await this.#backfill.stop();
  }

  get #servers(): number {
    return this.#gateway.client?.guilds.cache.size ?? 0;
  }

  #onUp(resumed: boolean): void {
    const servers = this.#servers;
    if (!areOurs(channelIds("discord", this.#options.watch), servers)) {
      const hint = "Name the channels in DECKHAND_CHANNELS: until then nobody counts as a member, only people listed by id.";
      this.#options.trace.warn("discord.many-servers", { servers, hint });
    }
    if (!resumed) this.#backfill.catchUp();
  }

  #take(name: On, data: unknown): void {
    if (this.#ending.signal.aborted) return;
    for (const reading of this.#read(name, data)) {
      if (reading.kind === "ignored") continue;
      const work = (reading.kind === "pressed" ? this.#press(reading) : this.#live(reading, data)).finally(() =>
        this.#underWay.delete(work),
      );
      this.#underWay.add(work);
    }
  }

  #read(name: On, data: unknown): (Heard | Pressed | Ignored)[] {
    if (name === On.MessageCreate) return [readMessage(data, this.#self)];
    if (name === On.MessageUpdate) return [readEdit(data, this.#self)];
    return name === On.InteractionCreate ? [readPress(data)] : readRemovals(data);
  }

  /** Never rejects. */
  async #live(reading: Heard, data: unknown): Promise<void> {
    const { clock, trace } = this.#options;
    const onFailure = (error: unknown): void => trace.warn("discord.not-kept", { message: reading.message, error: messageOf(error) });
    if (reading.change !== "none") {
      await untilDone(() => this.#hear(reading), { clock, signal: this.#ending.signal, onFailure });
      return;
    }
    try {
      await this.#hear(reading);
      await this.#backfill.saw(reading.message);
    } catch (error) {
      onFailure(error);
      this.#backfill.missed(data, NOT_KEPT_MS);
    }
  }

  /** Rejects when it was not kept. */
  async #hear(reading: Heard | Ignored): Promise<void> {
    if (reading.kind === "ignored") return;
    const act = (): Promise<void> => this.#inPlace(reading);
    // A reply must not overtake the mention that opens its conversation, whose thread has the mention's id.
    const opens = reading.isMention && reading.message !== reading.channel;
    const first = (): Promise<void> => (opens ? this.#inLine(reading.message, reading.message, act) : act());
    await this.#inLine(reading.channel, `${reading.message}:${reading.change}`, first);
  }

  async #inPlace(reading: Heard): Promise<void> {
    const place = await this.#placeOf(reading.channel);
    const make = place && reading.at(place);
    if (!place || !make) return;
    const { author, channel, message } = reading;
    const by = author ? await this.#personOf(author.user, place.guild, author.member) : SOMEBODY;
    const open = (name: string): Promise<void> => openThread(this.#api, channel, message, name);
    // Never as one that `begins`: the log is asked before a thread is made, so that none is made while Redis is away.
    for (const inbound of make({ by, label: this.#label(place), open })) await this.#bring(inbound, reading);
  }

  async #bring(inbound: Inbound, { channel, message }: Heard): Promise<void> {
    const { log, trace } = this.#options;
    const tell = async (words: string): Promise<void> => {
      // A live event and a backfill may bring the same thing.
      if (await log.once(`discord:told:${inbound.event}`, LIMITS.seenTime)) await say({ api: this.#api, trace }, channel, words, message);
    };
    try {
      const { whisper } = await this.#arrive(inbound);
      if (whisper) await tell(whisper);
      else if (inbound.kind === "mention" && !this.#gateway.readsAll) await this.#tellContentMissing(inbound.thread.key);
    } catch (error) {
      if (!(error instanceof NotOpened)) throw error;
      trace.error("discord.no-thread", { channel, problem: error.problem.line() });
      await tell(error.message);
    }
  }

  async #tellContentMissing(thread: string): Promise<void> {
    const { log, trace } = this.#options;
    if (!(await log.once("discord:told:content", LIMITS.seenTime))) return;
    trace.warn("discord.no-content", { problem: contentMissing().line() });
    const words =
      "I can read only messages that mention me: please mention me in each one, here too. Whoever runs Deckhand can switch on the Message Content intent of this bot.";
    await say({ api: this.#api, trace }, parseDiscordThread(thread).channel, words);
  }

  async #press(reading: Pressed): Promise<void> {
    const keep = async (): Promise<Reply> => {
      const { press, author } = reading;
      return await this.#arrive(reading.inbound(await this.#personOf(author.user, press.guild_id ?? null, author.member)));
    };
    await answerPress(this.#api, this.#options.trace, reading.press, keep());
  }

  #label({ guild }: Place): Label {
    const client = this.#gateway.client;
    return (kind, id) => {
      if (kind === "role") return client?.guilds.cache.get(guild ?? "")?.roles.cache.get(id)?.name;
      const channel = client?.channels.cache.get(id);
      return channel && "name" in channel ? (channel.name ?? undefined) : undefined;
    };
  }
}
