import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Trace } from "../../src/core/ports.ts";

export interface TestRedis {
  url: string;
  port: number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data; resolves when it answers. */
  restart(): Promise<void>;
  /** From now on it can write nothing to any file, as on a full disk (false: it can again). Reads and answers go on. */
  fillDisk(full: boolean): void;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** Ended with this process, whatever the tests do. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const server of running) server.kill("SIGKILL");
});

/** An own redis-server on a free loopback port, with AOF in a temporary folder. `args` are added to its command line. */
export async function startRedis({ args = [] }: { args?: string[] } = {}): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), "deckhand-redis-"));
  let port = 0;
  let server: ChildProcess | undefined;
  const safe = ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", ""];
  async function start(): Promise<boolean> {
    const own = ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir];
    // A write beyond the limit of `fillDisk` is then an error and no signal.
    const child = spawn("sh", ["-c", 'trap "" XFSZ; exec redis-server "$@"', "sh", ...own, ...safe, ...args], { stdio: "ignore" });
    const missing = once(child, "error").then(([error]) => Promise.reject(error as Error));
    server = child;
    running.add(child);
    child.once("exit", () => running.delete(child));
    while (child.exitCode === null) {
      if (await Promise.race([answers(port), missing])) return true;
      await sleep(20);
    }
    return false;
  }
  async function kill(): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, "exit");
    server.kill("SIGKILL");
    await gone;
  }
  // Somebody else may take the port between our look and its start.
  for (let attempt = 0; attempt < 5; attempt++) {
    port = await freePort();
    if (await start()) break;
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill,
    async restart() {
      await kill();
      if (!(await start())) throw new Error(`redis-server does not start again on port ${port}`);
    },
    fillDisk(full) {
      execFileSync("prlimit", ["--pid", String(server?.pid), `--fsize=${full ? "0" : "unlimited"}:`]);
    },
    async stop() {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Sets `maxmemory` so that this share of it is in use; from 1 on it is full. 0 takes the limit away. */
export async function fillMemory(admin: Redis, share: number): Promise<void> {
  // So much that what tests and clients take besides does not count.
  if (share > 0) await admin.setrange("ballast", 40_000_000, "x");
  const used = Number(/used_memory:(\d+)/.exec(await admin.info("memory"))?.[1]);
  await admin.config("SET", "maxmemory", share > 0 ? String(Math.round(used / share)) : "0");
}

/** Whether a server that has loaded its data speaks on this port (with or without a password). */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    socket.write("PING\r\n");
    const [reply] = (await once(socket, "data")) as [Buffer];
    return /PONG|NOAUTH/.test(reply.toString());
  } catch {
    return false; // not there yet
  } finally {
    socket.destroy();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

export interface LossyProxy {
  url: string;
  /** The reply to the next request with this text in it is lost: the server does it, and the connection breaks before the answer. */
  loseReplyTo(text: string): void;
  lost(): number;
  /** The next request with this text in it, and what follows on its connection, waits for `letGo`. */
  hold(text: string): { isHeld(): boolean; letGo(): void };
  stop(): Promise<void>;
}

/** A TCP proxy in front of a server. */
export async function lossyProxy(port: number): Promise<LossyProxy> {
  const open = new Set<Socket>();
  let wanted: string | undefined;
  let lost = 0;
  let held: { text: string; back: (() => void)[]; begun: boolean } | undefined;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    open.add(client).add(upstream);
    let lose = false;
    let waits = false;
    const drop = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", drop).on("close", drop);
    client.on("data", (data) => {
      if (wanted !== undefined && data.includes(wanted)) {
        wanted = undefined;
        lose = true;
      }
      if (held && !held.begun && data.includes(held.text)) {
        held.begun = true;
        waits = true;
        held.back.push(() => (waits = false));
      }
      if (waits && held) held.back.push(() => upstream.write(data));
      else upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (!lose) return void client.write(data);
      lost += 1;
      drop();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseReplyTo: (text) => void (wanted = text),
    lost: () => lost,
    hold(text) {
      const mine = { text, back: [], begun: false };
      held = mine;
      return {
        isHeld: () => mine.begun,
        letGo() {
          held = undefined;
          for (const each of mine.back) (each as () => void)();
        },
      };
    },
    async stop() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}

/** A trace that keeps what it was told. */
export function keptTrace(): Trace & { events: { event: string; fields: Record<string, unknown> }[] } {
  const events: { event: string; fields: Record<string, unknown> }[] = [];
  const keep = (event: string, fields: Record<string, unknown> = {}) => void events.push({ event, fields });
  return { events, info: keep, warn: keep, error: keep };
}

/** Waits until the condition holds; fails after `ms`. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await sleep(10);
  }
}
