import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DeckhandError } from "../core/errors.ts";

export interface OwnRedis {
  url: string;
  stop(): Promise<void>;
}

/** A redis-server of our own on a free loopback port, durable in a temporary folder, gone after `stop`. */
export async function startOwnRedis(): Promise<OwnRedis> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "deckhand-redis-"));
  const safe = ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", "", "--daemonize", "no"];
  // In a group of its own: Ctrl-C is for us, and we still need it then.
  const server = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, ...safe], {
    stdio: "ignore",
    detached: true,
  });
  const over = new AbortController();
  const gone = new Promise<string>((resolve) => {
    server.once("error", () => resolve("redis-server is not installed"));
    server.once("exit", (code) => resolve(`redis-server ended with ${code}`));
  }).finally(() => over.abort());
  const stop = async (): Promise<void> => {
    server.kill("SIGTERM");
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  const trouble = await Promise.race([gone, answers(port, over.signal)]);
  if (trouble === null) return { url: `redis://127.0.0.1:${port}`, stop };
  await stop();
  throw new DeckhandError("REDIS_DOWN", trouble);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === "string") throw new DeckhandError("INTERNAL", "no free port");
  return address.port;
}

/** Null as soon as it answers, else what went wrong. */
async function answers(port: number, over: AbortSignal): Promise<string | null> {
  const { Redis } = await import("ioredis");
  for (let tries = 0; tries < 100 && !over.aborted; tries += 1) {
    const client = new Redis({ port, host: "127.0.0.1", lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {}); // the next try tells
    try {
      await client.connect();
      await client.ping();
      return null;
    } catch {
      await delay(50); // it is still starting
    } finally {
      client.disconnect();
    }
  }
  return "redis-server did not start within 5 s";
}
