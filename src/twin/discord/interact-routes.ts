import type { Interaction } from "./interact.ts";
import { RULES } from "./limits.ts";
import { removeMessage } from "./messages.ts";
import { refuse } from "./refusal.ts";
import type { Call, Route } from "./route.ts";
import { shownMessage } from "./shown.ts";
import type { TwinMessage } from "./state.ts";
import { EPHEMERAL, LOADING } from "./state.ts";

export const interactionRoutes: Route[] = [
  { method: "POST", path: "/interactions/:/:/callback", open: true, run: respond },
  { method: "POST", path: "/webhooks/:/:", open: true, rule: RULES.webhook, run: followUp },
  { method: "GET", path: "/webhooks/:/:/messages/:", open: true, rule: RULES.webhook, run: read },
  { method: "PATCH", path: "/webhooks/:/:/messages/:", open: true, rule: RULES.webhook, run: edit },
  { method: "DELETE", path: "/webhooks/:/:/messages/:", open: true, rule: RULES.webhook, run: remove },
];

function respond({ world, interactions, params, query, body, files }: Call): unknown {
  const { id, type, acked, original } = interactions.respond(params[0] ?? "", params[1] ?? "", body, files);
  if (query.get("with_response") !== "true") return undefined;
  const flags = original?.flags ?? 0;
  const loading = (flags & LOADING) !== 0;
  const response = { response_message_id: original?.id, response_message_loading: loading };
  return {
    interaction: { id, type, ...response, response_message_ephemeral: (flags & EPHEMERAL) !== 0 },
    resource: { type: acked, ...(original ? { message: shownMessage(world, original, true) } : {}) },
  };
}

function behind({ world, interactions, params }: Call): Interaction {
  if (params[0] !== world.applicationId) throw refuse(10015);
  return interactions.byToken(params[1] ?? "");
}

/** `@original`, or a message that this application sent. Throws 10008. */
function target(call: Call): TwinMessage {
  const interaction = behind(call);
  const id = call.params[2] ?? "";
  const { world } = call;
  const own = world.in(interaction.channel.id).find((message) => message.id === id && message.author === world.botUserId);
  const found = id === "@original" ? interaction.original : (own ?? world.ephemerals.find(({ message }) => message.id === id)?.message);
  const gone = found && (found.flags & EPHEMERAL) === 0 && !world.message(found.channel_id, found.id);
  if (!found || gone) throw refuse(10008);
  return found;
}

function followUp(call: Call): unknown {
  const message = call.interactions.send(behind(call), call.body, call.files);
  return shownMessage(call.world, message, true);
}

function read(call: Call): unknown {
  return shownMessage(call.world, target(call), true);
}

function edit(call: Call): unknown {
  const message = target(call);
  call.interactions.edit(message, call.body, call.files);
  return shownMessage(call.world, message, true);
}

function remove(call: Call): unknown {
  const { world } = call;
  const message = target(call);
  const hidden = world.ephemerals.findIndex((each) => each.message === message);
  if (hidden >= 0) world.ephemerals.splice(hidden, 1);
  else removeMessage(world, message);
  return undefined;
}
