import { z } from "zod";

/** What is read of Discord's objects; the rest is left out. The same for live events and for the history. */

const Id = z.string().regex(/^\d+$/);
const Words = z.string().nullish();
const Flag = z.boolean().nullish();

export const User = z.object({ id: Id, username: Words, global_name: Words, bot: Flag, system: Flag });
export const Member = z.object({ nick: Words, roles: z.array(Id), pending: Flag, flags: z.number().nullish() });

const Attachment = z.object({ filename: z.string(), content_type: Words, size: z.number(), url: z.string() });
const Snapshot = z.object({ message: z.object({ content: z.string(), attachments: z.array(Attachment).nullish() }) });

export const Message = z.object({
  id: Id,
  channel_id: Id,
  guild_id: Id.nullish(),
  type: z.number(),
  author: User,
  member: Member.nullish(),
  webhook_id: Id.nullish(),
  content: z.string(),
  mentions: z.array(User),
  attachments: z.array(Attachment).nullish(),
  /** What a forwarded message holds. */
  message_snapshots: z.array(Snapshot).nullish(),
  edited_timestamp: z.string().nullish(),
});

export const Removal = z.object({ id: Id, channel_id: Id, guild_id: Id.nullish() });
export const Removals = z.object({ ids: z.array(Id), channel_id: Id, guild_id: Id.nullish() });

export const Press = z.object({
  id: Id,
  token: z.string(),
  application_id: Id,
  type: z.literal(3),
  channel_id: Id,
  channel: z.object({ parent_id: Id.nullish() }).nullish(),
  guild_id: Id.nullish(),
  member: Member.extend({ user: User }).nullish(),
  user: User.nullish(),
  data: z.object({ custom_id: z.string() }),
});

export type User = z.infer<typeof User>;
export type Member = z.infer<typeof Member>;
export type Message = z.infer<typeof Message>;
export type Press = z.infer<typeof Press>;
