/** Discord's permission bits, as far as a bot like this meets them. The names are discord.js's. */
export const PERMISSIONS = {
  AddReactions: 1n << 6n,
  ViewChannel: 1n << 10n,
  SendMessages: 1n << 11n,
  ManageMessages: 1n << 13n,
  EmbedLinks: 1n << 14n,
  AttachFiles: 1n << 15n,
  ReadMessageHistory: 1n << 16n,
  MentionEveryone: 1n << 17n,
  ManageThreads: 1n << 34n,
  CreatePublicThreads: 1n << 35n,
  CreatePrivateThreads: 1n << 36n,
  SendMessagesInThreads: 1n << 38n,
} as const;

export type Permission = keyof typeof PERMISSIONS;

/** What a bot has that was invited with no more than it needs; MentionEveryone comes from `@everyone`, as in a fresh server. */
export const USUAL: Permission[] = [
  "AddReactions",
  "ViewChannel",
  "SendMessages",
  "EmbedLinks",
  "AttachFiles",
  "ReadMessageHistory",
  "MentionEveryone",
  "CreatePublicThreads",
  "CreatePrivateThreads",
  "SendMessagesInThreads",
];

export function bits(names: Iterable<Permission>): bigint {
  let sum = 0n;
  for (const name of names) {
    if (!Object.hasOwn(PERMISSIONS, name)) throw new Error(`no permission ${name}; known are ${Object.keys(PERMISSIONS).join(", ")}`);
    sum |= PERMISSIONS[name];
  }
  return sum;
}
