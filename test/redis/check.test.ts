import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import { bindsOutside, checkRedis } from "../../src/redis/check.ts";
import { redisLog } from "../../src/redis/log.ts";
import { arrival, newThread } from "../contracts/log-doors.ts";
import { type TestRedis, freePort, keptTrace, startRedis, until } from "../support/redis.ts";

describe("the start-up check of Redis", () => {
  const servers: TestRedis[] = [];
  async function start(...args: string[]): Promise<TestRedis> {
    const server = await startRedis({ args });
    servers.push(server);
    return server;
  }
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  it("finds nothing wrong with a durable one on this machine", async () => {
    expect(await checkRedis((await start()).url)).toEqual([]);
  });

  it.each([
    ["can evict", ["--maxmemory-policy", "allkeys-lru"], /maxmemory-policy allkeys-lru.*`maxmemory-policy noeviction`.*REDIS_UNSAFE/],
    ["has no AOF", ["--appendonly", "no"], /appendonly no.*`appendonly yes`.*REDIS_UNSAFE/],
    ["is a replica", ["--replicaof", "127.0.0.1 1"], /is a slave.*master's address.*REDIS_UNSAFE/],
  ])("refuses one that %s", async (_what, args, problem) => {
    expect(await checkRedis((await start(...args)).url)).toEqual([expect.stringMatching(problem)]);
  });

  it("names everything that is wrong at once", async () => {
    const { url } = await start("--maxmemory-policy", "volatile-ttl", "--appendonly", "no");
    expect(await checkRedis(url, { loopbackIsSafe: false })).toHaveLength(3);
  });

  it("wants a password on this machine too when commands could reach it", async () => {
    const { url, port } = await start("--requirepass", "s3cret");
    expect(await checkRedis(`redis://:s3cret@127.0.0.1:${port}`, { loopbackIsSafe: false })).toEqual([]);
    expect(await checkRedis(url)).toEqual([expect.stringMatching(/NOAUTH.*REDIS_AUTH/)]);
    const open = await start();
    expect(await checkRedis(open.url, { loopbackIsSafe: false })).toEqual([expect.stringMatching(/without a password.*REDIS_UNSAFE/)]);
  });

  it("names a wrong password, and never prints it", async () => {
    const { port } = await start("--requirepass", "s3cret");
    const [problem] = await checkRedis(`redis://:wr0ng@127.0.0.1:${port}`);
    expect(problem).toMatch(/WRONGPASS.*REDIS_AUTH/);
    expect(problem).not.toContain("wr0ng");
  });

  it.each([
    ["127.0.0.1 -::1", false],
    ["127.0.0.1", false],
    ["* -::*", true],
    ["", true],
    ["127.0.0.1 10.0.0.5", true],
  ])("knows that bind %j lets others in: %s", (bind, outside) => {
    expect(bindsOutside(bind)).toBe(outside);
  });

  it("says that nothing answers", async () => {
    expect(await checkRedis(`redis://127.0.0.1:${await freePort()}`)).toEqual([expect.stringMatching(/ECONNREFUSED.*REDIS_DOWN/)]);
    expect(await checkRedis(`redis://localhost:${await freePort()}`)).toEqual([expect.stringMatching(/ECONNREFUSED.*REDIS_DOWN/)]);
  });
});

describe("Redis that takes no writes", () => {
  it.each([
    ["full", (admin: Redis) => admin.config("SET", "maxmemory", "1"), /OOM/],
    ["a replica now", (admin: Redis) => admin.call("REPLICAOF", "127.0.0.1", "1"), /READONLY/],
  ])("because it is %s: REDIS_DOWN with the reason, nothing half done, and all is well afterwards", async (_what, spoil, reason) => {
    const server = await startRedis();
    const admin = new Redis(server.url);
    const log = redisLog({ url: server.url, trace: keptTrace() });
    const record = arrival(newThread(), "hello");
    const ingest = () => log.ingest(record);
    await spoil(admin);
    await expect(ingest()).rejects.toMatchObject({ code: "REDIS_DOWN", what: expect.stringMatching(reason) });
    await admin.config("SET", "maxmemory", "0");
    await admin.call("REPLICAOF", "NO", "ONE");
    await until("it works again", () =>
      ingest().then(
        ({ kind }) => kind === "appended",
        () => false,
      ),
    );
    expect(await log.read(record.conversation, 0)).toHaveLength(2);
    await log.close();
    await admin.quit();
    await server.stop();
  });
});
