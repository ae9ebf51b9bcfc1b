import { Client, DiscordjsErrorCodes, Events, GatewayDispatchEvents, Options, SimpleShardingStrategy } from "discord.js";
import { DeckhandError, messageOf } from "../../core/errors.ts";
import type { Clock, Trace } from "../../core/ports.ts";
import { type Access, restOptions } from "./api.ts";
import { innermost } from "../../core/network.ts";

/** The events that are for us, by Discord's names; `data` is as it came. */
export type OnEvent = (name: GatewayDispatchEvents, data: unknown) => void;

export interface ConnectionOptions extends Access {
  intents: number;
  clock: Clock;
  trace: Trace;
  onEvent: OnEvent;
  /** A session has begun; `resumed`: nothing was missed. */
  onUp: (resumed: boolean) => void;
}

/** Why a connection is over for good. `refused`: Discord will not have it, with the close code if it gave one. */
export type Ending = { kind: "stopped" } | { kind: "lost"; why: string } | { kind: "refused"; code: number | null };

export interface Connection {
  client: Client;
  over: Promise<Ending>;
}

const HEARD = [
  GatewayDispatchEvents.MessageCreate,
  GatewayDispatchEvents.MessageUpdate,
  GatewayDispatchEvents.MessageDelete,
  GatewayDispatchEvents.MessageDeleteBulk,
  GatewayDispatchEvents.InteractionCreate,
];

const WATCH_EVERY_MS = 5_000;
/** Not connected for so long, the SDK has got stuck: its own attempts come every few seconds. */
const DOWN_MAX_MS = 60_000;
/** Discord asks for a heartbeat every 41 s; the SDK replaces a connection whose heartbeat stays unanswered, we the rest. */
const SILENT_MAX_MS = 150_000;
const CLOSE_MS = 1_000;

/**
 * Opens one session and keeps it while the SDK can, through reconnects and resumes. Events are taken as they come from
 * the wire, so that live messages and those of the history are read by the same code.
 */
export function connect(options: ConnectionOptions, signal: AbortSignal): Connection {
  const over = Promise.withResolvers<Ending>();
  const { client, end } = quietClient(options);
  const { clock, trace } = options;
  let upSince: number | null = null;
  let downSince = clock.now();
  const up = (resumed: boolean): void => {
    upSince = clock.now();
    trace.info("discord.connected", { resumed });
    options.onUp(resumed);
  };
  const down = (): void => {
    if (upSince === null) return;
    trace.info("discord.disconnected");
    downSince = clock.now();
    upSince = null;
  };
  client.ws.on(GatewayDispatchEvents.Ready, () => up(false));
  client.ws.on(GatewayDispatchEvents.Resumed, () => up(true));
  for (const name of HEARD) client.ws.on(name, (data: unknown) => options.onEvent(name, data));
  client.on(Events.ShardReconnecting, down);
  client.on(Events.ShardDisconnect, ({ code }) => over.resolve({ kind: "refused", code }));
  client.on(Events.ShardError, (error) => trace.warn("discord.socket", { error: messageOf(error) }));
  client.on(Events.Error, (error) => trace.warn("discord.client", { error: messageOf(error) }));
  signal.addEventListener("abort", () => over.resolve({ kind: "stopped" }), { once: true });
  if (signal.aborted) over.resolve({ kind: "stopped" });

  const watched = new AbortController();
  const watch = async (): Promise<void> => {
    while (!watched.signal.aborted) {
      await clock.sleep(WATCH_EVERY_MS, watched.signal);
      const now = clock.now();
      const heartbeat = client.ws.shards.first()?.lastPingTimestamp ?? 0;
      if (upSince === null && now - downSince > DOWN_MAX_MS) over.resolve({ kind: "lost", why: "no connection" });
      if (upSince !== null && now - Math.max(upSince, heartbeat) > SILENT_MAX_MS) over.resolve({ kind: "lost", why: "no heartbeat" });
    }
  };
  const finished = over.promise.finally(async () => {
    watched.abort();
    await end();
  });
  void watch();
  client.login(options.token).catch((error: unknown) => over.resolve(failedLogin(error)));
  return { client, over: finished };
}

function failedLogin(error: unknown): Ending {
  const isRefused = error instanceof Error && "code" in error && error.code === DiscordjsErrorCodes.TokenInvalid;
  return isRefused ? { kind: "refused", code: null } : { kind: "lost", why: innermost(error) };
}

/** A client that keeps no messages, calls nobody by its posts, and can be ended at any time. */
function quietClient({ apiUrl, intents, trace }: ConnectionOptions): { client: Client; end: () => Promise<void> } {
  let ended = false;
  const client: Client = new Client({
    intents,
    allowedMentions: { parse: [], repliedUser: false },
    rest: restOptions(apiUrl),
    // One process serves it all; Discord allows that up to 2,500 servers.
    shards: [0],
    shardCount: 1,
    makeCache: Options.cacheWithLimits({
      MessageManager: 0,
      GuildMemberManager: { maxSize: 100, keepOverLimit: (member) => member.id === client.user?.id },
      UserManager: { maxSize: 100, keepOverLimit: (user) => user.id === client.user?.id },
    }),
    ws: {
      buildStrategy: (manager) => {
        const kept = manager.options.retrieveSessionInfo;
        // A client that is ended between two attempts would go on connecting for ever: here it waits instead.
        manager.options.retrieveSessionInfo = (shard) => (ended ? new Promise(() => undefined) : kept(shard));
        return new SimpleShardingStrategy(manager);
      },
    },
  });
  return {
    client,
    end: async () => {
      ended = true;
      client.ws.removeAllListeners();
      const closed = client.destroy().catch((error: unknown) => trace.warn("discord.close", { error: messageOf(error) }));
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      await Promise.race([closed, late]);
      clearTimeout(timer);
    },
  };
}

const WORDS: Record<number, string> = {
  4010: "it was asked for a wrong shard",
  4011: "the bot is in too many servers for one connection",
  4012: "the version of the Gateway is not served any more; update Deckhand",
  4013: "the intents are not valid; update Deckhand",
  4014: "the application has not been given the intents",
};

/** DISCORD_AUTH, DISCORD_INTENTS or DISCORD_DOWN for a connection that Discord will not have. */
export function refusalError(code: number | null): DeckhandError {
  if (code === null || code === 4004) return new DeckhandError("DISCORD_AUTH", code === null ? "401" : "close code 4004");
  return new DeckhandError(code === 4014 || code === 4013 ? "DISCORD_INTENTS" : "DISCORD_DOWN", `${WORDS[code] ?? "closed"} (${code})`);
}
