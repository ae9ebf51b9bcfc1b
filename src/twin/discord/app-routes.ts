import { RULES } from "./limits.ts";
import { refuse, refuseForm } from "./refusal.ts";
import type { Call, Route } from "./route.ts";
import { bareGuild, shownChannel, shownMember, shownRole, shownUser } from "./shown.ts";
import type { TwinChannel, World } from "./state.ts";
import { DM, isThread } from "./state.ts";

const STARTS_PER_DAY = 1000;
/** Whose the application and the server are. */
const OWNER = "100000000000000001";

export const appRoutes: Route[] = [
  { method: "GET", path: "/gateway/bot", run: gatewayBot },
  { method: "GET", path: "/users/@me", run: ({ world }) => shownUser(world, world.botUserId) },
  { method: "GET", path: "/users/@me/guilds", run: ({ world }) => [bareGuild(world)] },
  { method: "POST", path: "/users/@me/channels", rule: RULES.changes, run: openDm },
  { method: "GET", path: "/users/:", rule: RULES.reads, run: readUser },
  { method: "GET", path: "/applications/@me", run: application },
  { method: "GET", path: "/guilds/:", rule: RULES.reads, run: (call) => bareGuild(guildIn(call)) },
  { method: "GET", path: "/guilds/:/channels", rule: RULES.reads, run: listChannels },
  { method: "GET", path: "/guilds/:/roles", rule: RULES.reads, run: (call) => roles(guildIn(call)) },
  { method: "GET", path: "/guilds/:/members/:", rule: RULES.reads, run: readMember },
];

function gatewayBot({ gateway, url }: Call): unknown {
  const left = Math.max(0, STARTS_PER_DAY - gateway.identifies);
  const session_start_limit = { total: STARTS_PER_DAY, remaining: left, reset_after: 86_400_000, max_concurrency: 1 };
  return { url: `${url.replace("http:", "ws:")}/gateway`, shards: 1, session_start_limit };
}

function application({ world, flags }: Call): unknown {
  const bot = shownUser(world, world.botUserId);
  return {
    id: world.applicationId,
    name: "deckhand",
    icon: null,
    description: "",
    bot_public: false,
    bot_require_code_grant: false,
    verify_key: "0".repeat(64),
    owner: shownUser(world, OWNER),
    team: null,
    bot,
    flags,
    approximate_guild_count: 1,
  };
}

function guildIn({ world, params }: Call): World {
  if (params[0] !== world.guildId) throw refuse(10004);
  return world;
}

function roles(world: World): unknown {
  return [...world.roles.keys()].map((id) => shownRole(world, id));
}

function listChannels(call: Call): unknown {
  const world = guildIn(call);
  const channels = [...world.channels.values()].filter((channel) => channel.type !== DM && !isThread(channel) && world.sees(channel));
  return channels.map((channel) => shownChannel(world, channel));
}

function readMember(call: Call): unknown {
  const world = guildIn(call);
  const id = call.params[1] ?? "";
  if (!world.members.has(id)) throw refuse(world.users.has(id) ? 10007 : 10013);
  return { ...shownMember(world, id), user: shownUser(world, id) };
}

function readUser({ world, params }: Call): unknown {
  if (!world.users.has(params[0] ?? "")) throw refuse(10013);
  return shownUser(world, params[0] ?? "");
}

/** The direct channel with a person: the one there is, or a new one. */
export function directChannel(world: World, user: string, id?: string): TwinChannel {
  const there = [...world.channels.values()].find((channel) => channel.type === DM && channel.recipient === user);
  if (there) return there;
  const channel = { id: id ?? world.snowflake(), type: DM, name: "", lacks: [], recipient: user };
  world.channels.set(channel.id, channel);
  return channel;
}

function openDm({ world, body }: Call): unknown {
  const user = String(body.recipient_id ?? "");
  if (!world.users.has(user))
    throw refuseForm([{ path: ["recipient_id"], code: "NUMBER_TYPE_COERCE", message: `Value "${user}" is not a user.` }]);
  return shownChannel(world, directChannel(world, user));
}
