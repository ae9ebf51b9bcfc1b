import { Redis } from "ioredis";
import { DeckhandError } from "../core/errors.ts";
import { troubleOf } from "./connect.ts";

const CONNECT_MS = 3000;

/**
 * What is wrong with this Redis, one line for a person each; empty when it may hold our work. Never throws and
 * changes nothing. REDIS_DOWN: it does not answer. REDIS_UNSAFE: it can lose work, or others can write to it.
 * `loopbackIsSafe`: what runs on this machine is kept from it by the sandbox, so there it needs no password.
 */
export async function checkRedis(url: string, { loopbackIsSafe = true } = {}): Promise<string[]> {
  let info: Map<string, string>;
  let open: boolean;
  try {
    info = parseInfo(await withClient(url, (client) => client.info()));
    const near = loopbackIsSafe && isLoopback(url) && !(await withClient(url, listensOutside));
    open = isTcp(url) && !near && (await answersWithoutPassword(url));
  } catch (thrown) {
    return [new DeckhandError("REDIS_DOWN", troubleOf(thrown)).line()];
  }
  const problems = serverProblems(info);
  if (open)
    problems.push(
      "anyone who reaches it can write to it without a password, and so approve; set `requirepass` and put the password into REDIS_URL",
    );
  return problems.map((problem) => new DeckhandError("REDIS_UNSAFE", problem).line());
}

/** Whether it takes connections from other machines; a server that does not tell is believed to be closed. */
async function listensOutside(client: Redis): Promise<boolean> {
  const setting = async (name: string): Promise<string> => ((await client.config("GET", name)) as string[])[1] ?? "";
  try {
    return (await setting("protected-mode")) === "no" && bindsOutside(await setting("bind"));
  } catch {
    return false; // CONFIG is forbidden, as hosted services do; those want a password
  }
}

/** Redis's `bind`: addresses with blanks between, `-` for those that may be missing; empty means all. */
export function bindsOutside(bind: string): boolean {
  const addresses = bind.split(/\s+/).filter(Boolean);
  return addresses.length === 0 || addresses.some((address) => !/^-?(127\.|::1$|localhost$)/.test(address));
}

function serverProblems(info: Map<string, string>): string[] {
  const problems: string[] = [];
  const version = info.get("redis_version") ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (!(major > 6 || (major === 6 && minor >= 2))) problems.push(`it is version ${version}; install 6.2 or newer`);
  const role = info.get("role");
  if (role !== "master")
    problems.push(`it is a ${role ?? "server of unknown role"}, which takes no writes; put the master's address into REDIS_URL`);
  const policy = info.get("maxmemory_policy");
  if (policy !== "noeviction")
    problems.push(`it throws data away when it is full (maxmemory-policy ${policy}); set \`maxmemory-policy noeviction\``);
  if (info.get("aof_enabled") !== "1") problems.push("it forgets everything when it ends (appendonly no); set `appendonly yes`");
  return problems;
}

function parseInfo(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(":"));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
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
async function withClient<T>(url: string, act: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: CONNECT_MS,
    commandTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
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
