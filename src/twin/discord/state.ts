import { randomBytes } from "node:crypto";
import { Changes } from "../changes.ts";
import { refuse } from "./refusal.ts";
import type { Json } from "./refusal.ts";
import type { Permission } from "./permissions.ts";

export interface TwinUser {
  /** Digits only. */
  id: string;
  name: string;
  bot?: boolean | undefined;
}

export interface TwinRole {
  id: string;
  name: string;
}

export const TEXT = 0;
export const DM = 1;
export const PUBLIC_THREAD = 11;
export const PRIVATE_THREAD = 12;
export const FORUM = 15;

/** A channel or a thread; a thread is a channel with `thread`. */
export interface TwinChannel {
  id: string;
  type: number;
  name: string;
  /** What the bot may not do here, whatever its roles say. */
  lacks: Permission[];
  /** A direct message's other end. */
  recipient?: string | undefined;
  thread?: ThreadState | undefined;
}

export interface ThreadState {
  parentId: string;
  ownerId: string;
  archived: boolean;
  locked: boolean;
  /** Minutes without a message after which it archives itself. */
  autoArchive: number;
  /** Twin's clock, ms. */
  archivedAt: number;
  createdAt: number;
  activeAt: number;
  members: Set<string>;
}

export interface TwinAttachment {
  id: string;
  filename: string;
  description?: string | undefined;
  content_type: string;
  size: number;
}

/** A message as Discord keeps it; the names are the API's. */
export interface TwinMessage {
  id: string;
  channel_id: string;
  /** The author's user id. */
  author: string;
  type: number;
  content: string;
  /** ISO times by the twin's clock. */
  timestamp: string;
  edited_timestamp: string | null;
  components: Json[];
  embeds: Json[];
  attachments: TwinAttachment[];
  flags: number;
  nonce?: string | number | undefined;
  /** Whom it pinged: user ids, role ids, everyone. */
  mentions: string[];
  mention_roles: string[];
  mention_everyone: boolean;
  message_reference?: { type: number; message_id?: string; channel_id: string; guild_id?: string | undefined } | undefined;
  webhook_id?: string | undefined;
  application_id?: string | undefined;
}

/** What one person alone saw: a reply with flag 64. */
export interface Ephemeral {
  user: string;
  message: TwinMessage;
}

/** An event for the app. `body` is made for each session: with what people wrote, or without. */
export interface Dispatch {
  t: string;
  /** The intent bit that it needs; 0 for none. */
  intent: number;
  /** The channel that the bot has to see. */
  channel?: TwinChannel | undefined;
  body(content: boolean): Json;
}

export const EPHEMERAL = 1 << 6;
export const LOADING = 1 << 7;
export const HAS_THREAD = 1 << 5;
export const COMPONENTS_V2 = 1 << 15;

const EPOCH = 1_420_070_400_000n;

/** One server with one application's bot, its people, channels, threads and messages. */
export class World {
  readonly guildId = "200000000000000001";
  readonly applicationId = "300000000000000002";
  readonly botUserId = "300000000000000001";
  readonly botRoleId = "300000000000000003";
  readonly users = new Map<string, TwinUser>();
  /** User id -> role ids. */
  readonly members = new Map<string, string[]>();
  readonly roles = new Map<string, TwinRole>();
  readonly channels = new Map<string, TwinChannel>();
  readonly messages = new Map<string, TwinMessage[]>();
  readonly files = new Map<string, { name: string; content: Buffer }>();
  readonly ephemerals: Ephemeral[] = [];
  /** `channel:message:emoji`, the bot's own. */
  readonly reactions = new Set<string>();
  /** What a message's components were before each edit; a person with a stale screen can still press them. */
  readonly earlier = new Map<string, Json[][]>();
  /** `channel:user` of each typing indicator. */
  readonly typing: string[] = [];
  readonly permissions: ReadonlySet<Permission>;
  readonly messageContent: boolean;
  readonly maxActiveThreads: number;
  readonly changes = new Changes();
  /** Where files are fetched: `http://127.0.0.1:PORT/cdn`. */
  readonly cdnUrl: string;
  /** Hands an event to the app. */
  emit: (dispatch: Dispatch) => void = () => undefined;
  #ahead = 0;
  #lastMs = 0n;
  #count = 0n;

  constructor(setup: { permissions: Permission[]; messageContent: boolean; maxActiveThreads: number; cdnUrl: string }) {
    this.permissions = new Set(setup.permissions);
    this.messageContent = setup.messageContent;
    this.maxActiveThreads = setup.maxActiveThreads;
    this.cdnUrl = setup.cdnUrl;
    this.users.set(this.botUserId, { id: this.botUserId, name: "deckhand", bot: true });
    this.members.set(this.botUserId, [this.botRoleId]);
    this.roles.set(this.guildId, { id: this.guildId, name: "@everyone" });
    this.roles.set(this.botRoleId, { id: this.botRoleId, name: "deckhand" });
  }

  /** The twin's time in ms: the real one plus what tests moved it ahead. */
  now(): number {
    return Date.now() + this.#ahead;
  }

  moveClock(ms: number): void {
    this.#ahead += ms;
  }

  /** The next id: rising, and made of the twin's time. */
  snowflake(): string {
    const ms = BigInt(this.now());
    this.#count = ms > this.#lastMs ? 0n : this.#count + 1n;
    if (ms > this.#lastMs) this.#lastMs = ms;
    return String(((this.#lastMs - EPOCH) << 22n) + this.#count);
  }

  secret(): string {
    return randomBytes(24).toString("base64url");
  }

  in(channel: string): TwinMessage[] {
    const list = this.messages.get(channel) ?? [];
    this.messages.set(channel, list);
    return list;
  }

  message(channel: string, id: string): TwinMessage | undefined {
    return this.messages.get(channel)?.find((message) => message.id === id);
  }

  /** A thread's parent; any other channel itself. */
  home(channel: TwinChannel): TwinChannel {
    return (channel.thread && this.channels.get(channel.thread.parentId)) ?? channel;
  }

  threadsOf(channel: string): TwinThread[] {
    return [...this.channels.values()].filter(isThread).filter((each) => each.thread.parentId === channel);
  }

  may(channel: TwinChannel, permission: Permission): boolean {
    if (channel.type === DM) return true;
    const { lacks } = this.home(channel);
    return this.permissions.has(permission) && !lacks.includes(permission) && !lacks.includes("ViewChannel");
  }

  /** Whether the bot sees it: a private thread only as its member or with ManageThreads. */
  sees(channel: TwinChannel): boolean {
    if (!this.may(channel, "ViewChannel")) return false;
    return channel.type !== PRIVATE_THREAD || channel.thread?.members.has(this.botUserId) === true || this.may(channel, "ManageThreads");
  }

  /** The channel that a call names. Throws 10003, 50001. */
  channel(id: string | undefined): TwinChannel {
    const channel = this.channels.get(id ?? "");
    if (!channel) throw refuse(10003);
    if (!this.sees(channel)) throw refuse(50001);
    return channel;
  }

  changed(): void {
    this.changes.tell();
  }
}

export type TwinThread = TwinChannel & { thread: ThreadState };

export function isThread(channel: TwinChannel): channel is TwinThread {
  return channel.thread !== undefined;
}
