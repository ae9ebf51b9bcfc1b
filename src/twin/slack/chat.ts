import { escapeText, Refusal } from "./state.ts";
import type { Json, TwinMessage, World } from "./state.ts";
import type { Call, Method } from "./method.ts";
import { need, optional } from "./method.ts";
import { changeMessage, removeMessage, shownMessage, storeMessage } from "./messages.ts";
import { checkContent } from "./validate.ts";

export const chatMethods: Record<string, Method> = {
  "chat.postMessage": { tier: "post", scope: "chat:write", run: postMessage },
  "chat.update": { tier: 50, scope: "chat:write", run: update },
  "chat.delete": { tier: 50, scope: "chat:write", run: remove },
  "chat.postEphemeral": { tier: 100, scope: "chat:write", run: postEphemeral },
  "chat.getPermalink": { tier: "none", run: getPermalink },
  "reactions.add": { tier: 50, scope: "reactions:write", run: addReaction },
  "reactions.remove": { tier: 20, scope: "reactions:write", run: removeReaction },
};

/** The thread that a post goes to. Throws what Slack says to a thread that is not there. */
export function threadOf(world: World, channel: string, args: Json): string | undefined {
  const ts = optional(args, "thread_ts");
  if (ts === undefined) return undefined;
  const root = world.message(channel, ts);
  if (!root) throw new Refusal("thread_not_found");
  if (root.thread_ts !== undefined) throw new Refusal("cannot_reply_to_message");
  return ts;
}

export function ownPost(world: World): Pick<TwinMessage, "user" | "bot_id" | "app_id"> {
  return { user: world.botUserId, bot_id: world.botId, app_id: world.appId };
}

function postMessage({ args, world }: Call): Json {
  const channel = world.writable(need(args, "channel"));
  const content = checkContent(args, "post");
  const thread_ts = threadOf(world, channel.id, args);
  const message = storeMessage(world, {
    channel: channel.id,
    ...ownPost(world),
    text: escapeText(content.text ?? "", true),
    blocks: content.blocks,
    attachments: content.attachments,
    metadata: content.metadata,
    thread_ts,
  });
  return { channel: channel.id, ts: message.ts, message: shownMessage(world, message, true), ...content.warning };
}

function own(call: Call, refusal: string): TwinMessage {
  const channel = call.world.channel(need(call.args, "channel"));
  const message = call.world.message(channel.id, need(call.args, "ts"));
  if (!message) throw new Refusal("message_not_found");
  if (channel.archived) throw new Refusal("is_inactive");
  if (message.bot_id !== call.world.botId) throw new Refusal(refusal);
  return message;
}

function update(call: Call): Json {
  const { args, world } = call;
  const message = own(call, "cant_update_message");
  const content = checkContent(args, "update");
  if (onlyRichText(message.blocks) && content.blocks?.length && !content.blocks.some(isRichText)) throw new Refusal("block_mismatch");
  const change: Partial<TwinMessage> = {};
  if (content.text !== undefined) change.text = escapeText(content.text, true);
  // Blocks that are not given stay; an empty list removes them. The same for metadata.
  if (content.blocks) change.blocks = content.blocks.length > 0 ? content.blocks : undefined;
  if (content.attachments) change.attachments = content.attachments;
  if (content.metadata) change.metadata = Object.keys(content.metadata).length > 0 ? content.metadata : undefined;
  changeMessage(world, message, world.botUserId, change);
  return { channel: message.channel, ts: message.ts, text: message.text, message: shownMessage(world, message, true) };
}

function isRichText(block: Json): boolean {
  return block.type === "rich_text";
}

/** "Rich-text blocks cannot be replaced with non-rich-text blocks", read narrowly. */
function onlyRichText(blocks: Json[] | undefined): boolean {
  return blocks !== undefined && blocks.length > 0 && blocks.every(isRichText);
}

function remove(call: Call): Json {
  const message = own(call, "cant_delete_message");
  removeMessage(call.world, message);
  return { channel: message.channel, ts: message.ts };
}

function postEphemeral({ args, world }: Call): Json {
  const channel = world.writable(need(args, "channel"));
  const user = need(args, "user");
  const content = checkContent(args, "ephemeral");
  if (!world.users.has(user)) throw new Refusal("user_not_in_channel");
  const thread_ts = threadOf(world, channel.id, args);
  world.ephemerals.push({ channel: channel.id, user, text: escapeText(content.text ?? "", true), blocks: content.blocks, thread_ts });
  world.changed();
  return { message_ts: world.ts() };
}

function getPermalink({ args, world, url }: Call): Json {
  const channel = world.channel(need(args, "channel"));
  const ts = need(args, "message_ts");
  if (!world.message(channel.id, ts)) throw new Refusal("message_not_found");
  return { channel: channel.id, permalink: `${url}/archives/${channel.id}/p${ts.replace(".", "")}` };
}

function reaction({ args, world }: Call): { world: World; key: string } {
  const channel = world.writable(need(args, "channel"));
  const ts = need(args, "timestamp");
  const name = need(args, "name");
  if (!/^[a-z0-9_'+-]+$/.test(name)) throw new Refusal("invalid_name");
  if (!world.message(channel.id, ts)) throw new Refusal("message_not_found");
  return { world, key: `${channel.id}:${ts}:${name}` };
}

function addReaction(call: Call): Json {
  const { world, key } = reaction(call);
  if (world.reactions.has(key)) throw new Refusal("already_reacted");
  world.reactions.add(key);
  world.changed();
  return {};
}

function removeReaction(call: Call): Json {
  const { world, key } = reaction(call);
  if (!world.reactions.delete(key)) throw new Refusal("no_reaction");
  world.changed();
  return {};
}
