import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import type { Role } from "../../src/app.ts";
import type { Entry } from "../../src/core/entry.ts";
import { KEYS } from "../../src/redis/keys.ts";
import { entryOf } from "../../src/redis/rows.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import type { Platform } from "../support/stage.ts";
import { type BenchModel, ended, startModel } from "./models.ts";
import { childrenOf } from "./workers.ts";

/** What a process of the product holds, after a collection of garbage; megabytes. */
export interface Standing {
  rss: number;
  heap: number;
  /** Which of the heavy packages it has loaded. */
  packages: string[];
}

/** One process of the product. */
export interface AppProcess {
  pid: number;
  standing(): Promise<Standing>;
  /** Its CPU time and that of all that it has started, in milliseconds. */
  cpu(): number;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** The product between a twin, an own Redis and the benches' model; every part in its own process but the twin. */
export interface Product {
  deck: Corridor;
  model: BenchModel;
  /** To look at what is kept. */
  redis: Redis;
  start(role?: Role): Promise<AppProcess>;
  /** Somebody mentions the bot; gives the thread's root. */
  mention(text: string, channel?: string): Promise<string>;
  reply(root: string, text: string, channel?: string): Promise<void>;
  entries(conversation: string): Promise<Entry[]>;
  close(): Promise<void>;
}

interface ProductOptions {
  platform?: Platform;
  sandbox?: "bwrap" | "none";
  /** Whether the platform's limits hold. */
  limits?: boolean;
}

/** Nothing is started yet; locks and checks are as shipped. */
export async function openProduct({ platform = "slack", sandbox = "none", limits = true }: ProductOptions = {}): Promise<Product> {
  const model = await startModel();
  const env = {
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: "bench",
    DECKHAND_SANDBOX: sandbox,
    DECKHAND_LOCK_MS: "10000",
    DECKHAND_STALLED_MS: "3000",
  };
  const deck = await openCorridor({ platform, rules: [], start: false, twin: { limits }, env });
  // Without a sandbox none starts on a Redis that is open to all.
  const redis = new Redis(deck.redis.url);
  await redis.config("SET", "requirepass", PASSWORD);
  deck.env["REDIS_URL"] = deck.redis.url.replace("//", `//:${PASSWORD}@`);
  const running: AppProcess[] = [];
  return {
    deck,
    model,
    redis,
    async start(role = "all") {
      const started = await startProcess(deck, role);
      running.push(started);
      if (role !== "worker") await deck.stage.waitFor(() => deck.stage.isHeard(), 60_000);
      return started;
    },
    mention: async (text, channel = "C1") =>
      (await deck.stage.say({ channel, user: "U1", text: `${deck.stage.mention("bot")} ${text}` })).ts,
    reply: async (thread, text, channel = "C1") => void (await deck.stage.say({ channel, user: "U1", text, thread })),
    entries: async (conversation) => (await redis.xrange(KEYS.log(conversation), "-", "+")).map(entryOf),
    async close() {
      await Promise.all(running.map((one) => one.stop()));
      redis.disconnect();
      await Promise.all([deck.close(), model.close()]);
    },
  };
}

const PASSWORD = "bench";

async function startProcess({ env }: Corridor, role: Role): Promise<AppProcess> {
  const child = fork(fileURLToPath(new URL("./app-main.ts", import.meta.url)), [role], {
    env,
    execArgv: ["--expose-gc", ...(process.env["BENCH_NODE"]?.split(" ").filter(Boolean) ?? [])],
  });
  await said(child);
  const pid = child.pid as number;
  return {
    pid,
    async standing() {
      child.send("how do you stand?");
      return (await said(child)) as Standing;
    },
    cpu: () => cpuOf(pid),
    async kill() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
    stop: () => ended(child),
  };
}

async function said(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const gone = once(child, "exit", { signal: over.signal }).then(([code]) => Promise.reject(new Error(`the product ended with ${code}`)));
  try {
    const [message] = await Promise.race([once(child, "message", { signal: over.signal }), gone]);
    return message;
  } finally {
    over.abort();
    gone.catch(() => {}); // aborted just now
  }
}

const TICKS_MS = 10;

/** CPU time of a process, of its ended children, and of those that still run, in milliseconds. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /, "")
    .split(" ");
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICKS_MS, 0);
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own);
}
