import { MessageType } from "discord.js";
import type { MessageFile, Person } from "../../core/entry.ts";
import { CHOICES, discordThread, type Inbound, PRESS_ACTIONS, type Thread } from "../../core/inbound.ts";
import { MISFIT, type Shape } from "../../core/shape.ts";
import { type Member, Message, Press, Removal, Removals, type User } from "./events.ts";
import type { Place } from "./places.ts";
import { timeOf } from "./snowflake.ts";
import { addressed, decode, type Label, namesUser } from "./text.ts";

/** Who we are in Discord. */
export interface Self {
  user: string;
  name: string;
}

/** What the core's words need of the world. */
export interface Around {
  by: Person;
  label: Label;
  /** Makes the thread of a message that a mention in a channel began. */
  open: (name: string) => Promise<void>;
}

/** Something that may be for the core: `at` says so once its place is known. */
export interface Heard {
  kind: "heard";
  guild: string | null;
  channel: string;
  message: string;
  /** A message comes again with the history; a change of one does not. */
  change: "none" | "edit" | "removal";
  /** Null: Discord does not say who did it. */
  author: { user: User; member: Member | null } | null;
  isMention: boolean;
  at: (place: Place) => ((around: Around) => Inbound[]) | null;
}

/** A press on a button of ours. */
export interface Pressed {
  kind: "pressed";
  press: Press;
  author: { user: User; member: Member | null };
  inbound: (by: Person) => Inbound;
}

export type Ignored = { kind: "ignored"; why: string };

/** A mention that an edit puts in counts while people still look at the message, and never when it may have been heard before. */
const MENTION_BY_EDIT_MS = 60 * 60_000;
const NAME_MAX = 90;

/** Reads a message, new or of the history (then with the `guild_id` of its place). Pure. */
export function readMessage(raw: unknown, self: Self): Heard | Ignored {
  const parsed = parse(Message, raw);
  return "why" in parsed ? parsed : (refused(parsed, self) ?? { ...heard(parsed, self), at: words(parsed, self) });
}

/** Reads MESSAGE_UPDATE, which also comes when nobody changed a word (a link was unfurled, a thread began). Pure. */
export function readEdit(raw: unknown, self: Self): Heard | Ignored {
  const message = parse(Message, raw);
  if ("why" in message) return message;
  const edited = message.edited_timestamp;
  if (!edited) return ignored("no words changed");
  const isYoung = Date.parse(edited) - timeOf(message.id) < MENTION_BY_EDIT_MS;
  const at: Heard["at"] = (place) => (around) => {
    const id = messageId(message);
    const text = said(message, self, around.label);
    const edit: Inbound = {
      kind: "edit",
      event: `${id}:edit:${edited}`,
      thread: threadOf(place, message.id),
      by: around.by,
      message: id,
      text,
    };
    // A root without a mention was nothing to us; with one it begins to count. Was it heard already, this is known.
    const begins = isYoung && isMention(message, self) && !place.isThread && place.guild !== null;
    return [edit, ...(begins ? (words(message, self)(place)?.(around) ?? []) : [])];
  };
  return refused(message, self) ?? { ...heard(message, self), change: "edit", at };
}

/** Reads MESSAGE_DELETE and MESSAGE_DELETE_BULK; Discord does not say whose message it was. Pure. */
export function readRemovals(raw: unknown): (Heard | Ignored)[] {
  const bulk = Removals(raw);
  const one = Removal(raw);
  const gone = bulk !== MISFIT ? bulk.ids.map((id) => ({ ...bulk, id })) : one !== MISFIT ? [one] : [];
  return gone.map((message) => {
    const id = messageId(message);
    return {
      kind: "heard",
      guild: message.guild_id ?? null,
      channel: message.channel_id,
      message: message.id,
      change: "removal",
      author: null,
      isMention: false,
      at:
        (place) =>
        ({ by }) => [{ kind: "remove", event: `${id}:remove`, thread: threadOf(place, message.id), by, message: id }],
    };
  });
}

/** Reads INTERACTION_CREATE: a press on one of our buttons. Pure. */
export function readPress(raw: unknown): Pressed | Ignored {
  const press = parse(Press, raw);
  if ("why" in press) return press;
  const { id, data, member, channel, channel_id } = press;
  const user = member?.user ?? press.user;
  const [, action, value] = /^dh:([a-z]+):(.+)$/.exec(data.custom_id) ?? [];
  const pressed = PRESS_ACTIONS.find((each) => each === action);
  const choice = /^\d+$/.test(value ?? "") ? CHOICES.find((each) => each === action) : undefined;
  if (!user || !value || (!pressed && !choice && action !== "stop")) return ignored("no button of ours");
  // Our buttons stand in threads and direct channels alone.
  const thread = discordThread(press.guild_id ?? null, channel_id, channel?.parent_id ?? channel_id);
  const inbound: Pressed["inbound"] = (by) => {
    if (choice) return { kind: "choice", event: `discord:choice:${id}`, thread, by, choice, of: Number(value) };
    if (!pressed) return { kind: "stop", event: `discord:stop:${id}`, thread, by };
    return { kind: "press", event: `discord:press:${id}`, thread, by, action: pressed, approval: value };
  };
  return { kind: "pressed", press, author: { user, member: member ?? null }, inbound };
}

/** The same id live and from the history: this is what makes them one. */
function messageId({ channel_id, id }: { channel_id: string; id: string }): string {
  return `discord:${channel_id}:${id}`;
}

function words(message: Message, self: Self): Heard["at"] {
  return (place) => {
    const mention = isMention(message, self) || place.guild === null;
    const files = filesOf(message);
    const isEmpty = wordsOf(message).trim() === "" && files.length === 0;
    if (!mention && (!place.isThread || isEmpty)) return null;
    return ({ by, label, open }) => {
      const text = said(message, self, label);
      const arrival = { event: messageId(message), thread: threadOf(place, message.id), by, text, ...(files.length > 0 && { files }) };
      const first = addressed(message.content);
      if (!mention) return [{ ...arrival, kind: "reply", elsewhere: first !== null && first !== self.user }];
      const isRoot = !place.isThread && place.guild !== null;
      return [{ ...arrival, kind: "mention", ...(isRoot && { open: () => open(nameOf(text)) }) }];
    };
  };
}

function heard(message: Message, self: Self): Omit<Heard, "at"> {
  return {
    kind: "heard",
    guild: message.guild_id ?? null,
    channel: message.channel_id,
    message: message.id,
    change: "none",
    author: { user: message.author, member: message.member ?? null },
    isMention: isMention(message, self),
  };
}

/** Only what a person wrote counts: no bot, no webhook, nothing that Discord says on somebody's behalf. */
function refused(message: Message, self: Self): Ignored | null {
  const { author, webhook_id, type } = message;
  const isPerson = !author.bot && !author.system && !webhook_id && author.id !== self.user;
  return isPerson && (type === MessageType.Default || type === MessageType.Reply) ? null : ignored("not a person's words");
}

/** Named in the words, and meant by Discord too: neither @everyone, nor a reply's ping, nor what stands in code. */
function isMention(message: Message, self: Self): boolean {
  return namesUser(message.content, self.user) && message.mentions.some(({ id }) => id === self.user);
}

/** A message in a channel is the root of a thread that has its id, now or later. */
function threadOf(place: Place, message: string): Thread {
  const own = place.isThread || place.guild === null;
  return discordThread(place.guild, own ? place.channel : message, place.parent);
}

function wordsOf({ content, message_snapshots }: Message): string {
  return content || (message_snapshots ?? []).map((each) => each.message.content).join("\n");
}

function said(message: Message, self: Self, label: Label): string {
  const names = new Map(message.mentions.map((user) => [user.id, user.global_name || user.username || user.id]));
  return decode(wordsOf(message), { self: self.user, names: names.set(self.user, self.name), label });
}

function filesOf({ attachments, message_snapshots }: Message): MessageFile[] {
  const all = [...(attachments ?? []), ...(message_snapshots ?? []).flatMap((each) => each.message.attachments ?? [])];
  return all.map(({ filename, content_type, size, url }) => ({ name: filename, type: content_type ?? "", bytes: size, url }));
}

/** What the thread is called: the beginning of what was asked. */
function nameOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return (line.length > NAME_MAX ? `${line.slice(0, NAME_MAX).toWellFormed().trim()}…` : line) || "Deckhand";
}

function parse<T>(shape: Shape<T>, raw: unknown): T | Ignored {
  const parsed = shape(raw);
  return parsed === MISFIT ? ignored("not understood") : parsed;
}

function ignored(why: string): Ignored {
  return { kind: "ignored", why };
}
