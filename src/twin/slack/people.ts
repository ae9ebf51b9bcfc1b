import { joinMessage } from "./conversations.ts";
import { addFile, shownFile } from "./files.ts";
import { changeMessage, removeMessage, storeMessage } from "./messages.ts";
import type { Json, TwinChannel, TwinMessage, TwinUser, World } from "./state.ts";
import { channelType, escapeText, SCOPE_OF } from "./state.ts";

export interface Saying {
  channel: string;
  user: string;
  /**
   * As typed; mentions are written `<@U1>`. Slack's escaping and its linking of addresses outside of code are done
   * here, as Slack does them. With `raw` the text is in Slack's own form already.
   */
  text: string;
  raw?: boolean;
  /** The root's ts. */
  thread?: string;
  files?: { name: string; content: string | Buffer }[];
}

/** What people (and other bots, and administrators) do in the workspace. Mistakes of the caller throw a plain Error. */
export class People {
  readonly #world: World;
  readonly #url: string;

  constructor(world: World, url: string) {
    this.#world = world;
    this.#url = url;
  }

  addUser(user: TwinUser): void {
    this.#world.users.set(user.id, { ...user });
  }

  /** `C…`, `G…` or `D…`; the bot is in it unless told otherwise. */
  addChannel(channel: { id: string; name: string; botIsMember?: boolean | undefined; shared?: boolean | undefined }): void {
    const { id, name, botIsMember = true, shared = false } = channel;
    this.#world.channels.set(id, { id, name, botIsMember, shared, archived: false });
  }

  say(saying: Saying): { ts: string } {
    const channel = this.#open(saying.channel);
    const user = this.#user(saying.user);
    const files = saying.files?.map(({ name, content }) => {
      const bytes = Buffer.from(content as string);
      return shownFile(this.#url, addFile(this.#world, user.id, name, bytes, bytes.length));
    });
    const root = saying.thread === undefined ? undefined : this.#message(channel.id, saying.thread);
    if (root?.thread_ts !== undefined) throw new Error(`${saying.thread} is a reply; name its root ${root.thread_ts}`);
    const away = user.teamId !== undefined && user.teamId !== this.#world.teamId ? user.teamId : undefined;
    const message = storeMessage(this.#world, {
      channel: channel.id,
      user: user.id,
      text: saying.raw ? saying.text : typed(saying.text),
      client_msg_id: this.#world.id("client-"),
      thread_ts: saying.thread,
      subtype: files?.length ? "file_share" : undefined,
      files,
      ...(away === undefined ? {} : { team: away, user_team: away, source_team: away }),
    });
    return { ts: message.ts };
  }

  edit(edit: { channel: string; ts: string; text: string }): void {
    const message = this.#message(edit.channel, edit.ts);
    changeMessage(this.#world, message, message.user ?? "", { text: typed(edit.text) });
  }

  delete(target: { channel: string; ts: string }): void {
    removeMessage(this.#world, this.#message(target.channel, target.ts));
  }

  join(channel: string, user: string): void {
    joinMessage(this.#world, this.#open(channel).id, this.#user(user).id);
  }

  /** Another app's bot posts. */
  botSay(saying: { channel: string; text: string; thread?: string | undefined }): { ts: string } {
    const { channel, text, thread } = saying;
    const other = { user: "U9OTHERBOT", bot_id: "B9OTHER", app_id: "A9OTHER" };
    return { ts: storeMessage(this.#world, { channel: this.#open(channel).id, ...other, text: escapeText(text), thread_ts: thread }).ts };
  }

  archive(channel: string): void {
    this.#open(channel).archived = true;
    this.#tell(channel, { type: "channel_archive", channel, user: "U9ADMIN" });
  }

  kickBot(channel: string): void {
    this.#open(channel).botIsMember = false;
    this.#tell(channel, { type: "channel_left", channel, actor_id: "U9ADMIN" });
  }

  revokeTokens(): void {
    this.#world.revoked = true;
    this.#world.emit({ type: "tokens_revoked", tokens: { oauth: [], bot: [this.#world.botUserId] }, event_ts: this.#world.ts() });
  }

  /** News of a channel, for an app that may read channels. */
  #tell(channel: string, event: Json): void {
    if (this.#world.scopes.has(`${SCOPE_OF[channelType(channel)]}:read`)) this.#world.emit({ ...event, event_ts: this.#world.ts() });
    this.#world.changed();
  }

  #open(id: string): TwinChannel {
    const channel = this.#world.channels.get(id);
    if (!channel) throw new Error(`no channel ${id}`);
    if (channel.archived) throw new Error(`channel ${id} is archived`);
    return channel;
  }

  #user(id: string): TwinUser {
    const user = this.#world.users.get(id);
    if (!user) throw new Error(`no user ${id}`);
    return user;
  }

  #message(channel: string, ts: string): TwinMessage {
    const message = this.#world.message(channel, ts);
    if (!message) throw new Error(`no message ${channel} ${ts}`);
    return message;
  }
}

const CODE = /(```[\s\S]*?```|`[^`\n]*`)/;
const LINK =
  /<[^<>]*>|https?:\/\/[^\s<>|]*[^\s<>|.,;:!?)'"]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w./@-])(?:[\w-]+\.)+(?:com|org|net|io)(?![\w.-])/g;

/** Typed text in Slack's form: addresses outside of code become links, & < > are escaped everywhere. */
function typed(text: string): string {
  const linked = text.split(CODE).map((piece, index) => (index % 2 === 1 ? piece : piece.replace(LINK, asLink)));
  return escapeText(linked.join(""));
}

function asLink(found: string): string {
  if (found.startsWith("<")) return found;
  if (/^https?:/.test(found)) return `<${found}>`;
  return found.includes("@") ? `<mailto:${found}|${found}>` : `<http://${found}|${found}>`;
}
