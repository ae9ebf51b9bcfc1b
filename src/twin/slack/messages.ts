import type { Json, TwinMessage, World } from "./state.ts";
import { channelType, SCOPE_OF } from "./state.ts";

/** What becomes of messages: stored here, told to the app as events (posts of the bot itself too). */

type Draft = Omit<TwinMessage, "type" | "ts">;

export function storeMessage(world: World, draft: Draft): TwinMessage {
  const message: TwinMessage = { type: "message", ts: world.ts(), team: world.teamId, ...draft };
  message.blocks = withBlockIds(world, draft.blocks);
  world.in(message.channel).push(message);
  // Metadata travels in events of its own, not in these.
  const event: Json = { ...message, metadata: undefined, event_ts: message.ts, channel_type: channelType(message.channel) };
  const root = message.thread_ts === undefined ? undefined : world.message(message.channel, message.thread_ts);
  if (root) event.parent_user_id = root.user;
  tell(world, message.channel, event);
  if (mentionsBot(world, message)) tell(world, message.channel, mentionEvent(message));
  world.changed();
  return message;
}

function mentionsBot(world: World, message: TwinMessage): boolean {
  const own = message.user === world.botUserId;
  const speaks = message.subtype === undefined || message.subtype === "file_share" || message.subtype === "bot_message";
  return !own && speaks && channelType(message.channel) !== "im" && new RegExp(`<@${world.botUserId}(\\||>)`).test(message.text);
}

function mentionEvent(message: TwinMessage): Json {
  const { subtype: _subtype, metadata: _metadata, ...rest } = message;
  return { ...rest, type: "app_mention", event_ts: message.ts };
}

/** The app hears only channels that it is in, and only what its scopes let it hear. */
function tell(world: World, channel: string, event: Json): void {
  const scope = event.type === "app_mention" ? "app_mentions:read" : `${SCOPE_OF[channelType(channel)]}:history`;
  if (world.channels.get(channel)?.botIsMember && world.scopes.has(scope)) world.emit(event);
}

/** Slack gives every block an id of its own when the app gave none. */
function withBlockIds(world: World, blocks: Json[] | undefined): Json[] | undefined {
  return blocks?.map((block) => ({ ...block, block_id: block.block_id ?? world.id("blk") }));
}

/** Changes a message in place and sends `message_changed` with what it was before. */
export function changeMessage(world: World, message: TwinMessage, by: string, change: Partial<TwinMessage>): void {
  const { channel: _was, ...previous } = structuredClone(message);
  const key = `${message.channel}:${message.ts}`;
  world.earlier.set(key, [...(world.earlier.get(key) ?? []), message.blocks]);
  const ts = world.ts();
  Object.assign(message, change, { edited: { user: by, ts } });
  if (change.blocks) message.blocks = withBlockIds(world, change.blocks);
  const { channel, ...now } = message;
  tell(world, channel, {
    type: "message",
    subtype: "message_changed",
    hidden: true,
    channel,
    channel_type: channelType(channel),
    ts,
    event_ts: ts,
    message: now,
    previous_message: previous,
  });
  world.changed();
}

/** Removes a message; a root with replies stays as a tombstone. Sends `message_deleted` (or the change to a tombstone). */
export function removeMessage(world: World, message: TwinMessage): void {
  const { channel, ...previous } = structuredClone(message);
  const ts = world.ts();
  const list = world.in(channel);
  const event: Json = {
    type: "message",
    hidden: true,
    channel,
    channel_type: channelType(channel),
    ts,
    event_ts: ts,
    previous_message: previous,
  };
  if (list.some((other) => other.thread_ts === message.ts)) {
    const tombstone: TwinMessage = {
      type: "message",
      channel,
      ts: message.ts,
      text: "This message was deleted.",
      subtype: "tombstone",
      user: "USLACKBOT",
    };
    list[list.indexOf(message)] = tombstone;
    const { channel: _channel, ...shown } = tombstone;
    tell(world, channel, { ...event, subtype: "message_changed", message: shown });
  } else {
    list.splice(list.indexOf(message), 1);
    tell(world, channel, { ...event, subtype: "message_deleted", deleted_ts: message.ts });
  }
  world.changed();
}

/** A message as the Web API shows it: roots carry their thread's figures, metadata only on request. */
export function shownMessage(world: World, message: TwinMessage, metadata: boolean): Json {
  const { channel, metadata: meta, ...rest } = message;
  const replies = world.in(channel).filter((other) => other.thread_ts === message.ts);
  const shown: Json = { ...rest };
  if (metadata && meta) shown.metadata = meta;
  const last = replies.at(-1);
  if (last && message.thread_ts === undefined) {
    shown.thread_ts = message.ts;
    shown.reply_count = replies.length;
    shown.latest_reply = last.ts;
    shown.reply_users = [...new Set(replies.map((reply) => reply.user ?? reply.bot_id))];
  }
  return shown;
}

/** One line a message, for people who read a failed test. */
export function dumpThreads(world: World): string {
  const lines: string[] = [];
  for (const [channel, messages] of world.messages) {
    for (const message of messages) {
      const blocks = message.blocks ? ` blocks=${JSON.stringify(message.blocks).slice(0, 400)}` : "";
      const indent = message.thread_ts === undefined ? "" : "    ";
      lines.push(`${indent}${channel} ${message.ts} ${message.user ?? message.bot_id ?? "?"}: ${message.text.slice(0, 300)}${blocks}`);
    }
  }
  for (const ephemeral of world.ephemerals) lines.push(`(only ${ephemeral.user}) ${ephemeral.text}`);
  return lines.join("\n") || "(no messages)";
}
