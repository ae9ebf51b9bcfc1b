import {
  type APIApplication,
  type APIGuildMember,
  type APIRole,
  type APITextChannel,
  type APIUser,
  ApplicationFlags,
  PermissionFlagsBits,
  RESTJSONErrorCodes,
  Routes,
} from "discord.js";
import { DeckhandError } from "../../core/errors.ts";
import { channelIds } from "../../core/inbound.ts";
import type { ChatError } from "../../core/ports.ts";
import { type Access, type Api, discordApi } from "./api.ts";
import { contentMissing } from "./gateway.ts";
import { type Permission, PERMISSIONS } from "./manifest.ts";
import { NotOpened } from "./opening.ts";
import { chatError, discordError } from "./refusals.ts";

export interface HealthOptions extends Access {
  /** Channel keys, as in DECKHAND_CHANNELS; those of other platforms are left out. */
  watch: string[];
}

/** What keeps Discord from working: one DeckhandError line a problem (DISCORD_AUTH, _INTENTS, _PERMISSION, _DOWN). Never rejects. */
export async function discordHealth(options: HealthOptions): Promise<string[]> {
  const api = discordApi(options);
  try {
    const self = (await api.write.get(Routes.user("@me"))) as APIUser;
    const { flags } = (await api.write.get(Routes.currentApplication())) as APIApplication;
    const content = ApplicationFlags.GatewayMessageContent | ApplicationFlags.GatewayMessageContentLimited;
    const problems = (flags & content) === 0 ? [contentMissing()] : [];
    for (const channel of channelIds("discord", options.watch)) problems.push(...(await checkChannel(api, self.id, channel)));
    return problems.map((problem) => problem.line());
  } catch (error) {
    return [discordError(error).line()];
  }
}

/** DISCORD_PERMISSION, _AUTH or _DOWN for what could not be done in a channel; it takes the permission that is named. */
export function discordRefusal({ refusal: { kind, code }, cause }: ChatError, channel: string, permission: Permission): DeckhandError {
  if (cause instanceof NotOpened) return cause.problem;
  if (kind !== "gone" && kind !== "refused") return discordError(cause);
  const isUnseen = code === String(RESTJSONErrorCodes.MissingAccess) || code === String(RESTJSONErrorCodes.UnknownChannel);
  return new DeckhandError("DISCORD_PERMISSION", `${isUnseen ? "ViewChannel" : permission} (${code}, channel ${channel})`, { cause });
}

async function checkChannel(api: Api, self: string, channel: string): Promise<DeckhandError[]> {
  const problem = (what: string): DeckhandError[] => [new DeckhandError("DISCORD_PERMISSION", `${what} in channel ${channel}`)];
  try {
    const found = (await api.read.get(Routes.channel(channel))) as APITextChannel;
    const guild = found.guild_id;
    if (!guild) return problem("a direct channel cannot be configured; nothing is looked for");
    const roles = (await api.read.get(Routes.guildRoles(guild))) as APIRole[];
    const member = (await api.read.get(Routes.guildMember(guild, self))) as APIGuildMember;
    const may = permissionsIn(found, guild, roles, member.roles, self);
    const missing = PERMISSIONS.filter((name) => (may & PermissionFlagsBits[name]) === 0n);
    return missing.length > 0 ? problem(missing.join(", ")) : [];
  } catch (error) {
    const { kind, code } = chatError(error).refusal;
    if (kind === "gone" || kind === "refused") return problem(`ViewChannel (${code})`);
    throw error;
  }
}

/** Discord's rules: roles give, then the channel takes and gives for everyone, for roles, for the member. */
function permissionsIn(channel: APITextChannel, guild: string, roles: APIRole[], own: string[], self: string): bigint {
  const mine = new Set([guild, ...own]);
  const base = roles.filter(({ id }) => mine.has(id)).reduce((sum, { permissions }) => sum | BigInt(permissions), 0n);
  if ((base & PermissionFlagsBits.Administrator) !== 0n) return ~0n;
  const overwrites = channel.permission_overwrites ?? [];
  const steps = [[guild], own, [self]].map((ids) => overwrites.filter(({ id }) => ids.includes(id)));
  return steps.reduce((may, step) => {
    const deny = step.reduce((sum, each) => sum | BigInt(each.deny), 0n);
    const allow = step.reduce((sum, each) => sum | BigInt(each.allow), 0n);
    return (may & ~deny) | allow;
  }, base);
}
