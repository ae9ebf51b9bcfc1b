import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import type { Entry } from "../../src/core/entry.ts";
import type { Log } from "../../src/core/log.ts";
import { type Rule, conversationScript } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";
import { redisLog } from "../../src/redis/log.ts";
import { logTrace } from "../../src/system.ts";
import type { DiscordTwin, DiscordTwinOptions } from "../../src/twin/discord/twin.ts";
import type { SlackTwin, SlackTwinOptions } from "../../src/twin/slack/twin.ts";
import { startHere } from "./here.ts";
import { type TestRedis, startRedis } from "./redis.ts";
import { type Attached, type Platform, type Shown, type Stage, discordStage, slackStage } from "./stage.ts";
import { RUN_UID, type TestWorkspace, isRoot, makeWorkspace } from "./workspace.ts";

interface At {
  user?: string;
  channel?: string;
  thread?: string;
  files?: Attached[];
}

/** The whole product between a loopback chat, a scripted model, an own Redis and a real workspace. */
export interface Corridor {
  stage: Stage;
  /** For tests of one platform's own ways; throws on the other. */
  twin: SlackTwin;
  discord: DiscordTwin;
  model: ScriptedModel;
  redis: TestRedis;
  workspace: string;
  files: Files;
  log: Log;
  env: Record<string, string>;
  /** Somebody writes; with a thread it is a reply. Gives the conversation's root. */
  say(text: string, at?: At): Promise<Said>;
  mention(text: string, at?: At): Promise<Said>;
  close(): Promise<void>;
}

/** What a test puts into the workspace and finds there. */
export interface Files {
  write(name: string, text: string): void;
  read(name: string): string;
  has(name: string): boolean;
  remove(name: string): void;
  /** Makes the workspace a repository on branch `main` with one commit. */
  git(): void;
}

function filesIn(workspace: TestWorkspace): Files {
  const at = (name: string): string => join(workspace.path, name);
  return {
    write(name, text) {
      writeFileSync(at(name), text);
      workspace.give(at(name));
    },
    read: (name) => readFileSync(at(name), "utf8"),
    has: (name) => existsSync(at(name)),
    remove: (name) => rmSync(at(name), { recursive: true, force: true }),
    git() {
      const who = ["-c", "user.name=Test", "-c", "user.email=test@localhost"];
      for (const args of [
        ["init", "-q", "-b", "main"],
        ["add", "."],
        [...who, "commit", "-qm", "first", "--allow-empty"],
      ]) {
        execFileSync("git", ["-c", "safe.directory=*", ...args], { cwd: workspace.path });
      }
      if (isRoot()) execFileSync("chown", ["-R", `${RUN_UID}:${RUN_UID}`, workspace.path]);
    },
  };
}

export interface Said {
  ts: string;
  channel: string;
  root: string;
  conversation: string;
  /** The posts of the thread as a person reads them, the asker's words first. */
  lines(): string[];
  posts(): Shown[];
  /** The bot's and everybody else's, oldest first. */
  all(): Shown[];
  /** How a post reads now. */
  text(post: { ts: string }): string;
  /** Waits until a post of the bot reads like this (`^` and `$` are the ends of a line); gives the post. */
  shows(pattern: RegExp, ms?: number): Promise<Shown>;
  /** Waits for a card that still has buttons, and presses the newest. */
  press(action: "approve" | "deny", user?: string): Promise<void>;
  entries(): Promise<Entry[]>;
}

export interface CorridorOptions {
  rules: Rule[];
  platform?: Platform;
  env?: Record<string, string>;
  twin?: SlackTwinOptions & DiscordTwinOptions;
  /** Before the configuration is read. */
  prepare?: (stage: Stage) => void;
  /** False: nothing is started; see `startRole` in crew.ts. */
  start?: boolean;
}

export async function openCorridor(options: CorridorOptions): Promise<Corridor> {
  const [redis, model, chat] = await Promise.all([
    startRedis(),
    startScriptedModel(conversationScript(options.rules)),
    openChat(options.platform, options.twin),
  ]);
  const { stage } = chat;
  const workspace = makeWorkspace();
  const env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    DECKHAND_ENV_FILE: "", // not the `.env` of whoever runs the tests
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    ...stage.env,
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "scripted",
    REDIS_URL: redis.url,
    DECKHAND_WORKSPACES: `api=${workspace.path}`,
    DECKHAND_USERS: `${stage.platform}:*`,
    DECKHAND_APPROVERS: `${stage.person("U1")},${stage.person("U2")}`,
    DECKHAND_STATE: workspace.stateDir,
    DECKHAND_LOCK_MS: "2000",
    DECKHAND_STALLED_MS: "500",
    DECKHAND_GRACE_MS: "1000",
    DECKHAND_LOG: process.env["DECKHAND_LOG"] ?? "silent",
    ...options.env,
  };
  options.prepare?.(stage);
  const config = await loadConfig(env);
  const trace = logTrace(config.logLevel, config.secrets);
  const log = redisLog({ url: redis.url, trace });
  const app: App | null = options.start === false ? null : await startHere(env, "all", trace);
  return {
    ...people(chat, log),
    model,
    redis,
    workspace: workspace.path,
    files: filesIn(workspace),
    log,
    env,
    async close() {
      await app?.stop();
      await log.close();
      await Promise.all([stage.close(), model.close(), redis.stop()]);
      workspace.cleanup();
    },
  };
}

/** The other platform on the same Redis, model and workspace: what is started from now on serves both. */
export async function openBeside(deck: Corridor, platform: Platform, twin?: CorridorOptions["twin"]): Promise<Corridor> {
  const chat = await openChat(platform, twin);
  const { stage } = chat;
  const { env } = deck;
  Object.assign(env, stage.env, {
    DECKHAND_USERS: `${env["DECKHAND_USERS"]},${platform}:*`,
    DECKHAND_APPROVERS: `${env["DECKHAND_APPROVERS"]},${stage.person("U1")},${stage.person("U2")}`,
  });
  return { ...deck, ...people(chat, deck.log), close: stage.close };
}

async function openChat(platform: Platform | undefined, twin: CorridorOptions["twin"]): Promise<OpenChat> {
  return await (platform === "discord" ? discordStage(twin) : slackStage(twin));
}

interface OpenChat {
  stage: Stage;
  twin: object;
}

/** What people have in their hands. */
function people({ stage, twin }: OpenChat, log: Log): Pick<Corridor, "stage" | "twin" | "discord" | "say" | "mention"> {
  const say: Corridor["say"] = async (text, at = {}) => {
    const channel = at.channel ?? "C1";
    const { thread, files } = at;
    const { ts } = await stage.say({ channel, user: at.user ?? "U1", text, ...(thread ? { thread } : {}), ...(files ? { files } : {}) });
    return said(stage, log, channel, ts, at.thread ?? ts);
  };
  return {
    stage,
    twin: only<SlackTwin>(twin, stage.platform === "slack"),
    discord: only<DiscordTwin>(twin, stage.platform === "discord"),
    say,
    mention: (text, at) => say(`${stage.mention("bot")} ${text}`, at),
  };
}

/** The twin, or something that fails at the first use when the test runs on the other platform. */
function only<T extends object>(twin: object, right: boolean): T {
  if (right) return twin as T;
  return new Proxy({} as T, {
    get: (_, name) => {
      throw new Error(`this test runs on the other platform and cannot use ${String(name)}`);
    },
  });
}

function said(stage: Stage, log: Log, channel: string, ts: string, root: string): Said {
  const conversation = stage.conversation(channel, root);
  const posts = (): Shown[] => stage.thread(channel, root, "bot");
  const all = (): Shown[] => stage.thread(channel, root, "all");
  const shows = (pattern: RegExp, ms = 45_000): Promise<Shown> => {
    // Where much comes at once, a post begins with what stands before it.
    const inLines = new RegExp(pattern, `${pattern.flags.replace("m", "")}m`);
    return stage.waitFor(() => posts().find((m) => inLines.test(m.text)), ms);
  };
  return {
    ts,
    channel,
    root,
    conversation,
    posts,
    all,
    shows,
    lines: () => all().map((m) => m.text),
    text: (post) => posts().find((m) => m.ts === post.ts)?.text ?? "",
    async press(action, user = "U1") {
      const button = action === "approve" ? /\[ Approve \]/ : /\[ Deny \]/;
      const card = await stage.waitFor(() => posts().findLast(({ text }) => button.test(text)), 45_000);
      await stage.press({ channel, root, ts: card.ts, action, user });
    },
    entries: () => log.read(conversation, 0),
  };
}
