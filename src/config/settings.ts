import { LIMITS } from "../limits.ts";
import { channels, killAt, number, oneOf, oneWord, path, people, redisAddress, token, userName, webAddress, workspaces } from "./values.ts";

export interface Setting {
  name: string;
  /** Text to value; throws `Refused`. */
  parse: (text: string) => unknown;
  /** As it would be written; null: unset. */
  default: string | null;
  /** One sentence for the README, `.env.example` and `deckhand doctor`. */
  help: string;
  secret?: true;
}

/** Milliseconds. */
export const HOUR = 3_600_000;
/** Bytes. */
export const MEGABYTE = 1_000_000;

export const SETTINGS = [
  {
    name: "SLACK_BOT_TOKEN",
    parse: token("xoxb-"),
    default: null,
    help: "Slack bot token, from the app's page OAuth & Permissions.",
    secret: true,
  },
  {
    name: "SLACK_APP_TOKEN",
    parse: token("xapp-"),
    default: null,
    help: "Slack app-level token with `connections:write`, from the app's page Basic Information.",
    secret: true,
  },
  {
    name: "SLACK_API_URL",
    parse: webAddress,
    default: null,
    help: "Another address of Slack's Web API, for tests.",
  },
  {
    name: "DISCORD_TOKEN",
    parse: oneWord,
    default: null,
    help: "Discord bot token, from the application's page Bot.",
    secret: true,
  },
  {
    name: "DISCORD_API_URL",
    parse: webAddress,
    default: null,
    help: "Another address of Discord's API, for tests.",
  },
  {
    name: "OPENAI_API_KEY",
    parse: oneWord,
    default: null,
    help: "Key of the model's service; not needed where the server asks for none.",
    secret: true,
  },
  {
    name: "OPENAI_BASE_URL",
    parse: webAddress,
    default: null,
    help: "Address of any OpenAI-compatible server, usually ending in /v1. Unset: OpenAI itself.",
  },
  {
    name: "OPENAI_MODEL",
    parse: oneWord,
    default: "gpt-5",
    help: "Name of the model; it must be able to call functions.",
  },
  {
    name: "OPENAI_API",
    parse: oneOf("auto", "chat", "responses"),
    default: "auto",
    help: "chat (Chat Completions), responses, or auto: responses at OpenAI, chat elsewhere, and the other one when the service says so.",
  },
  {
    name: "REDIS_URL",
    parse: redisAddress,
    default: "redis://127.0.0.1:6379",
    help: "Redis 6.2 or newer with AOF and without eviction: redis://:PASSWORD@HOST:PORT.",
    secret: true,
  },
  {
    name: "DECKHAND_WORKSPACES",
    parse: workspaces,
    default: null,
    help: "The folders where commands work: name=/path,other=/path.",
  },
  {
    name: "DECKHAND_CHANNELS",
    parse: channels,
    default: null,
    help: "Which workspace serves which channel: slack:C1=name,slack:C2=other; a channel's first is its default. Unset: a single workspace serves all.",
  },
  {
    name: "DECKHAND_USERS",
    parse: people,
    default: null,
    help: "Who may ask: slack:U1 names one person, slack:* every full member. Unset: nobody.",
  },
  {
    name: "DECKHAND_APPROVERS",
    parse: people,
    default: null,
    help: "Who may approve commands, written like DECKHAND_USERS. Unset: nobody.",
  },
  {
    name: "DECKHAND_SANDBOX",
    parse: oneOf("bwrap", "none"),
    default: "bwrap",
    help: "bwrap; or none: commands then run WITHOUT a sandbox, and every thread says so.",
  },
  {
    name: "DECKHAND_RUN_AS",
    parse: userName,
    default: null,
    help: "User that commands run as when root starts Deckhand. Unset: the workspace's owner.",
  },
  {
    name: "DECKHAND_POSTURE",
    parse: oneOf("careful", "contained"),
    default: "contained",
    help: "careful, or contained: what the sandbox contains runs by itself, while it is proved to have no network.",
  },
  {
    name: "DECKHAND_CONFIG",
    parse: path,
    default: "deckhand.yaml",
    help: "File for what has structure, relative to Deckhand's own folder; outside every workspace.",
  },
  {
    name: "DECKHAND_STATE",
    parse: path,
    default: null,
    help: "Folder for what Deckhand keeps on this machine. Unset: /var/lib/deckhand for root, ~/.local/state/deckhand for others.",
  },
  {
    name: "DECKHAND_LOG",
    parse: oneOf("debug", "info", "warn", "error", "silent"),
    default: "info",
    help: "How much is logged: debug, info, warn, error or silent.",
  },
  {
    name: "DECKHAND_OUTPUT_MAX_MB",
    parse: number(1, 16_384),
    default: String(LIMITS.outputFlood / MEGABYTE),
    help: "Megabytes of output after which a command is ended.",
  },
  {
    name: "DECKHAND_APPROVAL_HOURS",
    parse: number(0, LIMITS.approvalMemory / HOUR),
    default: String(LIMITS.approvalTime / HOUR),
    help: "Hours after which an approval that nobody decided expires.",
  },
  {
    name: "DECKHAND_LOCK_MS",
    parse: number(500, 600_000),
    default: String(LIMITS.lock),
    help: "Milliseconds after which the work of a worker that died is taken over.",
  },
  {
    name: "DECKHAND_STALLED_MS",
    parse: number(100, 600_000),
    default: String(LIMITS.stalledCheck),
    help: "Milliseconds between two looks for such work; less than DECKHAND_LOCK_MS.",
  },
  {
    name: "DECKHAND_GRACE_MS",
    parse: number(0, LIMITS.commandTimeMax),
    default: String(LIMITS.graceTime),
    help: "Milliseconds that running commands get to end in when Deckhand is stopped.",
  },
  {
    name: "DECKHAND_KILL_AT",
    parse: killAt,
    default: null,
    help: "For tests only: NAME:NTH kills the process (SIGKILL) when it comes by that checkpoint for the nth time. Unset: never.",
  },
] as const satisfies readonly Setting[];

type Known = (typeof SETTINGS)[number];
/** What the settings say after parsing, by name. */
export type Values = { [S in Known as S["name"]]: ReturnType<S["parse"]> | (S["default"] extends null ? null : never) };
