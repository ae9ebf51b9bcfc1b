import type { MessageFile, Person } from "../../core/entry.ts";
import { CHOICES, type Inbound, PRESS_ACTIONS, slackThread, type Thread } from "../../core/inbound.ts";
import { firstOf, type Fitted, list, maybe, MISFIT, number, object, oneOf, text as string } from "../../core/shape.ts";
import { addressed, decode, mentioned, type Names } from "./text.ts";

/** Who we are in Slack, as auth.test says. */
export interface Self {
  team: string;
  user: string;
  name: string;
}

/** Where a line for one person's eyes goes. `thread` only when their message or button was in a thread. */
export interface Place {
  channel: string;
  user: string;
  thread?: string;
}

/** Something for the core. Who `place.user` is and how the `named` people are called must be looked up first. */
export interface Heard {
  kind: "heard";
  place: Place;
  /** The message's `ts`; null for a press. */
  ts: string | null;
  named: string[];
  inbound: (by: Person, names: Names) => Inbound;
}

export type Reading = Heard | { kind: "ignored"; why: string };

const Ts = string(/^\d+\.\d+$/);
const Text = maybe(string());
const Id = string(/^[A-Z0-9]+$/);

const Bytes = maybe(number);
const File = object({ name: Text, mimetype: Text, size: Bytes, mode: Text, url_private_download: Text, url_private: Text });

/** Files that people see no more. */
const GONE = new Set<unknown>(["tombstone", "hidden_by_limit"]);

const MESSAGE = {
  subtype: Text,
  user: Text,
  bot_id: Text,
  text: Text,
  ts: Ts,
  thread_ts: maybe(Ts),
  files: maybe(list(File)),
  edited: maybe(object({ ts: string() })),
};
const Message = object(MESSAGE);

const Event = object({
  ...MESSAGE,
  type: oneOf("app_mention", "message"),
  channel: Id,
  message: maybe(Message),
  previous_message: maybe(Message),
});

const Actions = object({
  type: oneOf("block_actions"),
  user: object({ id: Id }),
  container: object({ channel_id: Id, message_ts: Ts, thread_ts: maybe(Ts) }),
  message: maybe(object({ thread_ts: maybe(Ts) })),
  actions: firstOf(object({ action_id: string(), value: Text, action_ts: string() })),
});

type Message = Fitted<typeof Message>;
type Event = Fitted<typeof Event>;

/** Subtypes that are somebody's words. Uploads are; joins, topics and the rest are not. */
const WORDS = new Set(["file_share", "thread_broadcast", "me_message"]);

/** Reads an `app_mention` or `message` event, or a message of the history with `type` and `channel` added. Pure. */
export function readEvent(raw: unknown, self: Self): Reading {
  const event = Event(raw);
  if (event === MISFIT) return ignored("not understood");
  if (event.subtype === "message_changed") return readChange(event, self);
  if (event.subtype === "message_deleted") return readRemoval(event, event.previous_message, self);
  return readWords(event.channel, event, self, event.type === "app_mention");
}

/** Reads a `block_actions` payload: a press on one of our buttons. Pure. */
export function readActions(raw: unknown, self: Self): Reading {
  const parsed = Actions(raw);
  if (parsed === MISFIT) return ignored("not understood");
  const { user, container, message, actions } = parsed;
  const { action_id: action, value, action_ts } = actions;
  const threadTs = container.thread_ts ?? message?.thread_ts ?? undefined;
  const thread = slackThread(self.team, container.channel_id, threadTs ?? container.message_ts);
  const place: Place = { channel: container.channel_id, user: user.id, ...(threadTs && { thread: threadTs }) };
  const heard = { kind: "heard" as const, place, ts: null, named: [] };
  const choice = CHOICES.find((each) => each === action);
  if (choice && value && /^\d+$/.test(value)) {
    const event = `slack:choice:${thread.key}:${value}:${user.id}:${action_ts}`;
    return { ...heard, inbound: (by) => ({ kind: "choice", event, thread, by, choice, of: Number(value) }) };
  }
  if (action === "stop") {
    const event = `slack:stop:${container.channel_id}:${container.message_ts}:${user.id}:${action_ts}`;
    return { ...heard, inbound: (by) => ({ kind: "stop", event, thread, by }) };
  }
  const press = PRESS_ACTIONS.find((each) => each === action);
  if (!press || !value) return ignored(`no button of ours: ${action}`);
  const event = `slack:press:${value}:${user.id}:${action_ts}`;
  return { ...heard, inbound: (by) => ({ kind: "press", event, thread, by, action: press, approval: value }) };
}

/** The same id for `app_mention` and `message`, live and from the history: this is what makes them one. */
export function messageId(self: Self, channel: string, ts: string): string {
  return `slack:${self.team}:${channel}:${ts}`;
}

function readWords(channel: string, message: Message, self: Self, surelyMentioned: boolean, isEdit = false): Reading {
  const user = authorOf(message, self);
  if (!user) return ignored("not a person's words");
  const text = message.text ?? "";
  const { ts } = message;
  const direct = channel.startsWith("D");
  const inThread = isReply(message);
  const mention = surelyMentioned || mentioned(text).includes(self.user) || (direct && !inThread);
  if (!mention && !inThread) return ignored("not for us");
  const first = addressed(text);
  const files = filesOf(message);
  const make = (by: Person, names: Names): Inbound => {
    const arrival = { event: messageId(self, channel, ts), thread: threadOf(self, channel, message), by };
    const words = { text: said(text, self, names), ...(files.length > 0 && { files }) };
    if (mention) return { ...arrival, kind: "mention", ...words, ...(!inThread && !isEdit && { begins: true }) };
    return { ...arrival, kind: "reply", ...words, elsewhere: first !== null && first !== self.user };
  };
  return { ...heardAt(channel, message, user), named: named(text, self), inbound: make };
}

function readChange(event: Event, self: Self): Reading {
  const { message: now, previous_message: was, channel } = event;
  if (!now) return ignored("not understood");
  if (now.subtype === "tombstone") return readRemoval(event, was, self);
  const user = authorOf(now, self);
  if (!user) return ignored("not a person's words");
  const text = now.text ?? "";
  if (was && text === (was.text ?? "")) return ignored("same text");
  // A root without a mention was nothing to us; when the edit puts the mention in, the message begins to count.
  const mentionAdded = was && mentioned(text).includes(self.user) && !mentioned(was.text ?? "").includes(self.user);
  if (mentionAdded && !isReply(now)) return readWords(channel, now, self, true, true);
  const message = messageId(self, channel, now.ts);
  const at = now.edited?.ts ?? event.ts;
  const thread = threadOf(self, channel, now);
  return {
    ...heardAt(channel, now, user),
    named: named(text, self),
    inbound: (by, names) => ({ kind: "edit", event: `${message}:edit:${at}`, thread, by, message, text: said(text, self, names) }),
  };
}

/** `was` is the message before it went; Slack shows a removed root with replies as a tombstone. */
function readRemoval(event: Event, was: Message | null | undefined, self: Self): Reading {
  const user = was ? authorOf(was, self) : null;
  if (!was || !user) return ignored("not a person's words");
  const message = messageId(self, event.channel, was.ts);
  const thread = threadOf(self, event.channel, was);
  const heard = { ...heardAt(event.channel, was, user), named: [] };
  return { ...heard, inbound: (by) => ({ kind: "remove", event: `${message}:remove`, thread, by, message }) };
}

/** The person who wrote it; null for bots, for ourselves and for what Slack says on somebody's behalf. */
function authorOf(message: Message, self: Self): string | null {
  if (message.bot_id || (message.subtype && !WORDS.has(message.subtype))) return null;
  if (!message.user || message.user === self.user || message.user === "USLACKBOT") return null;
  return message.user;
}

function heardAt(channel: string, message: Message, user: string): Pick<Heard, "kind" | "place" | "ts"> {
  const thread = message.thread_ts;
  return { kind: "heard", place: { channel, user, ...(thread && { thread }) }, ts: message.ts };
}

function threadOf(self: Self, channel: string, message: Message): Thread {
  return slackThread(self.team, channel, message.thread_ts ?? message.ts);
}

function isReply(message: Message): boolean {
  return message.thread_ts != null && message.thread_ts !== message.ts;
}

function said(text: string, self: Self, names: Names): string {
  return decode(text, { botUserId: self.user, names: new Map([...names, [self.user, self.name]]) });
}

function named(text: string, self: Self): string[] {
  return mentioned(text).filter((id) => id !== self.user);
}

function filesOf(message: Message): MessageFile[] {
  return (message.files ?? []).flatMap((file) => {
    // In a channel that is shared with others Slack may tell no more of a file than that there is one.
    const url = file.url_private_download ?? file.url_private ?? "";
    return GONE.has(file.mode) ? [] : [{ name: file.name ?? "file", type: file.mimetype ?? "", bytes: file.size ?? 0, url }];
  });
}

function ignored(why: string): Reading {
  return { kind: "ignored", why };
}
