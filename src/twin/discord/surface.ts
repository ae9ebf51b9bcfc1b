import type { Fault } from "./faults.ts";
import type { Delivery } from "./gateway.ts";
import type { Outcome, Press, Submission } from "./interact.ts";
import type { NewChannel, NewThreadByPerson, Saying } from "./people.ts";
import type { Permission } from "./permissions.ts";
import type { ApiCall } from "./rest.ts";
import type { TwinMessage, TwinUser } from "./state.ts";

export type PrivilegedIntent = "GuildMembers" | "GuildPresences" | "MessageContent";

export interface DiscordTwinOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** Random when not given. */
  controlToken?: string;
  /** Rate limits of routes and the global one; on by default. Those of old messages and thread names are always there. */
  limits?: boolean;
  /** The privileged intents that are switched on in the portal; all by default. Any other intent is free. */
  intents?: PrivilegedIntent[];
  /** What the bot's role may do in the server. Default: what an invitation for a bot like this asks for. */
  permissions?: Permission[];
  /** How long the app has for the first answer to an interaction. Default 3000. */
  ackMs?: number;
  /** Default 41250. */
  heartbeatMs?: number;
  /** Active threads in the server before 160006. Default 1000. */
  maxActiveThreads?: number;
}

/** What one person alone saw. */
export interface EphemeralReply {
  user: string;
  channel: string;
  id: string;
  content: string;
  components: Record<string, unknown>[];
}

export interface DiscordTwin {
  /** For `DISCORD_API_URL`, and discord.js's `rest.api`: `http://127.0.0.1:PORT/api`. */
  apiUrl: string;
  /** For discord.js's `rest.cdn`. */
  cdnUrl: string;
  url: string;
  controlToken: string;
  token: string;
  guildId: string;
  botUserId: string;
  botRoleId: string;
  applicationId: string;
  addUser(user: TwinUser): void;
  addRole(role: { id: string; name: string }): void;
  /** Gives a member these roles and no others. */
  setRoles(user: string, roles: string[]): void;
  addChannel(channel: NewChannel): void;
  /** What the bot may not do in a channel from now on. */
  setLacks(channel: string, lacks: Permission[]): void;
  /** A person opens a thread, or a post in a forum. */
  addThread(thread: NewThreadByPerson): { id: string };
  addToThread(thread: string, user: string): void;
  archiveThread(id: string, archived?: boolean): void;
  /** Locks and archives it, as a moderator does. */
  lockThread(id: string, locked?: boolean): void;
  /** Sends the event of a post once more. */
  redeliver(target: { channel: string; id: string }): void;
  /** A channel with its threads, or one thread. */
  deleteChannel(id: string): void;
  say(saying: Saying): Promise<{ id: string }>;
  editMessage(edit: { channel: string; id: string; text: string }): Promise<void>;
  deleteMessage(target: { channel: string; id: string }): Promise<void>;
  /** Presses a button; throws when the message does not show it. Resolves at the app's first answer, or when its time is over. */
  press(press: Press): Promise<Outcome>;
  /** Sends the modal that a press has opened. */
  submitModal(submission: Submission): Promise<Outcome>;
  /** Open modals: name -> title and components as the app sent them. */
  modals(): Record<string, Record<string, unknown>>;
  /** A thread as people see it: the message that it began (or could begin) at, then what was said in it, in order; copies. */
  thread(id: string): TwinMessage[];
  /** What is in a channel or thread, system messages too; copies. */
  messages(channel: string): TwinMessage[];
  threads(channel?: string): { id: string; name: string; parent: string; archived: boolean; locked: boolean }[];
  ephemerals(): EphemeralReply[];
  /** `channel:message:emoji`, the bot's own. */
  reactions(): string[];
  /** The channels in which the bot has shown that it types, one each time. */
  typing(): string[];
  /** An attachment's bytes. */
  file(id: string): { name: string; content: Buffer } | undefined;
  /** Moves the twin's clock ahead: interactions, messages, nonces, sessions and addresses age, quiet threads archive themselves. */
  advance(ms: number): void;
  /** Connections that have a session. */
  sockets(): number;
  /** Sessions that are connected or can still be resumed. */
  sessions(): { id: string; intents: number; connected: boolean }[];
  /** Cuts all connections without a word. */
  drop(): void;
  /** Op 7 to all. */
  reconnect(): void;
  /** Op 9 to all; with false the sessions and what they missed are gone, those of absent apps too. */
  invalidateSession(resumable: boolean): void;
  closeWith(code: number, reason?: string): void;
  /** While set, heartbeats stay unanswered. */
  muteHeartbeats(muted: boolean): void;
  /** Makes the token wrong: all connections close with 4004, and calls say 401 from now on. */
  revokeToken(): void;
  fault(fault: Fault): void;
  /** All calls, or those of a route as in `fault`. */
  calls(route?: string): ApiCall[];
  /** How many answers were 401, 403 or 429. */
  invalidRequests(): number;
  /** The log of events, oldest first. */
  events(): Delivery[];
  /** Resolves with the first thing that `probe` gives; rejects after `ms` (15 s) with what all threads show. */
  waitFor<T>(probe: () => T | undefined | false | null, ms?: number): Promise<T>;
  close(): Promise<void>;
}
