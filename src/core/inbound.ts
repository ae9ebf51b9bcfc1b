import type { MessageFile, Person } from "./entry.ts";
import { DeckhandError } from "./errors.ts";

/** Where a conversation lives. `key` names it everywhere: `slack:T1:C1:1699.01`, `discord:G1:T1`. */
export interface Thread {
  platform: string;
  key: string;
  /** The channel's key, as in DECKHAND_CHANNELS: `slack:C1`. */
  channel: string;
}

interface Arrival {
  /** The platform's id of the thing that arrived; the same thing sent twice has the same id. */
  event: string;
  thread: Thread;
  by: Person;
}

/** `always` shows the rule that `store` stores, which also approves. */
export type PressAction = (typeof PRESS_ACTIONS)[number];
export const PRESS_ACTIONS = ["approve", "deny", "always", "store"] as const;

/** What can be done about an interrupted run. */
export type RunChoice = (typeof RUN_CHOICES)[number];
export const RUN_CHOICES = ["look", "again", "leave"] as const;

/** What can be done when a limit is reached. */
export const PAUSE_CHOICES = ["continue", "stop"] as const;

export type Choice = (typeof CHOICES)[number];
export const CHOICES = [...RUN_CHOICES, ...PAUSE_CHOICES] as const;

/** What can arrive from a platform. Every kind walks the same corridor through `core/intake.ts`. */
export type Inbound =
  | (Arrival & {
      kind: "mention";
      text: string;
      files?: MessageFile[];
      /** It is its thread's first message, heard for the first time as far as is known: of the thread nothing is known yet. */
      begins?: boolean;
      /** Makes the thread where the platform has none yet; called when the mention counts and before it is kept. Twice is once. */
      open?: () => Promise<void>;
    })
  /** A message in a thread that does not mention the bot. `elsewhere`: it plainly addresses another person. */
  | (Arrival & { kind: "reply"; text: string; elsewhere: boolean; files?: MessageFile[] })
  | (Arrival & { kind: "edit"; message: string; text: string })
  /** The platform vouches that the message is gone; `by` need not be its writer. */
  | (Arrival & { kind: "remove"; message: string })
  | (Arrival & { kind: "press"; action: PressAction; approval: string; reason?: string })
  /** About entry `of` of the thread's log: the end of an interrupted run, or a pause. */
  | (Arrival & { kind: "choice"; choice: Choice; of: number })
  | (Arrival & { kind: "stop" });

/** Throws BAD_CONVERSATION on what cannot be the key of a thread. */
export function checkThread(key: string): void {
  if (key.startsWith("discord:")) parseDiscordThread(key);
  else parseSlackThread(key);
}

/** Parses `slack:T1:C1:1699.01` into its parts. Throws BAD_CONVERSATION on anything else. */
export function parseSlackThread(key: string): { team: string; channel: string; ts: string } {
  const match = /^slack:([A-Z0-9]+):([A-Z0-9]+):(\d+\.\d+)$/.exec(key);
  if (!match) throw new DeckhandError("BAD_CONVERSATION", key);
  return { team: match[1] as string, channel: match[2] as string, ts: match[3] as string };
}

export function slackThread(team: string, channel: string, ts: string): Thread {
  return { platform: "slack", key: `slack:${team}:${channel}:${ts}`, channel: `slack:${channel}` };
}

/** Parses `discord:G1:T1`; `guild` is null for a direct channel (`discord:dm:C1`). Throws BAD_CONVERSATION on anything else. */
export function parseDiscordThread(key: string): { guild: string | null; channel: string } {
  const match = /^discord:(dm|\d+):(\d+)$/.exec(key);
  if (!match) throw new DeckhandError("BAD_CONVERSATION", key);
  return { guild: match[1] === "dm" ? null : (match[1] as string), channel: match[2] as string };
}

/** `channel` is the thread's own id, `parent` the channel that it belongs to; a direct channel is both. */
export function discordThread(guild: string | null, channel: string, parent: string): Thread {
  return { platform: "discord", key: `discord:${guild ?? "dm"}:${channel}`, channel: `discord:${parent}` };
}

/** The platform's own ids of those channel keys that are on it. */
export function channelIds(platform: string, keys: string[]): string[] {
  return keys.filter((key) => key.startsWith(`${platform}:`)).map((key) => key.slice(platform.length + 1));
}

/** What is said in a thread or typed as a whole message to end the work. */
export function saysStop(text: string): boolean {
  return /^\s*(stop|cancel|abort|停止|取消)\s*[.!。!]?\s*$/i.test(text);
}
