import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkRedis, lookAtRedis } from "../../src/redis/check.ts";
import { type RedisWatch, watchRedis } from "../../src/redis/watch.ts";
import { type TestRedis, fillMemory, freePort, keptTrace, startRedis, until } from "../support/redis.ts";

/** What spoils a Redis while it is in use, what mends it, and what is told of it. */
interface Spoil {
  spoil(admin: Redis, server: TestRedis): unknown;
  mend(admin: Redis, server: TestRedis): unknown;
  code: string;
  told: RegExp;
}

const SPOILS: Record<string, Spoil> = {
  "set to throw data away": {
    spoil: (admin) => admin.config("SET", "maxmemory-policy", "allkeys-lru"),
    mend: (admin) => admin.config("SET", "maxmemory-policy", "noeviction"),
    code: "REDIS_UNSAFE",
    told: /throws data away.*allkeys-lru.*REDIS_UNSAFE/,
  },
  "set to forget": {
    spoil: (admin) => admin.config("SET", "appendonly", "no"),
    mend: (admin) => admin.config("SET", "appendonly", "yes"),
    code: "REDIS_UNSAFE",
    told: /forgets everything.*REDIS_UNSAFE/,
  },
  "made a replica": {
    spoil: (admin) => admin.call("REPLICAOF", "127.0.0.1", "1"),
    mend: (admin) => admin.call("REPLICAOF", "NO", "ONE"),
    code: "REDIS_UNSAFE",
    told: /it is a slave, which takes no writes/,
  },
  "nearly full": {
    spoil: (admin) => fillMemory(admin, 0.75),
    mend: (admin) => admin.config("SET", "maxmemory", "0"),
    code: "REDIS_FULL",
    told: /75 % of its memory is in use.*`maxmemory`.*REDIS_FULL/,
  },
  "without room on its disk": {
    async spoil(admin, server) {
      server.fillDisk(true);
      await admin.set("any", 1).catch(() => undefined); // refused or not: it has something to write now
    },
    mend: (_admin, server) => server.fillDisk(false),
    code: "REDIS_DISK",
    told: /the last write to its file failed.*Make room there.*REDIS_DISK/,
  },
  away: {
    spoil: (_admin, server) => server.kill(),
    mend: (_admin, server) => server.restart(),
    code: "REDIS_DOWN",
    told: /Redis does not answer.*REDIS_DOWN/,
  },
};

describe("a Redis that is spoilt while it is in use", () => {
  let server: TestRedis;
  let admin: Redis;
  let watch: RedisWatch;
  let trace: ReturnType<typeof keptTrace>;
  beforeEach(async () => {
    server = await startRedis({ args: ["--appendfsync", "everysec"] });
    admin = new Redis(server.url, { retryStrategy: () => 100 });
    admin.on("error", () => {}); // it is killed on purpose
    trace = keptTrace();
    watch = watchRedis({ url: server.url, trace, everyMs: 50 });
  });
  afterEach(async () => {
    await watch.close();
    admin.disconnect();
    await server.stop();
  });

  const problems = (): Record<string, unknown>[] => trace.events.filter(({ event }) => event === "redis").map(({ fields }) => fields);
  const isWell = (): boolean => trace.events.some(({ event }) => event === "redis-well");

  it.each(Object.entries(SPOILS))(
    "that is %s: the log says so once, `deckhand doctor` too, and the log when it is over",
    async (_what, each) => {
      await each.spoil(admin, server);
      await until("the log says it", () => problems().length > 0);
      const { wrong, troubles } = await lookAtRedis(server.url);
      expect([...wrong, ...troubles]).toEqual([expect.stringMatching(each.told)]);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(problems()).toEqual([{ code: each.code, problem: expect.stringMatching(each.told) }]);
      await each.mend(admin, server);
      await until("the log says that it is over", isWell);
      expect((await lookAtRedis(server.url)).wrong).toEqual([]);
      expect(problems()).toHaveLength(1);
    },
  );

  it("that fills up on and on is told of once more when no new task is taken any more", async () => {
    await fillMemory(admin, 0.75);
    await until("it is told", () => problems().length === 1);
    expect(await watch.isFull()).toBe(false);
    await fillMemory(admin, 0.9);
    await until("it is told again", () => problems().length === 2);
    expect(await watch.isFull()).toBe(true);
    await fillMemory(admin, 0.5);
    expect(await watch.isFull()).toBe(false);
  });
});

it("a Redis that reads its file after a start: the log and `deckhand doctor` say so, and a start waits for it", async () => {
  const server = await startRedis({ args: ["--key-load-delay", "500"] });
  const admin = new Redis(server.url);
  const pipeline = admin.pipeline();
  for (let i = 0; i < 6_000; i++) pipeline.set(`k${i}`, "x");
  await pipeline.exec();
  admin.disconnect();
  const trace = keptTrace();
  const watch = watchRedis({ url: server.url, trace, everyMs: 50 });
  const codes = (): unknown[] => trace.events.filter(({ event }) => event === "redis").map(({ fields }) => fields["code"]);
  await server.kill();
  const back = server.restart();
  await until("the log says it", () => codes().includes("REDIS_LOADING"));
  expect((await lookAtRedis(server.url)).troubles).toEqual([expect.stringMatching(/still reading its file.*%.*REDIS_LOADING/)]);
  expect(await checkRedis(server.url)).toEqual([]);
  expect((await lookAtRedis(server.url)).troubles).toEqual([]);
  await back;
  await watch.close();
  await server.stop();
}, 60_000);

describe("what `deckhand doctor` is told of a Redis", () => {
  it.each([
    ["always", /appendfsync always: a power loss loses nothing that was taken; \d+\.\d MB used, no maxmemory/],
    ["everysec", /appendfsync everysec: a power loss can lose the last second, and a command of that second could run again/],
    ["no", /appendfsync no: .*half minute/],
  ])("with appendfsync %s it says what a power loss can lose", async (fsync, promise) => {
    const server = await startRedis({ args: ["--appendfsync", fsync] });
    expect(await lookAtRedis(server.url)).toMatchObject({ wrong: [], troubles: [], promise: expect.stringMatching(promise) });
    await server.stop();
  });

  it("one that forbids CONFIG is fine, and its appendfsync is not known", async () => {
    const server = await startRedis({ args: ["--rename-command", "CONFIG", ""] });
    expect(await lookAtRedis(server.url)).toMatchObject({ wrong: [], promise: expect.stringContaining("appendfsync is not told here") });
    await server.stop();
  });

  it("one that is not there does not answer", async () => {
    const { wrong } = await lookAtRedis(`redis://127.0.0.1:${await freePort()}`);
    expect(wrong).toEqual([expect.stringMatching(/REDIS_DOWN/)]);
  });
});
