import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type App, startApp } from "../../src/app.ts";
import { SCOPES } from "../../src/chat/slack/manifest.ts";
import { loadConfig } from "../../src/config.ts";
import type { Entry } from "../../src/core/entry.ts";
import type { Log } from "../../src/core/log.ts";
import { type Rule, conversationScript } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";
import { redisLog } from "../../src/redis/log.ts";
import { logTrace } from "../../src/system.ts";
import { readable } from "../../src/twin/slack/transcript.ts";
import { type SlackTwin, type SlackTwinOptions, type TwinMessage, startSlackTwin } from "../../src/twin/slack/twin.ts";
import { type TestRedis, startRedis } from "./redis.ts";
import { RUN_UID, type TestWorkspace, isRoot, makeWorkspace } from "./workspace.ts";

/** The whole product between a loopback Slack, a scripted model, an own Redis and a real workspace. */
export interface Corridor {
  twin: SlackTwin;
  model: ScriptedModel;
  redis: TestRedis;
  workspace: string;
  files: Files;
  log: Log;
  env: Record<string, string>;
  /** Somebody writes; with a thread it is a reply. Gives the conversation's root. */
  say(text: string, options?: { user?: string; channel?: string; thread?: string }): Promise<Said>;
  mention(text: string, options?: { user?: string; channel?: string; thread?: string }): Promise<Said>;
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
  posts(): TwinMessage[];
  /** Waits until a post of the bot reads like this; gives the post. */
  shows(pattern: RegExp, ms?: number): Promise<TwinMessage>;
  /** Waits for a card that still has buttons, and presses. */
  press(action: "approve" | "deny", user?: string): Promise<void>;
  entries(): Promise<Entry[]>;
}

export interface CorridorOptions {
  rules: Rule[];
  env?: Record<string, string>;
  twin?: SlackTwinOptions;
  /** False: nothing is started; see `startRole`. */
  start?: boolean;
}

export async function openCorridor(options: CorridorOptions): Promise<Corridor> {
  const [redis, model, twin] = await Promise.all([
    startRedis(),
    startScriptedModel(conversationScript(options.rules)),
    startSlackTwin({ limits: false, appScopes: [...SCOPES], ...options.twin }),
  ]);
  const workspace = makeWorkspace();
  addPeople(twin);
  const env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    SLACK_BOT_TOKEN: twin.botToken,
    SLACK_APP_TOKEN: twin.appToken,
    SLACK_API_URL: twin.apiUrl,
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "scripted",
    REDIS_URL: redis.url,
    DECKHAND_WORKSPACES: `api=${workspace.path}`,
    DECKHAND_USERS: "slack:*",
    DECKHAND_APPROVERS: "slack:U1,slack:U2",
    DECKHAND_STATE: workspace.stateDir,
    DECKHAND_LOCK_MS: "2000",
    DECKHAND_STALLED_MS: "500",
    DECKHAND_LOG: process.env["DECKHAND_LOG"] ?? "silent",
    ...options.env,
  };
  const config = loadConfig(env);
  const trace = logTrace(config.logLevel, config.secrets);
  const log = redisLog({ url: redis.url, trace });
  const app: App | null = options.start === false ? null : await startApp(config, "all", trace);
  const write = async (text: string, at: { user?: string; channel?: string; thread?: string } = {}): Promise<Said> => {
    const channel = at.channel ?? "C1";
    const thread = at.thread === undefined ? {} : { thread: at.thread };
    const { ts } = await twin.say({ channel, user: at.user ?? "U1", text, ...thread });
    return said(twin, log, channel, ts, at.thread ?? ts);
  };
  return {
    twin,
    model,
    redis,
    workspace: workspace.path,
    files: filesIn(workspace),
    log,
    env,
    say: write,
    mention: (text, at) => write(`<@${twin.botUserId}> ${text}`, at),
    async close() {
      await app?.stop();
      await log.close();
      await Promise.all([twin.close(), model.close(), redis.stop()]);
      workspace.cleanup();
    },
  };
}

function addPeople(twin: SlackTwin): void {
  for (const [id, name] of [
    ["U1", "Ann"],
    ["U2", "Bob"],
    ["U3", "Cem"],
  ] as const)
    twin.addUser({ id, name });
  twin.addUser({ id: "U8", name: "Guest", restricted: true });
  for (let n = 1; n <= 30; n += 1) twin.addChannel({ id: `C${n}`, name: `channel-${n}` });
}

function said(twin: SlackTwin, log: Log, channel: string, ts: string, root: string): Said {
  const conversation = `slack:${twin.teamId}:${channel}:${root}`;
  const posts = (): TwinMessage[] => twin.thread(channel, root).filter((m) => m.bot_id);
  const shows = (pattern: RegExp, ms = 30_000): Promise<TwinMessage> =>
    twin.waitFor(() => posts().find((m) => pattern.test(readable(m))), ms);
  return {
    ts,
    channel,
    root,
    conversation,
    posts,
    shows,
    lines: () => twin.thread(channel, root).map(readable),
    async press(action, user = "U1") {
      const label = action === "approve" ? /\[ Approve \]/ : /\[ Deny \]/;
      const card = await shows(label);
      await twin.press({ channel, ts: card.ts, actionId: action, user });
    },
    entries: () => log.read(conversation, 0),
  };
}

export interface RoleProcess {
  pid: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  end(): Promise<number | null>;
}

/** Starts `bin/deckhand start --role ROLE` as its own process and waits until it is ready. */
export async function startRole(corridor: Corridor, role: "all" | "gateway" | "worker"): Promise<RoleProcess> {
  const child = spawn("bin/deckhand", ["start", "--role", role], { env: corridor.env, stdio: ["ignore", "pipe", "pipe"] });
  const gone = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  await ready(child);
  return {
    pid: child.pid ?? 0,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
    async end() {
      child.kill("SIGTERM");
      return await gone;
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (data: Buffer) => {
      if (String(data).includes("is ready")) resolve();
    });
    child.stderr?.on("data", (data: Buffer) => {
      said += String(data);
    });
    child.once("exit", (code) => reject(new Error(`ended with ${code} before it was ready: ${said}`)));
  });
}
