import { directChannel } from "./app-routes.ts";
import { addFile } from "./content.ts";
import {
  changeMessage,
  changeThread,
  joinThread,
  mentionsIn,
  openThread,
  removeChannel,
  removeMessage,
  storeMessage,
  tellMessage,
} from "./messages.ts";
import type { Permission } from "./permissions.ts";
import { bits } from "./permissions.ts";
import type { TwinChannel, TwinMessage, TwinThread, TwinUser, World } from "./state.ts";
import { FORUM, isThread, PRIVATE_THREAD, PUBLIC_THREAD, TEXT } from "./state.ts";

export interface Saying {
  /** A channel or a thread. */
  channel: string;
  /** A thread of it; wins over `channel`. */
  thread?: string;
  user: string;
  /** As Discord sends it; a mention is written `<@id>`, a role `<@&id>`. */
  text: string;
  /** The message that this one answers; its author is pinged unless `ping` is false. */
  replyTo?: string;
  ping?: boolean;
  /** `@everyone` in the text pings everyone. */
  mentionEveryone?: boolean;
  files?: { name: string; content: string | Buffer }[];
  /** It comes from a webhook that bears the user's name. */
  webhook?: boolean;
}

export interface NewChannel {
  id: string;
  name: string;
  /** Default `text`. */
  type?: "text" | "forum" | "dm";
  /** Whose direct channel. */
  user?: string;
  /** What the bot may not do here. */
  lacks?: Permission[];
}

export interface NewThreadByPerson {
  /** Made when not given; in a text channel with `messageId` it is that message's. */
  id?: string;
  channel: string;
  name: string;
  user: string;
  messageId?: string;
  private?: boolean;
  /** A forum post's first message. */
  text?: string;
  /** Minutes; default 4320. */
  autoArchive?: number;
}

/** What people and administrators do in the server. Mistakes of the caller throw a plain Error. */
export class People {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  addUser({ id, name, bot }: TwinUser): void {
    digits(id);
    this.#world.users.set(id, { id, name, bot });
    if (!this.#world.members.has(id)) this.#world.members.set(id, []);
  }

  addRole(role: { id: string; name: string }): void {
    digits(role.id);
    this.#world.roles.set(role.id, { ...role });
  }

  /** Gives a member these roles and no others. */
  setRoles(user: string, roles: string[]): void {
    this.#user(user);
    for (const id of roles) if (!this.#world.roles.has(id)) throw new Error(`no role ${id}`);
    this.#world.members.set(user, roles);
  }

  addChannel({ id, name, type = "text", user, lacks = [] }: NewChannel): void {
    digits(id);
    bits(lacks);
    if (type === "dm") directChannel(this.#world, this.#user(user ?? "").id, id);
    else this.#world.channels.set(id, { id, name, type: type === "forum" ? FORUM : TEXT, lacks });
  }

  /** What the bot may not do in a channel from now on. */
  setLacks(channel: string, lacks: Permission[]): void {
    bits(lacks);
    this.#channel(channel).lacks = lacks;
  }

  addThread(wanted: NewThreadByPerson): { id: string } {
    const world = this.#world;
    const parent = this.#channel(wanted.channel);
    const root = wanted.messageId === undefined ? undefined : this.#message(parent.id, wanted.messageId);
    if (wanted.id !== undefined) digits(wanted.id);
    const { id, name, autoArchive = 4320 } = wanted;
    const type = wanted.private ? PRIVATE_THREAD : PUBLIC_THREAD;
    const thread = openThread(world, { root, id, parent, type, name, ownerId: this.#user(wanted.user).id, autoArchive });
    if (wanted.text !== undefined) this.#put({ channel: thread.id, user: wanted.user, text: wanted.text }, thread.id);
    return { id: thread.id };
  }

  addToThread(thread: string, user: string): void {
    joinThread(this.#world, this.#thread(thread), this.#user(user).id);
  }

  say(saying: Saying): { id: string } {
    return { id: this.#put(saying).id };
  }

  #put(saying: Saying, id?: string): TwinMessage {
    const world = this.#world;
    const channel = this.#channel(saying.thread ?? saying.channel);
    const user = this.#user(saying.user);
    if (channel.type === FORUM) throw new Error(`${channel.id} is a forum; people open threads there`);
    if (channel.thread?.locked) throw new Error(`thread ${channel.id} is locked`);
    const original = saying.replyTo === undefined ? undefined : this.#message(channel.id, saying.replyTo);
    const found = mentionsIn(world, saying.text);
    const pinged = original && saying.ping !== false ? [original.author] : [];
    return storeMessage(world, {
      ...(id === undefined ? {} : { id }),
      channel_id: channel.id,
      author: user.id,
      content: saying.text,
      type: original ? 19 : 0,
      message_reference: original && { type: 0, message_id: original.id, channel_id: channel.id, guild_id: world.guildId },
      attachments: (saying.files ?? []).map(({ name, content }) => addFile(world, name, Buffer.from(content as string))),
      mentions: [...new Set([...found.users, ...pinged])],
      mention_roles: found.roles,
      mention_everyone: saying.mentionEveryone ?? false,
      webhook_id: saying.webhook ? "400000000000000001" : undefined,
    });
  }

  edit({ channel, id, text }: { channel: string; id: string; text: string }): void {
    const { users, roles } = mentionsIn(this.#world, text);
    changeMessage(this.#world, this.#message(channel, id), { content: text, mentions: users, mention_roles: roles });
  }

  delete({ channel, id }: { channel: string; id: string }): void {
    removeMessage(this.#world, this.#message(channel, id));
  }

  redeliver({ channel, id }: { channel: string; id: string }): void {
    tellMessage(this.#world, "MESSAGE_CREATE", this.#message(channel, id));
  }

  deleteChannel(id: string): void {
    removeChannel(this.#world, this.#channel(id));
  }

  archiveThread(id: string, archived = true): void {
    changeThread(this.#world, this.#thread(id), { archived });
  }

  lockThread(id: string, locked = true): void {
    changeThread(this.#world, this.#thread(id), { locked, archived: locked });
  }

  #channel(id: string): TwinChannel {
    const channel = this.#world.channels.get(id);
    if (!channel) throw new Error(`no channel ${id}`);
    return channel;
  }

  #thread(id: string): TwinThread {
    const channel = this.#channel(id);
    if (!isThread(channel)) throw new Error(`${id} is no thread`);
    return channel;
  }

  #user(id: string): TwinUser {
    const user = this.#world.users.get(id);
    if (!user) throw new Error(`no user ${id}`);
    return user;
  }

  #message(channel: string, id: string): TwinMessage {
    const message = this.#world.message(channel, id);
    if (!message) throw new Error(`no message ${id} in ${channel}`);
    return message;
  }
}

function digits(id: string): void {
  if (!/^\d{1,20}$/.test(id)) throw new Error(`an id is a row of digits, not ${JSON.stringify(id)}`);
}
