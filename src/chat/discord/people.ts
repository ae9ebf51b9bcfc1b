import { GuildMemberFlags, RESTJSONErrorCodes, Routes } from "discord.js";
import type { Person } from "../../core/entry.ts";
import { remember } from "../../core/remember.ts";
import type { Clock } from "../../core/ports.ts";
import { MISFIT } from "../../core/shape.ts";
import type { Api } from "./api.ts";
import { Member, type User } from "./events.ts";
import { codeOf } from "./refusals.ts";

const KEPT_MS = 10 * 60_000;
const KEPT_PEOPLE = 1_000;

/**
 * Who somebody is. `member` comes with live events and is looked up for what the history brings; a direct message
 * has none. Rejects when Discord does not say: then nobody may take them for a member.
 */
export type PersonOf = (user: User, guild: string | null, member: Member | null) => Promise<Person>;

/**
 * Whether the people of the servers that the bot is in are ours. Anybody can invite a public bot to a server of his own:
 * without channels to go by, only a lone server is.
 */
export function areOurs(channels: string[], servers: number): boolean {
  return channels.length > 0 || servers <= 1;
}

/** `isOurs`: whether the people of its servers count as members. */
export function discordPeople(options: { api: Api; clock: Clock; isOurs: () => boolean }): PersonOf {
  const ask = remember({ clock: options.clock, ms: KEPT_MS, most: KEPT_PEOPLE }, (route) => lookUp(options.api, route));
  return async (user, guild, given) => {
    const member = given ?? (guild === null ? null : await ask(Routes.guildMember(guild, user.id)));
    const name = member?.nick || user.global_name || user.username || user.id;
    const roles = (member?.roles ?? []).map((role) => `discord:role:${role}`);
    const isOurs = guild !== null && member !== null && options.isOurs();
    return { key: `discord:${user.id}`, name, kind: kindOf(user, member, isOurs), roles };
  };
}

function kindOf(user: User, member: Member | null, isOurs: boolean): Person["kind"] {
  if (user.bot || user.system) return "bot";
  if (!member || !isOurs) return "external";
  // Who has not agreed to the server's rules yet, or came for one voice channel.
  return member.pending || ((member.flags ?? 0) & GuildMemberFlags.IsGuest) !== 0 ? "guest" : "member";
}

async function lookUp(api: Api, route: string): Promise<Member | null> {
  try {
    const member = Member(await api.read.get(route as `/${string}`));
    if (member === MISFIT) throw new Error("Discord told of a member what is not understood");
    return member;
  } catch (error) {
    const code = codeOf(error);
    if (code === RESTJSONErrorCodes.UnknownMember || code === RESTJSONErrorCodes.UnknownUser) return null;
    throw error;
  }
}
