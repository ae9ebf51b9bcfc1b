import { randomBytes } from "node:crypto";
import { Changes } from "../changes.ts";

export type Json = Record<string, unknown>;

/** A refusal in Slack's words: HTTP 200 with `{ok: false, error}` and what else the answer carries. */
export class Refusal extends Error {
  readonly code: string;
  readonly extra: Json;

  constructor(code: string, extra: Json = {}) {
    super(code);
    this.name = "Refusal";
    this.code = code;
    this.extra = extra;
  }
}

/** A refusal with Slack's explanations in `response_metadata.messages`. */
export function refusalWith(code: string, messages: string[]): Refusal {
  return new Refusal(code, { errors: messages, response_metadata: { messages: messages.map((text) => `[ERROR] ${text}`) } });
}

export interface TwinUser {
  id: string;
  name: string;
  /** Multi-channel guest. */
  restricted?: boolean | undefined;
  /** Single-channel guest. */
  ultraRestricted?: boolean | undefined;
  /** Somebody of another organisation who shares no more than a channel. */
  stranger?: boolean | undefined;
  /** Another workspace's id for a person who comes through a shared channel. */
  teamId?: string | undefined;
  isBot?: boolean | undefined;
}

export interface TwinChannel {
  /** `C…` is public, `G…` private, `D…` a direct message. */
  id: string;
  name: string;
  botIsMember: boolean;
  shared: boolean;
  archived: boolean;
}

export interface TwinFile {
  id: string;
  name: string;
  title: string;
  mimetype: string;
  user: string;
  /** Bytes that were announced; the upload has to match. */
  length: number;
  content: Buffer | null;
}

/** A message as Slack keeps it: `text` is in Slack's escaped form. */
export interface TwinMessage {
  type: "message";
  channel: string;
  ts: string;
  text: string;
  user?: string | undefined;
  bot_id?: string | undefined;
  app_id?: string | undefined;
  team?: string | undefined;
  subtype?: string | undefined;
  thread_ts?: string | undefined;
  blocks?: Json[] | undefined;
  attachments?: Json[] | undefined;
  metadata?: Json | undefined;
  edited?: { user: string; ts: string } | undefined;
  files?: Json[] | undefined;
  client_msg_id?: string | undefined;
  user_team?: string | undefined;
  source_team?: string | undefined;
}

export interface Ephemeral {
  channel: string;
  user: string;
  text: string;
  blocks?: Json[] | undefined;
  thread_ts?: string | undefined;
}

export interface StoredView extends Json {
  id: string;
  hash: string;
  user: string;
}

/** The whole workspace: one team, one app with its bot, people, channels, messages, files. */
export class World {
  readonly teamId = "T1";
  readonly appId = "A1";
  readonly botId = "B1";
  readonly botUserId = "U0BOT";
  readonly users = new Map<string, TwinUser>();
  readonly channels = new Map<string, TwinChannel>();
  readonly messages = new Map<string, TwinMessage[]>();
  readonly files = new Map<string, TwinFile>();
  readonly views = new Map<string, StoredView>();
  readonly ephemerals: Ephemeral[] = [];
  readonly reactions = new Set<string>();
  /** What a message showed before each edit; a person with a stale screen can still press it. */
  readonly earlier = new Map<string, (Json[] | undefined)[]>();
  revoked = false;
  /** What the app was installed with: methods and events outside of it are refused or never sent. */
  readonly scopes: ReadonlySet<string>;
  /** Hands an event to the app. */
  emit: (event: Json) => void = () => undefined;
  readonly changes = new Changes();
  #lastMicros = 0;
  #ids = 0;

  constructor(scopes: string[]) {
    this.scopes = new Set(scopes);
    this.users.set(this.botUserId, { id: this.botUserId, name: "deckhand", isBot: true });
  }

  /** The next message id: seconds and six digits, unique and rising, close to the real time. */
  ts(): string {
    this.#lastMicros = Math.max(Date.now() * 1000, this.#lastMicros + 100);
    const digits = String(this.#lastMicros);
    return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
  }

  id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}${String(this.#ids).padStart(4, "0")}${randomBytes(3).toString("hex").toUpperCase()}`;
  }

  channel(id: unknown): TwinChannel {
    const channel = typeof id === "string" ? this.channels.get(id) : undefined;
    // A private channel does not exist for a bot that is not in it.
    if (!channel || (channelType(channel.id) === "group" && !channel.botIsMember)) throw new Refusal("channel_not_found");
    return channel;
  }

  /** A channel that the bot may write to. */
  writable(id: unknown): TwinChannel {
    const channel = this.channel(id);
    if (channel.archived) throw new Refusal("is_archived");
    if (!channel.botIsMember) throw new Refusal("not_in_channel");
    return channel;
  }

  in(channel: string): TwinMessage[] {
    const list = this.messages.get(channel) ?? [];
    this.messages.set(channel, list);
    return list;
  }

  message(channel: string, ts: unknown): TwinMessage | undefined {
    return this.messages.get(channel)?.find((message) => message.ts === ts);
  }

  /** The root and its replies, in order. */
  thread(channel: string, ts: string): TwinMessage[] {
    return this.in(channel).filter((message) => message.ts === ts || message.thread_ts === ts);
  }

  changed(): void {
    this.changes.tell();
  }
}

/** Slack's word for a kind of channel in scopes. */
export const SCOPE_OF = { channel: "channels", group: "groups", im: "im" } as const;

export function channelType(channel: string): "channel" | "group" | "im" {
  return channel.startsWith("D") ? "im" : channel.startsWith("G") ? "group" : "channel";
}

/** Escapes & < > outside Slack's tokens (`<@U1>`, `<#C1>`, `<!here>`, `<http…>`, `<mailto:…>`). `entities`: keep `&amp;` and its like. */
export function escapeText(text: string, entities = false): string {
  const pieces = text.split(/(<(?:@[A-Z0-9]+|#[A-Z0-9]+|![a-z^]+[^<>]*|https?:[^<>\s]*|mailto:[^<>\s]*)(?:\|[^<>]*)?>)/);
  return pieces
    .map((piece, index) => {
      const amp = entities || index % 2 === 1 ? /&(?!(?:amp|lt|gt);)/g : /&/g;
      if (index % 2 === 1) return piece.replace(amp, "&amp;");
      return piece.replace(amp, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
    })
    .join("");
}
