import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Log } from "../../src/core/log.ts";
import { claimWorkspaces } from "../../src/redis/claim.ts";
import { redisLog } from "../../src/redis/log.ts";
import { readWorkers } from "../../src/redis/presence.ts";
import { keptTrace, startRedis, type TestRedis, until } from "../support/redis.ts";

const LASTS_MS = 900;

describe("who serves a workspace", () => {
  let server: TestRedis;
  let log: Log;
  let names = 0;
  const children: ChildProcess[] = [];
  const newName = () => `ws-${++names}`;
  beforeAll(async () => {
    server = await startRedis();
    log = redisLog({ url: server.url, trace: keptTrace() });
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });
  afterAll(async () => {
    await log.close();
    await server.stop();
  });

  async function worker(workspaces: string[], lastsMs = LASTS_MS): Promise<ChildProcess> {
    const words = [server.url, "host-a", workspaces.join(), String(lastsMs)];
    const child = fork(new URL("./presence-worker.ts", import.meta.url), words);
    children.push(child);
    expect((await once(child, "message"))[0]).toBe("announced");
    return child;
  }
  const workersOf = async (workspace: string) => (await readWorkers(server.url, keptTrace(), [workspace])).get(workspace) ?? [];
  const pidsOf = async (workspace: string) => (await workersOf(workspace)).map(({ pid }) => pid).sort((a, b) => a - b);

  it("nobody, before a worker says so; a claim alone serves nothing", async () => {
    const workspace = newName();
    const claims = await claimWorkspaces({ url: server.url, trace: keptTrace(), host: "a", workspaces: [workspace], lost: () => {} });
    expect(await log.isServed(workspace)).toBe(false);
    expect(await workersOf(workspace)).toEqual([]);
    await claims.close();
  });

  it("every worker process is known by itself: host, machine, pid, since when, and its last beat", async () => {
    const [one, other] = [newName(), newName()];
    const before = Date.now();
    const both = [await worker([one, other], 60_000), await worker([one], 60_000)];
    expect(await pidsOf(one)).toEqual(both.map(({ pid }) => pid).sort((a = 0, b = 0) => a - b));
    expect(await pidsOf(other)).toEqual([both[0]?.pid]);
    expect(await log.isServed(one)).toBe(true);
    for (const each of await workersOf(one)) {
      expect(each).toMatchObject({ host: "host-a", name: hostname() });
      expect(each.since).toBeGreaterThanOrEqual(before);
      expect(each.beat).toBeGreaterThan(before - 5_000);
      expect(each.beat).toBeLessThan(Date.now() + 5_000);
    }
    expect(new Set((await workersOf(one)).map(({ id }) => id)).size).toBe(2);
  });

  it("as long as it beats, however long", async () => {
    const workspace = newName();
    await worker([workspace], 2_000);
    const [first] = await workersOf(workspace);
    await until("it has beaten often", async () => ((await workersOf(workspace))[0]?.beat ?? 0) > (first?.beat ?? 0) + 3_000);
    expect(await workersOf(workspace)).toHaveLength(1);
  });

  it("one that is killed lapses by itself, and leaves nothing", async () => {
    const workspace = newName();
    const killed = await worker([workspace]);
    const stays = await worker([workspace], 60_000);
    killed.kill("SIGKILL");
    await until("the killed one is not counted", async () => (await workersOf(workspace)).length === 1);
    expect(await pidsOf(workspace)).toEqual([stays.pid]);
    const alone = newName();
    (await worker([alone])).kill("SIGKILL");
    await until("nobody serves", async () => !(await log.isServed(alone)));
    const admin = new Redis(server.url);
    await until("the key is gone", async () => (await admin.exists(`{dh}:workers:${alone}`)) === 0);
    await admin.quit();
  });

  it("one that ends is no worker any more at once, but nobody is told before its successor had time to come", async () => {
    const workspace = newName();
    const lastsMs = 4_000;
    const first = await worker([workspace], lastsMs);
    first.send("end");
    await once(first, "exit");
    expect(await workersOf(workspace)).toEqual([]);
    expect(await log.isServed(workspace)).toBe(true);
    await until("nobody came", async () => !(await log.isServed(workspace)));
    await worker([workspace], lastsMs);
    expect(await log.isServed(workspace)).toBe(true);
  });

  it("one that lost a workspace to another host serves its others still", async () => {
    const [gone, kept] = [newName(), newName()];
    const options = { url: server.url, trace: keptTrace(), ttlMs: 3_000, presenceMs: 3_000 };
    const lost: string[] = [];
    const ours = await claimWorkspaces({ ...options, host: "a", workspaces: [gone, kept], lost: (workspace) => lost.push(workspace) });
    await ours.announce();
    const admin = new Redis(server.url);
    await admin.del(`{dh}:host:${gone}`);
    const theirs = await claimWorkspaces({ ...options, host: "b", workspaces: [gone], lost: () => {} });
    await until("it is told", () => lost.length === 1);
    await until("it says so", async () => (await workersOf(gone)).length === 0);
    await until("nobody serves it", async () => !(await log.isServed(gone)));
    expect((await workersOf(kept)).map(({ host }) => host)).toEqual(["a"]);
    await theirs.announce();
    expect((await workersOf(gone)).map(({ host }) => host)).toEqual(["b"]);
    await Promise.all([ours.close(), theirs.close(), admin.quit()]);
  });

  it("after an absence of Redis it is known again as soon as Redis is back, long before its next beat", async () => {
    const workspace = newName();
    await worker([workspace], 300_000);
    const admin = new Redis(server.url);
    await admin.del(`{dh}:workers:${workspace}`);
    admin.disconnect();
    await server.kill();
    await server.restart();
    await until("it is known again", async () => await log.isServed(workspace).catch(() => false));
  });
});

it("nobody can be asked: REDIS_DOWN", async () => {
  await expect(readWorkers("redis://127.0.0.1:1", keptTrace(), ["w"])).rejects.toMatchObject({ code: "REDIS_DOWN" });
});
