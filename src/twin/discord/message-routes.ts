import { readContent } from "./content.ts";
import { RULES, takeHidden } from "./limits.ts";
import { changeMessage, removeMessage, storeMessage } from "./messages.ts";
import type { FormError, Json } from "./refusal.ts";
import { refuse, refuseForm } from "./refusal.ts";
import type { Call, Route } from "./route.ts";
import { channelIn, messageIn, needPermission, numberIn } from "./route.ts";
import { shownMessage } from "./shown.ts";
import type { TwinChannel, TwinMessage, World } from "./state.ts";
import { FORUM, isThread } from "./state.ts";

const HOUR = 60 * 60_000;
const NONCE_MAX = 25;
/** "The past few minutes" in which a nonce is kept. */
const NONCE_MS = 3 * 60_000;

export const messageRoutes: Route[] = [
  { method: "POST", path: "/channels/:/messages", rule: RULES.messages, run: create },
  { method: "GET", path: "/channels/:/messages", rule: RULES.reads, run: list },
  { method: "GET", path: "/channels/:/messages/:", rule: RULES.reads, run: read },
  { method: "PATCH", path: "/channels/:/messages/:", rule: RULES.messages, run: edit },
  { method: "DELETE", path: "/channels/:/messages/:", rule: RULES.deletes, run: remove },
  { method: "PUT", path: "/channels/:/messages/:/reactions/:/@me", rule: RULES.reactions, run: react },
  { method: "DELETE", path: "/channels/:/messages/:/reactions/:/@me", rule: RULES.reactions, run: unreact },
];

/** Throws when the bot may not write here. */
export function needWritable(world: World, channel: TwinChannel): void {
  if (channel.type === FORUM) throw refuse(50008);
  needPermission(world, channel, isThread(channel) ? "SendMessagesInThreads" : "SendMessages");
  if (isThread(channel) && channel.thread.locked && !world.may(channel, "ManageThreads")) throw refuse(160005);
}

function create(call: Call): unknown {
  const { world, body, files } = call;
  const channel = channelIn(call);
  needWritable(world, channel);
  const nonce = readNonce(body);
  const content = readContent(body, { world, files });
  if (files.length > 0) needPermission(world, channel, "AttachFiles");
  if (!world.may(channel, "EmbedLinks")) content.embeds = [];
  const twin = body.enforce_nonce === true && nonce !== undefined ? sent(world, channel, nonce) : undefined;
  if (twin) return { ...shownMessage(world, twin, true), nonce };
  const reply = readReply(world, channel, body);
  if (reply?.author !== undefined && pingsReplied(body)) content.mentions = [...new Set([...content.mentions, reply.author])];
  const message = storeMessage(world, {
    channel_id: channel.id,
    author: world.botUserId,
    application_id: world.applicationId,
    ...content,
    nonce,
    ...(reply ? { type: 19, message_reference: reply.reference } : {}),
  });
  return { ...shownMessage(world, message, true), nonce };
}

function readNonce(body: Json): string | number | undefined {
  const { nonce } = body;
  if (nonce === undefined || nonce === null) return undefined;
  if (typeof nonce === "number" && Number.isInteger(nonce)) return nonce;
  const error = (code: string, message: string): FormError => ({ path: ["nonce"], code, message });
  if (typeof nonce !== "string") throw refuseForm([error("NONCE_TYPE_INVALID", "Nonce must be a string or an integer.")]);
  if (nonce.length > NONCE_MAX) throw refuseForm([error("BASE_TYPE_MAX_LENGTH", `Must be ${NONCE_MAX} or fewer in length.`)]);
  return nonce;
}

/** The bot's own message of the last minutes with this nonce, in the same channel. */
function sent(world: World, channel: TwinChannel, nonce: string | number): TwinMessage | undefined {
  const since = world.now() - NONCE_MS;
  return world.in(channel.id).find((each) => each.author === world.botUserId && each.nonce === nonce && Date.parse(each.timestamp) > since);
}

function pingsReplied(body: Json): boolean {
  const allowed = body.allowed_mentions as { replied_user?: boolean } | null | undefined;
  return allowed ? allowed.replied_user === true : true;
}

function readReply(
  world: World,
  channel: TwinChannel,
  body: Json,
): { author: string | undefined; reference: NonNullable<TwinMessage["message_reference"]> } | undefined {
  const given = body.message_reference as { message_id?: string; fail_if_not_exists?: boolean } | null | undefined;
  if (typeof given?.message_id !== "string") return undefined;
  if (!world.may(channel, "ReadMessageHistory")) throw refuse(160002);
  const original = world.message(channel.id, given.message_id);
  const errors = [{ path: ["message_reference"], code: "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", message: "Unknown message" }];
  if (!original && given.fail_if_not_exists !== false) throw refuseForm(errors);
  if (!original) return undefined;
  if (original.type !== 0 && original.type !== 19)
    throw refuseForm([
      { path: ["message_reference"], code: "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", message: "Cannot reply to a system message" },
    ]);
  const reference = { type: 0, message_id: original.id, channel_id: channel.id, guild_id: world.guildId };
  return { author: original.author, reference };
}

/** Newest first. `after` gives those that follow it at once, not the newest ones. */
function list(call: Call): unknown {
  const { world, query } = call;
  const channel = channelIn(call);
  const limit = numberIn(query, "limit", 50, 1, 100);
  const bound = (name: string): bigint | undefined => {
    const text = query.get(name);
    if (text === null) return undefined;
    if (!/^\d{1,20}$/.test(text))
      throw refuseForm([{ path: [name], code: "NUMBER_TYPE_COERCE", message: `Value "${text}" is not snowflake.` }]);
    return BigInt(text);
  };
  const [after, before] = [bound("after"), bound("before")];
  if (!world.may(channel, "ReadMessageHistory")) return [];
  let found = world.in(channel.id);
  if (after !== undefined) found = found.filter(({ id }) => BigInt(id) > after).slice(0, limit);
  else if (before !== undefined) found = found.filter(({ id }) => BigInt(id) < before).slice(-limit);
  else found = found.slice(-limit);
  return found.toReversed().map((message) => shownMessage(world, message, world.messageContent));
}

function read(call: Call): unknown {
  const channel = channelIn(call);
  needPermission(call.world, channel, "ReadMessageHistory");
  return shownMessage(call.world, messageIn(call, channel), call.world.messageContent);
}

/** Throws 50083 for an archived thread. */
export function needActive(channel: TwinChannel): void {
  if (channel.thread?.archived) throw refuse(50083);
}

function edit(call: Call): unknown {
  const { world, body, files, limits } = call;
  const channel = channelIn(call);
  const message = messageIn(call, channel);
  if (message.type !== 0 && message.type !== 19) throw refuse(50021);
  if (message.author !== world.botUserId) throw refuse(50005);
  needActive(channel);
  if (channel.thread?.locked && !world.may(channel, "ManageThreads")) throw refuse(160005);
  if (world.now() - Date.parse(message.timestamp) > HOUR) takeHidden(limits, RULES.oldEdits, channel.id, 30046);
  changeMessage(world, message, readContent(body, { world, files, before: message }));
  return shownMessage(world, message, true);
}

function remove(call: Call): unknown {
  const { world } = call;
  const channel = channelIn(call);
  const message = messageIn(call, channel);
  if (message.author !== world.botUserId) needPermission(world, channel, "ManageMessages");
  if (channel.thread?.locked && !world.may(channel, "ManageThreads")) needActive(channel);
  removeMessage(world, message);
  return undefined;
}

function reaction(call: Call): string {
  const { params } = call;
  const channel = channelIn(call);
  const message = messageIn(call, channel);
  needActive(channel);
  if (/^[\x20-\x7e]*$/.test(params[2] ?? "") && !/^\w+:\d+$/.test(params[2] ?? "")) throw refuse(10014);
  return `${channel.id}:${message.id}:${params[2]}`;
}

function react(call: Call): unknown {
  const key = reaction(call);
  needPermission(call.world, channelIn(call), "ReadMessageHistory");
  if (!call.world.reactions.has(key)) needPermission(call.world, channelIn(call), "AddReactions");
  call.world.reactions.add(key);
  return undefined;
}

function unreact(call: Call): unknown {
  call.world.reactions.delete(reaction(call));
  return undefined;
}
