import { RULES, takeHidden } from "./limits.ts";
import type { ThreadChange } from "./messages.ts";
import { changeThread } from "./messages.ts";
import { needWritable } from "./message-routes.ts";
import { refuse } from "./refusal.ts";
import type { Call, Route } from "./route.ts";
import { channelIn, needPermission } from "./route.ts";
import { shownChannel } from "./shown.ts";
import type { TwinThread, World } from "./state.ts";
import { isThread } from "./state.ts";
import { readSettings } from "./thread-routes.ts";

export const channelRoutes: Route[] = [
  { method: "GET", path: "/channels/:", rule: RULES.reads, run: (call) => shownChannel(call.world, channelIn(call)) },
  { method: "PATCH", path: "/channels/:", rule: RULES.changes, run: change },
  { method: "POST", path: "/channels/:/typing", rule: RULES.typing, run: typing },
];

function change(call: Call): unknown {
  const { world, body, limits } = call;
  const channel = channelIn(call);
  // The bot has no right to change channels that are no threads.
  if (!isThread(channel)) throw refuse(50013);
  const { name, autoArchive } = readSettings(body, false);
  const wanted: ThreadChange = {};
  if (name !== undefined && name !== channel.name) wanted.name = name;
  if (autoArchive !== undefined) wanted.autoArchive = autoArchive;
  if (typeof body.archived === "boolean") wanted.archived = body.archived;
  if (typeof body.locked === "boolean") wanted.locked = body.locked;
  needRights(world, channel, wanted);
  if (channel.thread.archived && wanted.archived !== false) throw refuse(50083);
  if (wanted.name !== undefined) takeHidden(limits, RULES.renames, channel.id);
  changeThread(world, channel, wanted);
  return shownChannel(world, channel);
}

/** Unarchiving takes the right to write, the rest the thread's owner or ManageThreads, locks ManageThreads. */
function needRights(world: World, channel: TwinThread, wanted: ThreadChange): void {
  if (world.may(channel, "ManageThreads")) return;
  if (wanted.locked !== undefined || channel.thread.locked) throw refuse(50013);
  needPermission(world, channel, "SendMessagesInThreads");
  const more = wanted.name !== undefined || wanted.autoArchive !== undefined || wanted.archived === true;
  if (more && channel.thread.ownerId !== world.botUserId) throw refuse(50013);
}

function typing(call: Call): unknown {
  const channel = channelIn(call);
  needWritable(call.world, channel);
  call.world.typing.push(channel.id);
  return undefined;
}
