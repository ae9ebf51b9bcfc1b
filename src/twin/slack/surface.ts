import type { Fault } from "./faults.ts";
import type { Press, Submission } from "./interact.ts";
import type { Saying } from "./people.ts";
import type { Delivery, Outcome } from "./socket.ts";
import type { Ephemeral, StoredView, TwinMessage, TwinUser } from "./state.ts";
import type { ApiCall } from "./web-api.ts";

export interface SlackTwinOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** Random when not given. */
  controlToken?: string;
  /** Rate limits; on by default. */
  limits?: boolean;
  /** Pauses before an event that was not acknowledged is sent again; after the last it is lost. Default 0, 1 and 5 minutes. */
  retryDelaysMs?: number[];
  /** How long the app has to acknowledge. Default 3000. */
  ackTimeoutMs?: number;
  /** The bot's scopes; a method outside of them answers `missing_scope`. Default: what a bot like this needs at least. */
  appScopes?: string[];
}

export interface SlackTwin {
  /** For `SLACK_API_URL`: `http://127.0.0.1:PORT/api/`. */
  apiUrl: string;
  url: string;
  controlToken: string;
  botToken: string;
  appToken: string;
  teamId: string;
  botUserId: string;
  botId: string;
  appId: string;
  addUser(user: TwinUser): void;
  addChannel(channel: { id: string; name: string; botIsMember?: boolean | undefined; shared?: boolean | undefined }): void;
  /** A person types. The app hears a `message` and, when its bot is mentioned, an `app_mention` (same ts, another event id). */
  say(saying: Saying): Promise<{ ts: string }>;
  editMessage(edit: { channel: string; ts: string; text: string }): Promise<void>;
  deleteMessage(target: { channel: string; ts: string }): Promise<void>;
  join(channel: string, user: string): Promise<void>;
  botSay(saying: { channel: string; text: string; thread?: string | undefined }): Promise<{ ts: string }>;
  /** Presses a button of a message; throws when the message does not show it. Lost when no socket is there. */
  press(press: Press): Promise<{ acked: boolean }>;
  views(): StoredView[];
  /** Sends a modal. `response` holds the app's `response_action`. */
  submitView(submission: Submission): Promise<Outcome>;
  archive(channel: string): void;
  kickBot(channel: string): void;
  revokeTokens(): void;
  /** The root and its replies in order; copies. */
  thread(channel: string, ts: string): TwinMessage[];
  messages(channel: string): TwinMessage[];
  ephemerals(): Ephemeral[];
  reactions(): string[];
  file(id: string): { name: string; content: Buffer } | undefined;
  sockets(): number;
  /** Sends `disconnect` with this reason to the oldest `count` sockets (all by default), then closes them. */
  disconnect(reason: string, count?: number): void;
  /** Cuts the oldest `count` sockets (all by default) without a word. */
  dropSockets(count?: number): void;
  /** Delivers an event once more under the same event id. */
  redeliver(eventId: string): void;
  /** Sends `app_rate_limited`, which has no inner event. */
  rateLimitEvents(): Promise<{ acked: boolean }>;
  fault(fault: Fault): void;
  calls(method?: string): ApiCall[];
  /** The delivery log, oldest first. */
  events(): Delivery[];
  /** Resolves with the first thing that `probe` gives; rejects after `ms` (15 s) with what all threads show. */
  waitFor<T>(probe: () => T | undefined | false | null, ms?: number): Promise<T>;
  close(): Promise<void>;
}
