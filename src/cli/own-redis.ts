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
  const safe = ["--appendonly", "yes", "--maxmemory-policy", "noeviction", "--save", "", "--daemonize", "no"];
  const server = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, ...safe], { stdio: "ignore" });
  const failed = new Promise<never>((_, reject) => {
    server.once("error", () => reject(new DeckhandError("REDIS_DOWN", "redis-server is not installed")));
    server.once("exit", (code) => reject(new DeckhandError("REDIS_DOWN", `redis-server ended with ${code}`)));
  });
  failed.catch(() => {}); // after the start nobody waits for it any more
  await Promise.race([failed, answers(port)]);
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      server.removeAllListeners("exit");
      const gone = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === "string") throw new DeckhandError("INTERNAL", "no free port");
  return address.port;
}

async function answers(port: number): Promise<void> {
  const { Redis } = await import("ioredis");
  for (let tries = 0; tries < 100; tries += 1) {
    const client = new Redis({ port, host: "127.0.0.1", lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {}); // the next try tells
    try {
      await client.connect();
      await client.ping();
      return;
    } catch {
      await delay(50); // it is still starting
    } finally {
      client.disconnect();
    }
  }
  throw new DeckhandError("REDIS_DOWN", "redis-server did not start within 5 s");
}
