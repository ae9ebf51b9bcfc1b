import { readFileSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";
import { HOUR, MEGABYTE, type Setting, SETTINGS, type Values } from "./config/settings.ts";
import { clean, path, Refused } from "./config/values.ts";
import { joinModels, type Models } from "./config/models.ts";
import { NO_FILE, type Structure } from "./config/structure.ts";
import { joinWorkspaces, type Workspace } from "./config/workspaces.ts";
import { messageOf, NotStarted } from "./core/errors.ts";
import type { StandingRule } from "./core/rules.ts";
import { SHORTEST_SECRET } from "./core/redactor.ts";
import type { Limits, Prices } from "./core/spending.ts";

/** The only place that reads the environment and `deckhand.yaml`. */

export interface Config {
  slack: { botToken: string; appToken: string; apiUrl: string | null } | null;
  discord: { token: string; apiUrl: string | null } | null;
  model: { apiKey: string | null; baseUrl: string | null; model: string; api: "auto" | "chat" | "responses" };
  /** That one first; with those of `deckhand.yaml`. */
  models: Models;
  redisUrl: string;
  /** Where a channel has several, its default comes first. */
  workspaces: Workspace[];
  /** Those of `deckhand.yaml`; their examples hold. */
  rules: StandingRule[];
  limits: Limits;
  /** Those of `deckhand.yaml`, by model. */
  prices: Prices;
  users: string[];
  approvers: string[];
  sandbox: "bwrap" | "none";
  runAs: string | null;
  posture: "careful" | "contained";
  stateDir: string;
  /** Files and folders of ours that no workspace may hold: the program, its `.env`, the configuration. */
  apart: string[];
  logLevel: string;
  approvalMs: number;
  lockMs: number;
  stalledMs: number;
  /** How long running commands get to end in when this process is stopped. */
  graceMs: number;
  /** For tests: where this process is killed; see core/checkpoint.ts. */
  killAt: string | null;
  /** Where the programs around a command are looked up: `searchPath`. */
  path: string[];
  /** Output beyond this many bytes ends a command. */
  floodBytes: number;
  /** Values that must never be shown, the longest first. */
  secrets: string[];
}

export { SETTINGS };

type Env = Record<string, string | undefined>;

/** `readConfig`; rejects with NotStarted and a line for each problem. */
export async function loadConfig(env: Env = process.env): Promise<Config> {
  const read = await readConfig(env);
  if ("problems" in read) throw new NotStarted(read.problems.map((problem) => `${problem} (CONFIG)`));
  return read.config;
}

/**
 * The frozen configuration, or every problem at once: each names the setting and says how to mend it.
 * `readFile` gives null for a file that is not there.
 */
export async function readConfig(
  env: Env = process.env,
  readFile: (path: string) => string | null = readText,
): Promise<{ config: Config } | { problems: string[] }> {
  const problems: string[] = [];
  const values = readValues(env, problems);
  problems.push(...conflicts(values, env));
  const configFile = values.DECKHAND_CONFIG;
  const structure = await readStructure(configFile, env, readFile, problems);
  const given = {
    short: values.DECKHAND_WORKSPACES ?? [],
    long: structure.workspaces,
    channels: values.DECKHAND_CHANNELS ?? [],
    configFile,
  };
  const list = joinWorkspaces(given, problems);
  const rules = structure.rules(list);
  const { limits, prices } = structure;
  const models = joinModels(structure.models, values.OPENAI_MODEL);
  return problems.length > 0 ? { problems } : { config: frozen({ ...build(values, list, env, models), rules, limits, prices }) };
}

/** The absolute folders of the PATH. */
export function searchPath(env: Env = process.env): string[] {
  return (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
}

function build(values: Values, list: Workspace[], env: Env, models: Models): Omit<Config, "rules" | "limits" | "prices"> {
  const { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken } = values;
  return {
    slack: botToken && appToken ? { botToken, appToken, apiUrl: values.SLACK_API_URL } : null,
    discord: values.DISCORD_TOKEN ? { token: values.DISCORD_TOKEN, apiUrl: values.DISCORD_API_URL } : null,
    model: {
      ...{ apiKey: values.OPENAI_API_KEY, baseUrl: values.OPENAI_BASE_URL },
      ...{ model: values.OPENAI_MODEL, api: values.OPENAI_API },
    },
    models,
    redisUrl: values.REDIS_URL,
    workspaces: list,
    users: values.DECKHAND_USERS ?? [],
    approvers: values.DECKHAND_APPROVERS ?? [],
    sandbox: values.DECKHAND_SANDBOX,
    runAs: values.DECKHAND_RUN_AS,
    posture: values.DECKHAND_POSTURE,
    apart: [path("."), values.DECKHAND_CONFIG],
    stateDir: values.DECKHAND_STATE ?? path(process.getuid?.() === 0 ? "/var/lib/deckhand" : "~/.local/state/deckhand"),
    logLevel: values.DECKHAND_LOG,
    approvalMs: Math.round(values.DECKHAND_APPROVAL_HOURS * HOUR),
    lockMs: values.DECKHAND_LOCK_MS,
    stalledMs: values.DECKHAND_STALLED_MS,
    graceMs: values.DECKHAND_GRACE_MS,
    killAt: values.DECKHAND_KILL_AT,
    path: searchPath(env),
    floodBytes: Math.round(values.DECKHAND_OUTPUT_MAX_MB * MEGABYTE),
    secrets: secretsOf(
      values,
      [...list.flatMap(({ credentials }) => Object.values(credentials).map(({ value }) => value)), ...keysOf(models)],
      env,
    ),
  };
}

function readValues(env: Env, problems: string[]): Values {
  const values: Record<string, unknown> = {};
  for (const { name, parse, default: written } of SETTINGS as readonly Setting[]) {
    const unset = written === null ? null : parse(written);
    const text = clean(env[name]);
    try {
      values[name] = text === null ? unset : parse(text);
    } catch (thrown) {
      if (!(thrown instanceof Refused)) throw thrown;
      problems.push(`${name}: ${thrown.message}`);
      values[name] = unset; // what depends on it is checked all the same
    }
  }
  return values as Values;
}

function conflicts(values: Values, env: Env): string[] {
  const problems: string[] = [];
  const [bot, app] = [clean(env["SLACK_BOT_TOKEN"]), clean(env["SLACK_APP_TOKEN"])];
  if (bot && !app) problems.push("SLACK_APP_TOKEN: is missing; Slack needs both tokens");
  if (app && !bot) problems.push("SLACK_BOT_TOKEN: is missing; Slack needs both tokens");
  if (values.DECKHAND_STALLED_MS >= values.DECKHAND_LOCK_MS) problems.push("DECKHAND_STALLED_MS: must be less than DECKHAND_LOCK_MS");
  return problems;
}

async function readStructure(file: string, env: Env, readFile: (path: string) => string | null, problems: string[]): Promise<Structure> {
  const own = new Set<string>(SETTINGS.map(({ name }) => name));
  const variables = { value: (name: string) => clean(env[name]), isOwn: (name: string) => own.has(name) };
  try {
    const text = readFile(file);
    // The parsers are loaded only for a file that is there: they take longer than all the rest here.
    if (text !== null) return (await import("./config/file.ts")).readYaml(file, text, variables, problems);
    if (clean(env["DECKHAND_CONFIG"]) !== null) problems.push(`DECKHAND_CONFIG: ${file} is not there; create it or unset DECKHAND_CONFIG`);
  } catch (thrown) {
    problems.push(`DECKHAND_CONFIG: ${file} cannot be read; mend it: ${messageOf(thrown)}`);
  }
  return NO_FILE;
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
}

/** Variables that other programs keep secrets in, by their names; a path or a short word there is none. */
const SECRET_NAME =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?:^|_)(?:PASS|DSN)|(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|SECRET)_?KEY)$/i;
const NO_SECRET = /^(?:\/[\w.-]*\/.*|[a-z]{1,7})$/i;

function keysOf({ all }: Models): string[] {
  return all.flatMap(({ apiKey }) => apiKey ?? []);
}

function secretsOf(values: Values, given: string[], env: Env): string[] {
  const { password } = new URL(values.REDIS_URL);
  const redis = password ? [values.REDIS_URL, password, decodeURIComponent(password)] : [];
  const own = [values.SLACK_BOT_TOKEN, values.SLACK_APP_TOKEN, values.DISCORD_TOKEN, values.OPENAI_API_KEY];
  const others = Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) ? (clean(value) ?? []) : []));
  const all = [...own, ...redis, ...given, ...others.filter((value) => !NO_SECRET.test(value))];
  // Hiding a secret as short as an ordinary word would tear holes into every text.
  const hidden = all.filter((value) => value !== null && value.length >= SHORTEST_SECRET) as string[];
  return [...new Set(hidden)].sort((a, b) => b.length - a.length);
}

function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value) as unknown[]) {
    if (typeof part === "object" && part !== null) frozen(part);
  }
  return Object.freeze(value);
}
