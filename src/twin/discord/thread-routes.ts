import { readContent } from "./content.ts";
import { RULES } from "./limits.ts";
import { joinThread, openThread, storeMessage } from "./messages.ts";
import { needActive } from "./message-routes.ts";
import type { FormError, Json } from "./refusal.ts";
import { refuse, refuseForm } from "./refusal.ts";
import type { Call, Route } from "./route.ts";
import { channelIn, messageIn, needPermission } from "./route.ts";
import { shownChannel, shownMessage, threadMember } from "./shown.ts";
import type { TwinChannel, TwinThread, World } from "./state.ts";
import { FORUM, isThread, PRIVATE_THREAD, PUBLIC_THREAD, TEXT } from "./state.ts";

const AUTO_ARCHIVE = [60, 1440, 4320, 10080];

export const threadRoutes: Route[] = [
  { method: "POST", path: "/channels/:/messages/:/threads", rule: RULES.changes, status: 201, run: startAtMessage },
  { method: "POST", path: "/channels/:/threads", rule: RULES.changes, status: 201, run: start },
  { method: "PUT", path: "/channels/:/thread-members/@me", rule: RULES.changes, run: join },
  { method: "PUT", path: "/channels/:/thread-members/:", rule: RULES.changes, run: addMember },
  { method: "GET", path: "/guilds/:/threads/active", rule: RULES.reads, run: active },
  { method: "GET", path: "/channels/:/threads/archived/public", rule: RULES.reads, run: archived },
];

/** A thread's settings. Throws 50035. */
export function readSettings(body: Json, named: boolean): { name: string | undefined; autoArchive: number | undefined } {
  const errors: FormError[] = [];
  const { name, auto_archive_duration: autoArchive } = body;
  if (name === undefined && named) errors.push({ path: ["name"], code: "BASE_TYPE_REQUIRED", message: "This field is required" });
  else if (name !== undefined && (typeof name !== "string" || name.trim() === "" || name.length > 100))
    errors.push({ path: ["name"], code: "BASE_TYPE_BAD_LENGTH", message: "Must be between 1 and 100 in length." });
  if (autoArchive !== undefined && autoArchive !== null && !AUTO_ARCHIVE.includes(Number(autoArchive)))
    errors.push({
      path: ["auto_archive_duration"],
      code: "BASE_TYPE_CHOICES",
      message: `Value must be one of (${AUTO_ARCHIVE.join(", ")}).`,
    });
  if (errors.length > 0) throw refuseForm(errors);
  return { name: name as string | undefined, autoArchive: typeof autoArchive === "number" ? autoArchive : undefined };
}

function needRoom(world: World): void {
  const open = [...world.channels.values()].filter((channel) => channel.thread?.archived === false).length;
  if (open >= world.maxActiveThreads) throw refuse(160006);
}

function startAtMessage(call: Call): unknown {
  const { world, body } = call;
  const parent = channelIn(call);
  if (parent.type !== TEXT) throw refuse(50024);
  const root = messageIn(call, parent);
  needPermission(world, parent, "CreatePublicThreads");
  const { name = "", autoArchive = 4320 } = readSettings(body, true);
  if (world.channels.has(root.id)) throw refuse(160004);
  needRoom(world);
  return shownChannel(world, openThread(world, { root, parent, type: PUBLIC_THREAD, name, ownerId: world.botUserId, autoArchive }));
}

function start(call: Call): unknown {
  const { world, body } = call;
  const parent = channelIn(call);
  if (parent.type === FORUM) return startPost(call, parent);
  if (parent.type !== TEXT) throw refuse(50024);
  const type = body.type ?? PRIVATE_THREAD;
  if (type !== PUBLIC_THREAD && type !== PRIVATE_THREAD)
    throw refuseForm([{ path: ["type"], code: "BASE_TYPE_CHOICES", message: "Value must be one of (10, 11, 12)." }]);
  needPermission(world, parent, type === PUBLIC_THREAD ? "CreatePublicThreads" : "CreatePrivateThreads");
  const { name = "", autoArchive = 4320 } = readSettings(body, true);
  needRoom(world);
  return shownChannel(world, openThread(world, { parent, type, name, ownerId: world.botUserId, autoArchive }));
}

/** A post of a forum: a thread and its first message, under one id. */
function startPost({ world, body, files }: Call, parent: TwinChannel): unknown {
  needPermission(world, parent, "SendMessages");
  const { name = "", autoArchive = 4320 } = readSettings(body, true);
  if (typeof body.message !== "object" || body.message === null)
    throw refuseForm([{ path: ["message"], code: "BASE_TYPE_REQUIRED", message: "This field is required" }]);
  const content = readContent(body.message as Json, { world, files });
  needRoom(world);
  const thread = openThread(world, { parent, type: PUBLIC_THREAD, name, ownerId: world.botUserId, autoArchive });
  const message = storeMessage(world, { id: thread.id, channel_id: thread.id, author: world.botUserId, ...content });
  return { ...shownChannel(world, thread), message: shownMessage(world, message, true) };
}

function threadIn(call: Call): TwinThread {
  const channel = channelIn(call);
  if (!isThread(channel)) throw refuse(50024);
  needActive(channel);
  return channel;
}

function join(call: Call): unknown {
  joinThread(call.world, threadIn(call), call.world.botUserId);
  return undefined;
}

function addMember(call: Call): unknown {
  const thread = threadIn(call);
  needPermission(call.world, thread, "SendMessagesInThreads");
  if (!call.world.members.has(call.params[1] ?? "")) throw refuse(10013);
  joinThread(call.world, thread, call.params[1] ?? "");
  return undefined;
}

function listed(world: World, threads: TwinThread[]): Json {
  const mine = threads.filter(({ thread }) => thread.members.has(world.botUserId));
  return {
    threads: threads.map((thread) => shownChannel(world, thread)),
    members: mine.map(({ id }) => threadMember(world, id, world.botUserId)),
  };
}

function active({ world, params }: Call): unknown {
  if (params[0] !== world.guildId) throw refuse(50001);
  return listed(
    world,
    [...world.channels.values()].filter(isThread).filter((channel) => !channel.thread.archived && world.sees(channel)),
  );
}

function archived(call: Call): unknown {
  const { world } = call;
  const parent = channelIn(call);
  needPermission(world, parent, "ReadMessageHistory");
  const found = world.threadsOf(parent.id).filter((channel) => channel.type === PUBLIC_THREAD && channel.thread.archived);
  found.sort((one, other) => other.thread.archivedAt - one.thread.archivedAt);
  return { ...listed(world, found), has_more: false };
}
