import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Trace } from "../../src/core/ports.ts";

export interface TestRedis {
  url: string;
  port: number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data; resolves when it answers. */
  restart(): Promise<void>;
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
    const child = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, ...safe, ...args], {
      stdio: "ignore",
    });
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
    async stop() {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
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
  stop(): Promise<void>;
}

/** A TCP proxy in front of a server. */
export async function lossyProxy(port: number): Promise<LossyProxy> {
  const open = new Set<Socket>();
  let wanted: string | undefined;
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    open.add(client).add(upstream);
    let lose = false;
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
      upstream.write(data);
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
