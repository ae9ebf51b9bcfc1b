import { readdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Config } from "./config.ts";
import type { Access } from "./core/access.ts";
import type { Person } from "./core/entry.ts";
import { DeckhandError, NotStarted, messageOf } from "./core/errors.ts";
import type { Hands } from "./core/hands.ts";
import { type IntakeDeps, intake } from "./core/intake.ts";
import type { Log } from "./core/log.ts";
import type { Chat, Queue, Sandbox, Tool, Trace } from "./core/ports.ts";
import { drainPosts } from "./core/poster.ts";
import { every, sweep, sweepPosts } from "./core/sweep.ts";
import { turn } from "./core/turn.ts";
import { LIMITS } from "./limits.ts";
import { realpathOf, systemClock, systemIds } from "./system.ts";

/** The only place that builds things: configuration -> wires -> core. SDKs are loaded when their part starts. */

export type Role = "all" | "gateway" | "worker";

export interface App {
  /** Stops hearing, ends what runs as `interrupted`, closes every connection. */
  stop(): Promise<void>;
}

export interface OpenSandbox {
  sandbox: Sandbox;
  /** Name -> real folder and the badge that was measured in it. */
  workspaces: Map<string, { path: string; badge: string }>;
}

/** Checks each workspace and measures the sandbox in it. Throws NotStarted: without both, nothing may run. */
export async function openSandbox(config: Config, list: { name: string; path: string }[]): Promise<OpenSandbox> {
  const options = { stateDir: config.stateDir, runAs: config.runAs, secrets: config.secrets };
  const sandbox =
    config.sandbox === "none"
      ? (await import("./sandbox/none.ts")).noneSandbox(options)
      : (await import("./sandbox/bwrap.ts")).bwrapSandbox(options);
  const workspaces: OpenSandbox["workspaces"] = new Map();
  const problems: string[] = [];
  for (const { name, path } of list) {
    const report = await sandbox.selfTest(path);
    if (report.ok) workspaces.set(name, { path, badge: report.badge });
    else problems.push(...report.problems);
  }
  if (problems.length === 0) return { sandbox, workspaces };
  await sandbox.close();
  throw new NotStarted(problems);
}

/** Every file in `src/tools` is a tool: adding one is adding a file. */
export async function loadTools(folder: string = join(import.meta.dirname, "tools")): Promise<Map<string, Tool>> {
  const tools = new Map<string, Tool>();
  for (const file of readdirSync(folder)
    .filter((f) => f.endsWith(".ts"))
    .sort()) {
    const { tool } = (await import(join(folder, file))) as { tool: Tool };
    tools.set(tool.spec.name, tool);
  }
  return tools;
}

interface HandParts extends OpenSandbox {
  config: Config;
  log: Log;
  trace: Trace;
  access: Access;
  appended: Hands["appended"];
}

export async function buildHands(parts: HandParts): Promise<Hands> {
  const { config, ...rest } = parts;
  const { openaiModel } = await import("./model/openai.ts");
  return {
    ...rest,
    model: openaiModel(config.model),
    tools: await loadTools(),
    clock: systemClock,
    ids: systemIds,
    posture: config.posture,
    realpath: realpathOf,
    host: hostname(),
    approvalMs: config.approvalMs,
    stopPollMs: LIMITS.stopPoll,
    retry: {
      tries: LIMITS.modelTries,
      baseMs: LIMITS.modelRetryBase,
      maxMs: LIMITS.modelRetryMax,
      retryAfterMaxMs: LIMITS.modelRetryAfterMax,
    },
  };
}

/** Starts a role. Throws NotStarted with every line that keeps it from starting. */
export async function startApp(config: Config, role: Role, trace: Trace): Promise<App> {
  const { checkRedis } = await import("./redis/check.ts");
  const unsafe = await checkRedis(config.redisUrl, { loopbackIsSafe: config.sandbox === "bwrap" });
  if (unsafe.length > 0) throw new NotStarted(unsafe);
  const { redisLog } = await import("./redis/log.ts");
  const { bullQueue } = await import("./redis/queue.ts");
  const log = redisLog({ url: config.redisUrl, trace });
  const queue = bullQueue({ url: config.redisUrl, trace, lockMs: config.lockMs, stalledMs: config.stalledMs });
  const end = new AbortController();
  const closers: (() => Promise<void>)[] = [];
  const deps: IntakeDeps = { log, queue, clock: systemClock, trace, access: accessOf(config) };
  const stop = async (): Promise<void> => {
    end.abort();
    for (const close of closers) await close();
    await queue.close();
    await sweeping;
    await log.close();
  };
  const sweeping = Promise.all([
    every(() => sweep(deps), LIMITS.sweepEvery, deps, end.signal),
    every(() => sweepPosts(deps), 200, deps, end.signal),
  ]);
  try {
    if (role !== "gateway") closers.push(await startWorker(config, log, queue, deps));
    if (role !== "worker") closers.unshift(await startGateway(config, log, queue, deps));
    // What a crash left behind is looked at now, not when its age shows.
    await sweep(deps, 0);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return { stop };
}

export function accessOf(config: Config): Access {
  return { users: config.users, approvers: config.approvers, workspaces: config.workspaces };
}

async function startWorker(config: Config, log: Log, queue: Queue, deps: IntakeDeps): Promise<() => Promise<void>> {
  if (config.workspaces.length === 0) throw new DeckhandError("CONFIG", "no workspace: set DECKHAND_WORKSPACES=name=/path");
  const opened = await openSandbox(config, config.workspaces);
  const appended = (conversation: string): void => {
    queue.wakePosts(conversation).catch((thrown: unknown) => {
      // The thread is behind until the sweeper rings; the log is complete.
      deps.trace.warn("ring-failed", { conversation, error: messageOf(thrown) });
    });
  };
  const hands = await buildHands({ config, log, trace: deps.trace, access: deps.access, ...opened, appended });
  await queue.serve([...opened.workspaces.keys()], (wake) => turn(wake, hands));
  deps.trace.info("worker-ready", { workspaces: [...opened.workspaces.keys()], sandbox: opened.sandbox.name });
  return async () => {
    await queue.close();
    await opened.sandbox.close();
  };
}

/** Nobody in particular: the thread itself is gone. */
const DECKHAND: Person = { key: "deckhand", name: "Deckhand (the thread cannot be reached)", kind: "bot", roles: [] };

async function startGateway(config: Config, log: Log, queue: Queue, deps: IntakeDeps): Promise<() => Promise<void>> {
  const chats = await openChats(config, log, deps.trace);
  const { redisLimiter } = await import("./redis/limiter.ts");
  const limiter = redisLimiter({ url: config.redisUrl, trace: deps.trace });
  const poster = {
    log,
    limiter,
    clock: systemClock,
    ids: systemIds,
    trace: deps.trace,
    chats: new Map(chats.map((chat) => [chat.platform, chat])),
    banner: config.sandbox === "none" ? "Commands here run WITHOUT a sandbox (DECKHAND_SANDBOX=none)." : null,
    abandon: (conversation: string, code: string) => abandon(conversation, code, deps),
  };
  await queue.servePosts((wake) => drainPosts(wake, poster));
  for (const chat of chats) await chat.start((inbound) => intake(inbound, deps));
  deps.trace.info("gateway-ready", { platforms: chats.map((chat) => chat.platform) });
  return async () => {
    for (const chat of chats) await chat.stop();
    await queue.close();
    await limiter.close();
  };
}

async function openChats(config: Config, log: Log, trace: Trace): Promise<Chat[]> {
  const chats: Chat[] = [];
  if (config.slack) {
    const { slackChat } = await import("./chat/slack/slack.ts");
    const watch = config.workspaces.flatMap((w) => w.channels).filter((channel) => channel.startsWith("slack:"));
    chats.push(slackChat({ ...config.slack, trace, log, clock: systemClock, watch: [...new Set(watch)] }));
  }
  if (chats.length === 0) throw new DeckhandError("CONFIG", "no chat platform: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN");
  return chats;
}

/** A thread that nobody can read any more must not go on working: it is stopped like by a person. */
async function abandon(conversation: string, code: string, deps: IntakeDeps): Promise<void> {
  try {
    const head = await deps.log.head(conversation);
    if (!head) return;
    const event = `gone:${conversation}:${head.seq}`;
    const entry = { type: "stop" as const, event, by: { ...DECKHAND, name: `${DECKHAND.name}: ${code}` } };
    await deps.log.ingest({ conversation, event, at: deps.clock.now(), entry, wakes: true });
    await deps.queue.wake(conversation, head.workspace);
  } catch (thrown) {
    deps.trace.warn("abandon-failed", { conversation, error: messageOf(thrown) });
  }
}
