import { createHash, randomUUID } from "node:crypto";
import { discordChat } from "../../../src/chat/discord/discord.ts";
import type { Inbound } from "../../../src/core/inbound.ts";
import type { Log } from "../../../src/core/log.ts";
import type { Chat, Clock, Reply } from "../../../src/core/ports.ts";
import type { Post } from "../../../src/core/post.ts";
import { memoryLog } from "../../../src/memory.ts";
import { type DiscordTwin, type DiscordTwinOptions, startDiscordTwin } from "../../../src/twin/discord/twin.ts";
import { listTrace, realClock } from "../slack/kit.ts";

export const ADA = "100000000000000011";
export const BOB = "100000000000000012";
export const GENERAL = "400000000000000021";
export const FORUM = "400000000000000022";
export const DIRECT = "400000000000000023";
export const OPS_ROLE = "500000000000000031";

export const ids = {
  call: () => "call00001",
  token: () => randomUUID(),
  digest: (text: string) => createHash("sha256").update(text).digest("hex"),
};

export interface Room {
  twin: DiscordTwin;
  chat: Chat;
  log: Log;
  trace: ReturnType<typeof listTrace>;
  /** Every arrival that was kept, also the second of the same event. */
  arrived: Inbound[];
  /** Ids of the events, each once, in order of arrival. */
  events(): string[];
  /** Replaces what happens to an arrival before it counts as kept. */
  onArrive(act: (inbound: Inbound) => Promise<Reply>): void;
  /** Begins to hear; `openRoom` has done so unless told otherwise. */
  start(): Promise<void>;
  heard<K extends Inbound["kind"]>(kind: K, count?: number): Promise<Extract<Inbound, { kind: K }>>;
  told(event: string, count?: number): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export interface RoomOptions {
  twin?: DiscordTwinOptions;
  log?: Log;
  clock?: Clock;
  watch?: string[];
  token?: string;
  /** A server that is there already; it stays open at `close`. */
  reuse?: DiscordTwin;
  started?: boolean;
}

/** A server with two people, a channel, a forum and a direct channel, and our wire connected to it. */
export async function openRoom(options: RoomOptions = {}): Promise<Room> {
  const twin = options.reuse ?? (await startDiscordTwin(options.twin));
  if (!options.reuse) furnish(twin);
  const clock = options.clock ?? realClock;
  const log = options.log ?? memoryLog(clock);
  const trace = listTrace();
  const watch = options.watch ?? [`discord:${GENERAL}`, `discord:${FORUM}`, "slack:C1"];
  const chat = discordChat({ token: options.token ?? twin.token, apiUrl: twin.apiUrl, trace, log, clock, ids, watch });
  const arrived: Inbound[] = [];
  let act: (inbound: Inbound) => Promise<Reply> = openIt;
  const arrive = async (inbound: Inbound): Promise<Reply> => {
    const reply = await act(inbound);
    arrived.push(inbound);
    return reply;
  };
  const room: Room = {
    twin,
    chat,
    log,
    trace,
    arrived,
    events: () => [...new Set(arrived.map((inbound) => inbound.event))],
    onArrive: (next) => {
      act = next;
    },
    start: () => chat.start(arrive),
    heard: async (kind, count = 1) => (await twin.waitFor(() => arrived.filter((each) => each.kind === kind)[count - 1])) as never,
    told: (event, count = 1) => twin.waitFor(() => trace.told.filter((each) => each.event === event)[count - 1]?.fields),
    close: async () => {
      await chat.stop();
      if (!options.reuse) await twin.close();
    },
  };
  if (options.started !== false) await room.start();
  return room;
}

/** What the core does with a mention that counts. */
export async function openIt(inbound: Inbound): Promise<Reply> {
  if (inbound.kind === "mention") await inbound.open?.();
  return {};
}

function furnish(twin: DiscordTwin): void {
  twin.addUser({ id: ADA, name: "Ada" });
  twin.addUser({ id: BOB, name: "Bob" });
  twin.addRole({ id: OPS_ROLE, name: "ops" });
  twin.addChannel({ id: GENERAL, name: "general" });
  twin.addChannel({ id: FORUM, name: "questions", type: "forum" });
  twin.addChannel({ id: DIRECT, name: "", type: "dm", user: ADA });
}

/** Ada mentions the bot in the channel; the thread that begins there has the message's id. */
export async function ask(room: Room, text: string, user = ADA): Promise<string> {
  const { id } = await room.twin.say({ channel: GENERAL, user, text: `<@${room.twin.botUserId}> ${text}` });
  return id;
}

/** Begins a thread by a mention and waits until it is there. */
export async function openThread(room: Room, text = "hello"): Promise<{ id: string; key: string }> {
  const id = await ask(room, text);
  await room.twin.waitFor(() => room.arrived.some((each) => each.event === eventOf(GENERAL, id)));
  return { id, key: keyOf(room, id) };
}

export function keyOf({ twin }: Pick<Room, "twin">, thread: string): string {
  return `discord:${twin.guildId}:${thread}`;
}

export function eventOf(channel: string, message: string): string {
  return `discord:${channel}:${message}`;
}

export function post(blocks: Post["blocks"], more: Partial<Post> = {}): Post {
  return { key: "k", lane: "output", blocks, ...more };
}
