import type { Json } from "./refusal.ts";
import { shownChannel, shownMember, shownMessage, threadMember } from "./shown.ts";
import type { Dispatch, TwinChannel, TwinMessage, TwinThread, World } from "./state.ts";
import { DM, HAS_THREAD, isThread, PRIVATE_THREAD } from "./state.ts";

/** What becomes of messages and threads: stored here, told to the app as events (its own doings too). */

export const INTENTS = {
  Guilds: 1 << 0,
  GuildMembers: 1 << 1,
  GuildPresences: 1 << 8,
  GuildMessages: 1 << 9,
  DirectMessages: 1 << 12,
  MessageContent: 1 << 15,
} as const;

export type Draft = Pick<TwinMessage, "channel_id" | "author"> & Partial<TwinMessage>;

/** A message with its id and time, not yet anywhere. */
export function makeMessage(world: World, draft: Draft): TwinMessage {
  return {
    id: world.snowflake(),
    type: 0,
    content: "",
    timestamp: new Date(world.now()).toISOString(),
    edited_timestamp: null,
    components: [],
    embeds: [],
    attachments: [],
    flags: 0,
    mentions: [],
    mention_roles: [],
    mention_everyone: false,
    ...draft,
  };
}

/** Puts a message into its channel; a thread comes back from the archive by it. */
export function storeMessage(world: World, draft: Draft): TwinMessage {
  const message = makeMessage(world, draft);
  const channel = channelOf(world, message);
  if (isThread(channel)) wakeThread(world, channel, message);
  world.in(message.channel_id).push(message);
  tellMessage(world, "MESSAGE_CREATE", message);
  world.changed();
  return message;
}

function channelOf(world: World, message: TwinMessage): TwinChannel {
  const channel = world.channels.get(message.channel_id);
  if (!channel) throw new Error(`no channel ${message.channel_id}`);
  return channel;
}

function wakeThread(world: World, channel: TwinThread, message: TwinMessage): void {
  if (channel.thread.archived) changeThread(world, channel, { archived: false });
  channel.thread.activeAt = world.now();
  const speaks = message.author === world.botUserId || message.mentions.includes(world.botUserId);
  if (speaks && message.type !== 21) joinThread(world, channel, world.botUserId);
  channel.thread.members.add(message.author);
}

/** Sends a message's event, each session's copy with or without what people wrote. */
export function tellMessage(world: World, t: "MESSAGE_CREATE" | "MESSAGE_UPDATE", message: TwinMessage): void {
  const channel = channelOf(world, message);
  const direct = channel.type === DM;
  const around = direct
    ? { channel_type: DM }
    : {
        guild_id: world.guildId,
        channel_type: channel.type,
        ...(message.webhook_id === undefined ? { member: shownMember(world, message.author) } : {}),
      };
  const made = t === "MESSAGE_CREATE" && message.nonce !== undefined ? { nonce: message.nonce } : {};
  const both = [true, false].map((content) => structuredClone({ ...shownMessage(world, message, content), ...around, ...made }));
  tell(world, t, direct ? INTENTS.DirectMessages : INTENTS.GuildMessages, channel, (content) => both[content ? 0 : 1] as Json);
}

function tell(world: World, t: string, intent: number, channel: TwinChannel, body: Dispatch["body"]): void {
  world.emit({ t, intent, channel, body });
}

function tellGuild(world: World, t: string, channel: TwinChannel, body: Json): void {
  const copy = structuredClone(body);
  tell(world, t, INTENTS.Guilds, channel, () => copy);
}

/** Changes a message in place. `edited` is false for changes that are no edits, such as a thread that begins at it. */
export function changeMessage(world: World, message: TwinMessage, change: Partial<TwinMessage>, edited = true): void {
  world.earlier.set(message.id, [...(world.earlier.get(message.id) ?? []), message.components]);
  Object.assign(message, change);
  if (edited) message.edited_timestamp = new Date(world.now()).toISOString();
  tellMessage(world, "MESSAGE_UPDATE", message);
  world.changed();
}

export function removeMessage(world: World, message: TwinMessage): void {
  const channel = channelOf(world, message);
  const list = world.in(channel.id);
  list.splice(list.indexOf(message), 1);
  const direct = channel.type === DM;
  const body = { id: message.id, channel_id: channel.id, ...(direct ? {} : { guild_id: world.guildId }) };
  tell(world, "MESSAGE_DELETE", direct ? INTENTS.DirectMessages : INTENTS.GuildMessages, channel, () => body);
  world.changed();
}

/** A channel with its threads, or one thread, is gone. */
export function removeChannel(world: World, channel: TwinChannel): void {
  for (const thread of world.threadsOf(channel.id)) world.channels.delete(thread.id);
  tellGuild(world, isThread(channel) ? "THREAD_DELETE" : "CHANNEL_DELETE", channel, shownChannel(world, channel));
  world.channels.delete(channel.id);
  world.changed();
}

export interface NewThread {
  /** The message that it starts at; the thread takes its id. */
  root?: TwinMessage | undefined;
  /** Given by a test, else made. */
  id?: string | undefined;
  parent: TwinChannel;
  type: number;
  name: string;
  ownerId: string;
  autoArchive: number;
}

/** Opens a thread and tells of it; its starter becomes a member. */
export function openThread(world: World, wanted: NewThread): TwinChannel {
  const now = world.now();
  const channel = {
    id: wanted.root?.id ?? wanted.id ?? world.snowflake(),
    type: wanted.type,
    name: wanted.name,
    lacks: [],
    thread: {
      parentId: wanted.parent.id,
      ownerId: wanted.ownerId,
      archived: false,
      locked: false,
      autoArchive: wanted.autoArchive,
      archivedAt: now,
      createdAt: now,
      activeAt: now,
      members: new Set([wanted.ownerId]),
    },
  };
  world.channels.set(channel.id, channel);
  tellGuild(world, "THREAD_CREATE", channel, { ...shownChannel(world, channel), newly_created: true });
  if (wanted.ownerId === world.botUserId) tellJoined(world, channel, world.botUserId);
  if (wanted.root) {
    changeMessage(world, wanted.root, { flags: wanted.root.flags | HAS_THREAD }, false);
    const message_reference = { type: 0, message_id: wanted.root.id, channel_id: wanted.parent.id, guild_id: world.guildId };
    storeMessage(world, { channel_id: channel.id, author: wanted.root.author, type: 21, message_reference });
  }
  world.changed();
  return channel;
}

/** Makes somebody a member; the app hears of itself alone, and of a private thread only then. */
export function joinThread(world: World, channel: TwinThread, user: string): void {
  if (channel.thread.members.has(user)) return;
  channel.thread.members.add(user);
  if (user !== world.botUserId) return;
  if (channel.type === PRIVATE_THREAD) tellGuild(world, "THREAD_CREATE", channel, shownChannel(world, channel));
  tellJoined(world, channel, user);
}

function tellJoined(world: World, channel: TwinChannel, user: string): void {
  tellGuild(world, "THREAD_MEMBERS_UPDATE", channel, {
    id: channel.id,
    guild_id: world.guildId,
    member_count: channel.thread?.members.size ?? 0,
    added_members: [threadMember(world, channel.id, user)],
  });
}

export interface ThreadChange {
  name?: string;
  archived?: boolean;
  locked?: boolean;
  autoArchive?: number;
}

export function changeThread(world: World, channel: TwinThread, change: ThreadChange): void {
  const { name, ...rest } = change;
  if (name !== undefined) channel.name = name;
  if (rest.archived !== undefined && rest.archived !== channel.thread.archived) {
    channel.thread.archivedAt = world.now();
    if (!rest.archived) channel.thread.activeAt = world.now();
  }
  Object.assign(channel.thread, rest);
  tellGuild(world, "THREAD_UPDATE", channel, shownChannel(world, channel));
  world.changed();
}

/** Archives the threads that have been quiet for too long by the twin's clock. */
export function archiveQuiet(world: World): void {
  for (const channel of world.channels.values()) {
    if (!isThread(channel) || channel.thread.archived) continue;
    if (world.now() - channel.thread.activeAt >= channel.thread.autoArchive * 60_000) changeThread(world, channel, { archived: true });
  }
}

/** Whom a text pings, all of it allowed: user ids that exist, role ids that exist. */
export function mentionsIn(world: World, content: string): { users: string[]; roles: string[]; everyone: boolean } {
  const found = (pattern: RegExp, known: (id: string) => boolean): string[] =>
    [...new Set([...content.matchAll(pattern)].map((match) => match[1] as string))].filter(known);
  return {
    users: found(/<@!?(\d+)>/g, (id) => world.users.has(id)),
    roles: found(/<@&(\d+)>/g, (id) => world.roles.has(id)),
    everyone: /@(?:everyone|here)\b/.test(content),
  };
}

/** One line a message, for people who read a failed test. */
export function dumpThreads(world: World): string {
  const lines: string[] = [];
  for (const [channel, messages] of world.messages) {
    for (const message of messages) {
      const components = message.components.length > 0 ? ` components=${JSON.stringify(message.components).slice(0, 400)}` : "";
      const name = world.users.get(message.author)?.name ?? message.author;
      lines.push(`${channel} ${message.id} type ${message.type} ${name}: ${message.content.slice(0, 300)}${components}`);
    }
  }
  for (const { user, message } of world.ephemerals) lines.push(`(only ${user}) ${message.content}`);
  return lines.join("\n") || "(no messages)";
}
