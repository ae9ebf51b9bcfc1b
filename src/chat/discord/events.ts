import { type Fitted, flag, list, maybe, number, object, oneOf, text } from "../../core/shape.ts";

/** What is read of Discord's objects; the rest is left out. The same for live events and for the history. */

const Id = text(/^\d+$/);
const Words = maybe(text());
const Flag = maybe(flag);

export const User = object({ id: Id, username: Words, global_name: Words, bot: Flag, system: Flag });
const MEMBER = { nick: Words, roles: list(Id), pending: Flag, flags: maybe(number) };
export const Member = object(MEMBER);

const Attachment = object({ filename: text(), content_type: Words, size: number, url: text() });
const Snapshot = object({ message: object({ content: text(), attachments: maybe(list(Attachment)) }) });

export const Message = object({
  id: Id,
  channel_id: Id,
  guild_id: maybe(Id),
  type: number,
  author: User,
  member: maybe(Member),
  webhook_id: maybe(Id),
  content: text(),
  mentions: list(User),
  attachments: maybe(list(Attachment)),
  /** What a forwarded message holds. */
  message_snapshots: maybe(list(Snapshot)),
  edited_timestamp: maybe(text()),
});

export const Removal = object({ id: Id, channel_id: Id, guild_id: maybe(Id) });
export const Removals = object({ ids: list(Id), channel_id: Id, guild_id: maybe(Id) });

export const Press = object({
  id: Id,
  token: text(),
  application_id: Id,
  type: oneOf(3),
  channel_id: Id,
  channel: maybe(object({ parent_id: maybe(Id) })),
  guild_id: maybe(Id),
  member: maybe(object({ ...MEMBER, user: User })),
  user: maybe(User),
  data: object({ custom_id: text() }),
});

export type User = Fitted<typeof User>;
export type Member = Fitted<typeof Member>;
export type Message = Fitted<typeof Message>;
export type Press = Fitted<typeof Press>;
