import type { Json, TwinChannel, TwinMessage, TwinUser, World } from "./state.ts";
import { channelType, Refusal } from "./state.ts";
import type { Call, Method } from "./method.ts";
import { conversationScope, flag, limitOf, need, optional, page } from "./method.ts";
import { shownMessage, storeMessage } from "./messages.ts";

export const conversationMethods: Record<string, Method> = {
  "conversations.info": { tier: 50, scope: conversationScope("read"), run: info },
  "conversations.replies": { tier: 50, scope: conversationScope("history"), run: replies },
  "conversations.history": { tier: 50, scope: conversationScope("history"), run: history },
  "conversations.list": { tier: 20, scope: listScopes, run: listChannels },
  "conversations.join": { tier: 50, scope: "channels:join", run: join },
  "conversations.open": { tier: 50, scope: "im:write", run: open },
  "users.info": { tier: 100, scope: "users:read", run: userInfo },
};

function shownChannel(channel: TwinChannel): Json {
  const type = channelType(channel.id);
  return {
    id: channel.id,
    name: channel.name,
    is_channel: type === "channel",
    is_group: type === "group",
    is_im: type === "im",
    is_private: type !== "channel",
    is_archived: channel.archived,
    is_member: channel.botIsMember,
    is_shared: channel.shared,
    is_ext_shared: channel.shared,
  };
}

function info({ args, world }: Call): Json {
  return { channel: shownChannel(world.channel(need(args, "channel"))) };
}

const TYPE_SCOPES: Record<string, string> = {
  public_channel: "channels:read",
  private_channel: "groups:read",
  im: "im:read",
  mpim: "mpim:read",
};

function listScopes(args: Json): string[] {
  return (optional(args, "types") ?? "public_channel").split(",").map((type) => TYPE_SCOPES[type] ?? "channels:read");
}

function listChannels({ args, world }: Call): Json {
  const types = (optional(args, "types") ?? "public_channel").split(",");
  const named = { channel: "public_channel", group: "private_channel", im: "im" } as const;
  const all = [...world.channels.values()].filter(
    (channel) => types.includes(named[channelType(channel.id)]) && !(flag(args, "exclude_archived") && channel.archived),
  );
  const { items, response_metadata } = page(all, args, limitOf(args, 100, 1000));
  return { channels: items.map(shownChannel), response_metadata };
}

/** A channel that the bot may read. */
function readable(world: World, id: string): string {
  const channel = world.channel(id);
  if (!channel.botIsMember) throw new Refusal("not_in_channel");
  return channel.id;
}

/** `oldest` and `latest` bound the page, themselves left out unless `inclusive`. Compared as numbers of microseconds. */
function between(args: Json): (message: TwinMessage) => boolean {
  const micros = (name: string, standard: bigint): bigint => {
    const text = optional(args, name);
    if (text === undefined || text === "now") return standard;
    const parts = /^(\d+)(?:\.(\d{1,6}))?$/.exec(text);
    if (!parts) throw new Refusal(`invalid_ts_${name}`);
    return BigInt(`${parts[1]}${(parts[2] ?? "").padEnd(6, "0")}`);
  };
  const oldest = micros("oldest", 0n);
  const latest = micros("latest", 10n ** 20n);
  const inclusive = flag(args, "inclusive");
  return (message) => {
    const at = BigInt(message.ts.replace(".", ""));
    return inclusive ? at >= oldest && at <= latest : at > oldest && at < latest;
  };
}

function replies({ args, world }: Call): Json {
  const channel = readable(world, need(args, "channel"));
  const ts = need(args, "ts");
  const root = world.message(channel, ts);
  if (!root) throw new Refusal("thread_not_found");
  const answers = world.in(channel).filter((message) => message.thread_ts === ts);
  const { items, more, response_metadata } = page(answers.filter(between(args)), args, limitOf(args, 1000, 1000));
  // Every page begins with the root, whatever the bounds.
  const messages = [root, ...items].map((message) => shownMessage(world, message, flag(args, "include_all_metadata")));
  return { messages, has_more: more, response_metadata };
}

function history({ args, world }: Call): Json {
  const channel = readable(world, need(args, "channel"));
  const roots = world.in(channel).filter((message) => message.thread_ts === undefined || message.subtype === "thread_broadcast");
  const { items, more, response_metadata } = page(roots.filter(between(args)).reverse(), args, limitOf(args, 100, 999));
  const messages = items.map((message) => shownMessage(world, message, flag(args, "include_all_metadata")));
  return { messages, has_more: more, response_metadata };
}

function join({ args, world }: Call): Json {
  const channel = world.channel(need(args, "channel"));
  if (channelType(channel.id) !== "channel") throw new Refusal("method_not_supported_for_channel_type");
  if (channel.archived) throw new Refusal("is_archived");
  if (!channel.botIsMember) {
    channel.botIsMember = true;
    joinMessage(world, channel.id, world.botUserId);
  }
  return { channel: shownChannel(channel) };
}

/** The line "has joined the channel". */
export function joinMessage(world: World, channel: string, user: string): TwinMessage {
  return storeMessage(world, { channel, user, subtype: "channel_join", text: `<@${user}> has joined the channel` });
}

function open({ args, world }: Call): Json {
  const wanted = optional(args, "users");
  if (wanted === undefined) throw new Refusal("users_list_not_supplied");
  const user = world.users.get(wanted);
  if (!user) throw new Refusal("user_not_found");
  const id = `D${user.id.slice(1)}`;
  const channel = world.channels.get(id) ?? { id, name: user.name, botIsMember: true, shared: false, archived: false };
  world.channels.set(id, channel);
  return { channel: shownChannel(channel) };
}

export function shownUser(world: World, user: TwinUser): Json {
  return {
    id: user.id,
    team_id: user.teamId ?? world.teamId,
    name: user.name,
    real_name: user.name,
    profile: { real_name: user.name, display_name: user.name },
    deleted: false,
    is_bot: user.isBot ?? false,
    is_restricted: user.restricted ?? user.ultraRestricted ?? false,
    is_ultra_restricted: user.ultraRestricted ?? false,
    is_stranger: user.stranger ?? false,
    is_app_user: false,
  };
}

function userInfo({ args, world }: Call): Json {
  const user = world.users.get(need(args, "user"));
  if (!user) throw new Refusal("user_not_found");
  return { user: shownUser(world, user) };
}
