import { PermissionFlagsBits, type PermissionsString } from "discord.js";

/** What the bot may do where it works: the invite link, `doctor` and the code go by this list. */
export const PERMISSIONS = [
  "ViewChannel",
  "SendMessages",
  "SendMessagesInThreads",
  "CreatePublicThreads",
  "ReadMessageHistory",
  "AttachFiles",
] as const satisfies PermissionsString[];

export type Permission = (typeof PERMISSIONS)[number];

/** What to set in the application's pages, and the link that brings the bot into a server. */
export function discordManifest(applicationId = "APPLICATION_ID"): Record<string, unknown> {
  const bits = PERMISSIONS.reduce((sum, name) => sum | PermissionFlagsBits[name], 0n);
  return {
    // Public is how Discord makes bots; anybody could then invite it to a server of his own.
    bot: { public: false, privileged_intents: ["MESSAGE CONTENT INTENT"] },
    gateway_intents: ["Guilds", "GuildMessages", "DirectMessages", "MessageContent"],
    permissions: { names: [...PERMISSIONS], bits: String(bits) },
    invite: `https://discord.com/oauth2/authorize?client_id=${applicationId}&scope=bot&permissions=${bits}`,
  };
}
