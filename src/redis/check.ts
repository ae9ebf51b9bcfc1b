import { Redis } from "ioredis";
import { DeckhandError } from "../core/errors.ts";
import { troubleOf } from "./connect.ts";
import { memoryLine, readHealth } from "./health.ts";

const CONNECT_MS = 3000;

interface CheckOptions {
  /** Wait for one that still reads its file, instead of telling so. */
  whenReady?: boolean;
  /** What runs on this machine is kept from it by the sandbox, so there it needs no password. */
  loopbackIsSafe?: boolean;
}

/** What a Redis is asked for: lines for a person of what is wrong, and what it promises when it answers. */
export interface RedisReport {
  /** REDIS_DOWN: it does not answer. REDIS_AUTH: not with this password. REDIS_UNSAFE: it can lose work, or others can write to it. Nothing may start on it. */
  wrong: string[];
  /** What may pass: it still loads, its disk or its memory is full. */
  troubles: string[];
  promise: string;
}

/** What keeps anything from starting on this Redis, one line for a person each. Never throws and changes nothing. */
export async function checkRedis(url: string, options: CheckOptions = {}): Promise<string[]> {
  return (await lookAtRedis(url, { ...options, whenReady: true })).wrong;
}

/** Everything that is to be said of this Redis now. Never throws and changes nothing. */
export async function lookAtRedis(url: string, { loopbackIsSafe = true, whenReady = false }: CheckOptions = {}): Promise<RedisReport> {
  try {
    if (whenReady) await withClient(url, (client) => client.ping(), true);
    const [info, fsync] = await withClient(url, async (client) => [await client.info(), await settingOf(client, "appendfsync")] as const);
    const near = loopbackIsSafe && isLoopback(url) && !(await withClient(url, listensOutside));
    const open = isTcp(url) && !near && (await answersWithoutPassword(url));
    const { unsafe, troubles } = readHealth(info);
    return {
      wrong: [...unsafe, ...(open ? [new DeckhandError("REDIS_UNSAFE", OPEN)] : [])].map((problem) => problem.line()),
      troubles: troubles.map((trouble) => trouble.line()),
      promise: `durable, does not evict; ${FSYNC[fsync ?? ""] ?? "appendfsync is not told here"}; ${memoryLine(info)}`,
    };
  } catch (thrown) {
    const trouble = troubleOf(thrown);
    const code = /NOAUTH|WRONGPASS/.test(trouble) ? "REDIS_AUTH" : "REDIS_DOWN";
    return { wrong: [new DeckhandError(code, trouble).line()], troubles: [], promise: "" };
  }
}

const OPEN =
  "anyone who reaches it can write to it without a password, and so approve; set `requirepass` and put the password into REDIS_URL";

/** What each `appendfsync` keeps when the machine loses its power; a process that is killed loses nothing with any of them. */
const FSYNC: Record<string, string> = {
  always: "appendfsync always: a power loss loses nothing that was taken",
  everysec:
    "appendfsync everysec: a power loss can lose the last second, and a command of that second could run again (docs/durability.md)",
  no: "appendfsync no: a power loss can lose the last half minute, and a command of that time could run again (docs/durability.md)",
};

/** Null when CONFIG is forbidden, as hosted services do. */
async function settingOf(client: Redis, name: string): Promise<string | null> {
  return await client.config("GET", name).then(
    (reply) => (reply as string[])[1] ?? null,
    () => null,
  );
}

/** Whether it takes connections from other machines; a server that does not tell is believed to be closed: those want a password. */
async function listensOutside(client: Redis): Promise<boolean> {
  const bind = await settingOf(client, "bind");
  return bind !== null && (await settingOf(client, "protected-mode")) === "no" && bindsOutside(bind);
}

/** Redis's `bind`: addresses with blanks between, `-` for those that may be missing; empty means all. */
export function bindsOutside(bind: string): boolean {
  const addresses = bind.split(/\s+/).filter(Boolean);
  return addresses.length === 0 || addresses.some((address) => !/^-?(127\.|::1$|localhost$)/.test(address));
}

function isTcp(url: string): boolean {
  return /^rediss?:\/\//.test(url);
}

function isLoopback(url: string): boolean {
  const host = new URL(url).hostname;
  return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}

async function answersWithoutPassword(url: string): Promise<boolean> {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  try {
    return (await withClient(bare.href, (client) => client.ping())) === "PONG";
  } catch {
    return false; // refused without a password, as it should be
  }
}

/** One connection for one question; it does not come back when it fails. */
async function withClient<T>(url: string, act: (client: Redis) => Promise<T>, enableReadyCheck = false): Promise<T> {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: CONNECT_MS,
    commandTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    enableReadyCheck,
  });
  let trouble: unknown;
  client.on("error", (error) => {
    trouble = error;
  });
  try {
    await client.connect();
    return await act(client);
  } catch (thrown) {
    throw trouble ?? thrown; // the cause, rather than "Connection is closed"
  } finally {
    client.disconnect();
  }
}
