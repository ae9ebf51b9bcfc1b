import { bits } from "./permissions.ts";
import type { Json } from "./refusal.ts";
import type { TwinChannel, TwinMessage, TwinThread, World } from "./state.ts";
import { DM, FORUM, isThread } from "./state.ts";

/** The twin's things as the API shows them. */

const JOINED = "2020-01-01T00:00:00.000000+00:00";

export function shownUser(world: World, id: string): Json {
  const user = world.users.get(id) ?? { id, name: "unknown", bot: false };
  return {
    id,
    username: user.name,
    global_name: user.bot ? null : user.name,
    discriminator: user.bot ? "0001" : "0",
    avatar: null,
    bot: user.bot ?? false,
    public_flags: 0,
  };
}

/** Without its user: events carry that beside it. */
export function shownMember(world: World, id: string): Json {
  return {
    roles: world.members.get(id) ?? [],
    nick: null,
    avatar: null,
    joined_at: JOINED,
    premium_since: null,
    deaf: false,
    mute: false,
    flags: 0,
    pending: false,
    communication_disabled_until: null,
  };
}

export function shownRole(world: World, id: string): Json {
  const everyone = id === world.guildId;
  return {
    id,
    name: world.roles.get(id)?.name ?? "",
    color: 0,
    colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
    hoist: false,
    position: everyone ? 0 : 1,
    permissions: id === world.botRoleId ? String(bits(world.permissions)) : "0",
    managed: id === world.botRoleId,
    mentionable: false,
    flags: 0,
    ...(id === world.botRoleId ? { tags: { bot_id: world.botUserId } } : {}),
  };
}

export function shownChannel(world: World, channel: TwinChannel): Json {
  const last = world.in(channel.id).at(-1)?.id ?? null;
  const base = { id: channel.id, type: channel.type, last_message_id: last, flags: 0 };
  if (channel.type === DM) return { ...base, recipients: [shownUser(world, channel.recipient ?? "")] };
  const named = { ...base, guild_id: world.guildId, name: channel.name, nsfw: false, rate_limit_per_user: 0 };
  if (isThread(channel)) return { ...named, ...threadFields(world, channel) };
  const overwrites = channel.lacks.length === 0 ? [] : [{ id: world.botRoleId, type: 0, allow: "0", deny: String(bits(channel.lacks)) }];
  const forum = channel.type === FORUM ? { available_tags: [], default_reaction_emoji: null, default_sort_order: null } : {};
  return { ...named, position: 0, permission_overwrites: overwrites, parent_id: null, topic: null, ...forum };
}

function threadFields(world: World, channel: TwinThread): Json {
  const { thread } = channel;
  const count = world.in(channel.id).filter((message) => message.type !== 21 && message.id !== channel.id).length;
  return {
    parent_id: thread.parentId,
    owner_id: thread.ownerId,
    message_count: count,
    total_message_sent: count,
    member_count: thread.members.size,
    thread_metadata: {
      archived: thread.archived,
      locked: thread.locked,
      auto_archive_duration: thread.autoArchive,
      archive_timestamp: new Date(thread.archivedAt).toISOString(),
      create_timestamp: new Date(thread.createdAt).toISOString(),
      ...(channel.type === 12 ? { invitable: true } : {}),
    },
    ...(thread.members.has(world.botUserId) ? { member: threadMember(world, channel.id, world.botUserId) } : {}),
  };
}

export function threadMember(world: World, thread: string, user: string): Json {
  return { id: thread, user_id: user, join_timestamp: new Date(world.now()).toISOString(), flags: 0 };
}

/** Whether an app without the Message Content intent gets what is in this message. */
function openToAll(world: World, message: TwinMessage): boolean {
  const direct = world.channels.get(message.channel_id)?.type === DM;
  return direct || message.author === world.botUserId || message.mentions.includes(world.botUserId);
}

/** As the API shows it, without its nonce: that comes with the answer and the event of its making alone. Without `content` what people wrote is empty, but for the documented exceptions. */
export function shownMessage(world: World, message: TwinMessage, content: boolean): Json {
  const { author, mentions, attachments, nonce: _nonce, ...rest } = message;
  const open = content || openToAll(world, message);
  const hidden = open ? {} : { content: "", embeds: [], components: [] };
  const thread = world.channels.get(message.id);
  const shown: Json = {
    ...rest,
    ...hidden,
    author: shownUser(world, author),
    mentions: mentions.map((id) => shownUser(world, id)),
    attachments: open ? attachments.map((file) => shownAttachment(world, message, file)) : [],
    tts: false,
    pinned: false,
  };
  const reference = message.message_reference;
  if (reference?.message_id !== undefined) {
    const original = world.message(reference.channel_id, reference.message_id);
    shown.referenced_message = original ? shownMessage(world, { ...original, message_reference: undefined }, content) : null;
  }
  if (thread && isThread(thread) && thread.thread.parentId === message.channel_id) shown.thread = shownChannel(world, thread);
  return shown;
}

/** An attachment's address is good for a day. */
const ADDRESS_MS = 24 * 60 * 60_000;

function shownAttachment(world: World, message: TwinMessage, file: TwinMessage["attachments"][number]): Json {
  const until = Math.floor((world.now() + ADDRESS_MS) / 1000).toString(16);
  const url = `${world.cdnUrl}/attachments/${message.channel_id}/${file.id}/${encodeURIComponent(file.filename)}?ex=${until}&is=${Math.floor(world.now() / 1000).toString(16)}&hm=${file.id}`;
  return { ...file, url, proxy_url: url };
}

/** The guild as it comes at the start: channels and active threads that the bot sees, roles, itself as member. */
export function shownGuild(world: World): Json {
  const channels = [...world.channels.values()].filter((channel) => channel.type !== DM);
  const people = [...world.members.keys()].map((id) => ({ ...shownMember(world, id), user: shownUser(world, id) }));
  return {
    ...bareGuild(world),
    joined_at: JOINED,
    large: false,
    unavailable: false,
    member_count: people.length,
    members: people.filter(({ user }) => user.id === world.botUserId),
    channels: channels.filter((channel) => !channel.thread).map((channel) => shownChannel(world, channel)),
    threads: channels
      .filter((channel) => channel.thread?.archived === false && world.sees(channel))
      .map((channel) => shownChannel(world, channel)),
    voice_states: [],
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}

export function bareGuild(world: World): Json {
  return {
    id: world.guildId,
    name: "twin",
    icon: null,
    splash: null,
    owner_id: "100000000000000001",
    afk_channel_id: null,
    afk_timeout: 300,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    roles: [...world.roles.keys()].map((id) => shownRole(world, id)),
    emojis: [],
    stickers: [],
    features: [],
    mfa_level: 0,
    system_channel_id: null,
    system_channel_flags: 0,
    rules_channel_id: null,
    premium_tier: 0,
    preferred_locale: "en-US",
    nsfw_level: 0,
    premium_progress_bar_enabled: false,
  };
}
