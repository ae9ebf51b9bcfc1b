import { buildHands } from "./app/hands.ts";
import { measureAgain, NO_SANDBOX, openSandbox, type OpenSandbox } from "./app/sandbox.ts";
import type { Config } from "./config.ts";
import type { Access } from "./core/access.ts";
import type { Entry } from "./core/entry.ts";
import { DeckhandError, NotStarted, asDeckhandError, messageOf } from "./core/errors.ts";
import { type Fetcher, fileFetcher } from "./core/files.ts";
import { abandon, type IntakeDeps, intake } from "./core/intake.ts";
import { knownEntries } from "./core/known.ts";
import { liveBoard } from "./core/live.ts";
import type { Log } from "./core/log.ts";
import type { Chat, Limiter, Queue, Trace } from "./core/ports.ts";
import { drainPosts } from "./core/poster.ts";
import { redactor } from "./core/redactor.ts";
import { findNow, servedLately } from "./core/status.ts";
import { sparingly } from "./core/sparingly.ts";
import { every, sweep, sweepPosts } from "./core/sweep.ts";
import { turn } from "./core/turn.ts";
import { LIMITS } from "./limits.ts";
import type { Claims } from "./redis/claim.ts";
import type { NearBell, NearParts } from "./redis/near.ts";
import type { WorkerQueue } from "./redis/queue.ts";
import { systemClock, systemIds } from "./system.ts";

/** The only place that builds things: configuration -> wires -> core. SDKs are loaded when their part starts. */

export type Role = "all" | "gateway" | "worker";

export interface App {
  /** Stops hearing, lets running commands end (those that take too long are `interrupted`), closes every connection. */
  stop(): Promise<void>;
}

async function measureEvery(everyMs: number, opened: OpenSandbox, deps: IntakeDeps, signal: AbortSignal): Promise<void> {
  await opened.sandbox.tidy(LIMITS.retention);
  // The first time was before the start.
  await deps.clock.sleep(everyMs, signal);
  await every(() => measureAgain(opened, deps.trace), everyMs, deps, signal);
}

export const NOT_SET = {
  workspace: new DeckhandError("CONFIG", "no workspace: set DECKHAND_WORKSPACES=name=/path"),
  chat: new DeckhandError("CONFIG", "no chat platform: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN, or DISCORD_TOKEN"),
};

/** What must hold before a role starts; throws NotStarted with every reason at once. Null: the role runs no commands. */
async function ground(config: Config, role: Role, trace: Trace): Promise<OpenSandbox | null> {
  const { checkRedis } = await import("./redis/check.ts");
  const problems = await checkRedis(config.redisUrl, { loopbackIsSafe: config.sandbox === "bwrap" });
  if (role !== "worker" && !config.slack && !config.discord) problems.push(NOT_SET.chat.line());
  if (role !== "gateway" && config.workspaces.length === 0) problems.push(NOT_SET.workspace.line());
  let opened: OpenSandbox | null = null;
  try {
    if (role !== "gateway") opened = await openSandbox(config, config.workspaces, trace);
  } catch (thrown) {
    problems.push(...(thrown instanceof NotStarted ? thrown.lines : [asDeckhandError(thrown).line()]));
  }
  if (problems.length === 0) return opened;
  await opened?.sandbox.close();
  throw new NotStarted(problems);
}

/**
 * Starts a role. Throws NotStarted with every line that keeps it from starting. `signal` ends a start that still
 * waits for a chat platform; what has been started so far is stopped as usual.
 */
export async function startApp(config: Config, role: Role, trace: Trace, signal?: AbortSignal): Promise<App> {
  const opened = await ground(config, role, trace);
  const { redisLog } = await import("./redis/log.ts");
  const { bullQueue } = await import("./redis/queue.ts");
  const { watchRedis } = await import("./redis/watch.ts");
  const log = redisLog({ url: config.redisUrl, trace });
  const { lockMs, stalledMs } = config;
  const queue = bullQueue({ url: config.redisUrl, trace, lockMs, stalledMs, producer: log.connection });
  const end = new AbortController();
  const hurry = new AbortController();
  const watch = watchRedis({ url: config.redisUrl, trace });
  const near = role === "worker" ? null : await nearPosts(config, { log, trace, far: queue, lockMs });
  const bells = { wake: queue.wake, wakePosts: near?.wakePosts ?? queue.wakePosts };
  const deps: IntakeDeps = { log, queue: bells, clock: systemClock, trace, access: accessOf(config), isFull: watch.isFull };
  const gateway = near && (await openGateway(config, { near, limiter: log.limiter }, deps));
  signal?.addEventListener("abort", () => void gateway?.endHearing());
  const sweeping = Promise.all([
    every(() => sweep(deps), LIMITS.sweepEvery, deps, end.signal),
    every(() => sweepPosts(deps), 200, deps, end.signal),
    ...(opened ? [measureEvery(LIMITS.selfTestEvery, opened, deps, end.signal)] : []),
  ]);
  let claims: Claims | null = null;
  const stop = async (): Promise<void> => {
    await gateway?.endHearing();
    hurry.abort();
    await queue.close(config.graceMs, near?.close);
    end.abort();
    await Promise.all([opened?.sandbox.close(), claims?.close(), gateway?.files.close(), watch.close(), sweeping]);
    await log.close();
  };
  try {
    if (opened) {
      claims = await claim(config, opened, queue, trace);
      await startWorker({ config, opened, claims, queue, hurry: hurry.signal }, deps);
    }
    if (gateway) await startGateway(config, gateway, queue, deps, { end: end.signal, hurry: hurry.signal });
    // What a crash left behind is looked at now, not when its age shows.
    await sweep(deps, 0);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return { stop };
}

export function accessOf(config: Config): Access {
  return { users: config.users, approvers: config.approvers, workspaces: config.workspaces, models: config.models.open };
}

/** Throws NotStarted when another host has one of the workspaces. */
async function claim(config: Config, opened: OpenSandbox, queue: WorkerQueue, trace: Trace): Promise<Claims> {
  const { claimWorkspaces, hostId } = await import("./redis/claim.ts");
  const lost = (workspace: string): void => {
    queue.leave(workspace).catch((thrown: unknown) => trace.warn("leave-failed", { workspace, error: messageOf(thrown) }));
  };
  const workspaces = [...opened.workspaces.keys()];
  const scale = config.lockMs / LIMITS.lock;
  const times = { ttlMs: LIMITS.claim * scale, presenceMs: LIMITS.presence * scale };
  return await claimWorkspaces({ url: config.redisUrl, trace, host: hostId(config.stateDir), workspaces, lost, ...times });
}

interface WorkerParts {
  config: Config;
  opened: OpenSandbox;
  claims: Claims;
  queue: Queue;
  /** Aborts when we stop: what is to be posted by then is rung for at once. */
  hurry: AbortSignal;
}

async function startWorker({ config, opened, claims, queue, hurry }: WorkerParts, deps: IntakeDeps): Promise<void> {
  const { log, trace, access } = deps;
  const ring = (conversation: string): void => unheard(deps.queue.wakePosts(conversation), conversation, trace);
  const appended = sparingly(ring, LIMITS.ringEvery, systemClock, hurry);
  const { redisLearned } = await import("./redis/learned.ts");
  const learned = redisLearned({ url: config.redisUrl, trace });
  const hands = await buildHands({ config, log, trace, access, ...opened, appended, learned });
  for (const name of opened.workspaces.keys()) {
    await queue.serve([name], (wake) => claims.during(name, wake.signal, (signal) => turn({ ...wake, signal }, hands)));
  }
  await claims.announce();
  trace.info("worker-ready", { workspaces: [...opened.workspaces.keys()], sandbox: opened.sandbox.name });
}

/** A ring that nobody waits for. When it fails, the thread is behind until the sweeper rings; the log is complete. */
function unheard(ring: Promise<void>, conversation: string, trace: Trace): void {
  ring.catch((thrown: unknown) => trace.warn("ring-failed", { conversation, error: messageOf(thrown) }));
}

/** The bell of the threads that this process posts in; `isOurs` says of which. Rings for those of other platforms are passed on. */
interface NearPosts extends NearBell, Pick<Queue, "wakePosts"> {
  isOurs(conversation: string): boolean;
}

async function nearPosts(config: Config, parts: NearParts): Promise<NearPosts> {
  const { nearBell } = await import("./redis/near.ts");
  const bell = nearBell(parts);
  const isOurs = (conversation: string): boolean => (conversation.startsWith("slack:") ? config.slack : config.discord) !== null;
  return {
    ...bell,
    isOurs,
    wakePosts: async (conversation) => (isOurs(conversation) ? bell.ring(conversation) : await parts.far.wakePosts(conversation)),
  };
}

/** The near bell's drains come after it on the log's own connection; a worker's way through the doorbell is far longer. */
function earlyRing(near: NearBell, queue: Queue, lately: Pick<Log, "isServed">, trace: Trace): NonNullable<IntakeDeps["ringEarly"]> {
  return (conversation, workspace, coming) => {
    near.ring(conversation, coming);
    if (workspace === null) return;
    // Asked in the same packet: who posts wants to know it. What is wrong is told there.
    lately.isServed(workspace).catch(() => {});
    unheard(queue.wake(conversation, workspace), conversation, trace);
  };
}

interface Gateway {
  chats: Chat[];
  near: NearPosts;
  limiter: Limiter;
  files: Fetcher;
  /** Twice is once. Never rejects. */
  endHearing(): Promise<void>;
}

async function openGateway(config: Config, parts: Pick<Gateway, "near" | "limiter">, deps: IntakeDeps): Promise<Gateway> {
  const { log, trace } = deps;
  const chats: Chat[] = [];
  const watch = [...new Set(config.workspaces.flatMap((w) => w.channels))];
  if (config.slack) {
    const { slackChat } = await import("./chat/slack/slack.ts");
    const own = watch.filter((channel) => channel.startsWith("slack:"));
    chats.push(slackChat({ ...config.slack, trace, log, clock: systemClock, watch: own }));
  }
  if (config.discord) {
    const { discordChat } = await import("./chat/discord/discord.ts");
    chats.push(discordChat({ ...config.discord, trace, log, clock: systemClock, ids: systemIds, watch }));
  }
  async function endHearing(): Promise<void> {
    const stopped = chats.map(async (chat) => {
      await chat.stop().catch((thrown: unknown) => trace.warn("chat-stop-failed", { platform: chat.platform, error: messageOf(thrown) }));
    });
    const done = new AbortController();
    // What is not kept by then is not acknowledged either, and comes again.
    await Promise.race([Promise.all(stopped), systemClock.sleep(LIMITS.hearingEnd, done.signal)]);
    done.abort();
  }
  let ended: Promise<void> | null = null;
  return { ...parts, chats, files: fileFetcher({ ...deps, chats }), endHearing: () => (ended ??= endHearing()) };
}

/** `hurry` aborts when we stop: what is to be posted by then is posted at once. */
interface Signals {
  end: AbortSignal;
  hurry: AbortSignal;
}

async function startGateway(config: Config, gateway: Gateway, queue: Queue, deps: IntakeDeps, { end, hurry }: Signals): Promise<void> {
  const { chats, limiter, near } = gateway;
  const { log, trace } = deps;
  const redact = redactor(config.secrets);
  const statusBudget = (conversation: string): string | null => {
    const chat = chats.find(({ platform }) => conversation.startsWith(`${platform}:`));
    return chat?.buckets(conversation, "edit", "status")[0]?.name ?? null;
  };
  const { heard, newest } = liveBoard({ log, queue: deps.queue, clock: systemClock, trace, redact, budget: statusBudget, signal: end });
  await log.onLive(heard);
  const lately = servedLately(log, systemClock);
  const known = knownEntries(log);
  const poster = {
    log: deps.log,
    limiter,
    clock: systemClock,
    ids: systemIds,
    trace: deps.trace,
    chats: new Map(chats.map((chat) => [chat.platform, chat])),
    banner: config.sandbox === "none" ? NO_SANDBOX : null,
    redact,
    entries: known.entriesOf,
    fetch: gateway.files.look,
    now: (conversation: string, entries: Entry[]) => findNow(conversation, entries, { log: lately, trace, newest }),
    abandon: (conversation: string, code: string) => abandon(conversation, code, deps),
    hurry,
  };
  near.serve((wake) => drainPosts(wake, poster));
  // What other processes ring for. One for another platform is given back to the bell.
  await queue.servePosts((wake) => (near.isOurs(wake.conversation) ? near.answer(wake.conversation) : drainPosts(wake, poster)));
  // At once: a platform that is down must not keep the other from being heard.
  const ringEarly = earlyRing(near, queue, lately, trace);
  // The acknowledgement goes first, then the command: what the card says of it the presser knows.
  const ringSoon: NonNullable<IntakeDeps["ringSoon"]> = (conversation, workspace) => {
    setImmediate(() => unheard(queue.wake(conversation, workspace), conversation, trace));
    void systemClock.sleep(LIMITS.cardAfter, hurry).then(() => near.ring(conversation));
  };
  const hearing = { ...deps, ringEarly, ringSoon, known: known.requestOf };
  await Promise.all(chats.map((chat) => chat.start((inbound) => intake(inbound, hearing))));
  deps.trace.info("gateway-ready", { platforms: chats.map((chat) => chat.platform) });
}
