import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { claimWorkspaces } from "../../src/redis/claim.ts";
import { redisLimiter } from "../../src/redis/limiter.ts";
import { redisLog } from "../../src/redis/log.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { ANNA, arrival, asked, newThread, note } from "../contracts/log-doors.ts";
import { type TestRedis, keptTrace, startRedis, until } from "../support/redis.ts";

/** A cluster of one node with all slots: it refuses every command and every script whose keys lie in two slots. */
async function startCluster(): Promise<{ server: TestRedis; admin: Redis }> {
  const server = await startRedis({ args: ["--cluster-enabled", "yes"] });
  const admin = new Redis(server.url);
  await admin.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  await until("the cluster is whole", async () => String(await admin.call("CLUSTER", "INFO")).includes("cluster_state:ok"));
  return { server, admin };
}

it("every act works on a cluster, and every key lies in one slot", async () => {
  const { server, admin } = await startCluster();
  const log = redisLog({ url: server.url, trace: keptTrace() });
  const queue = bullQueue({ url: server.url, trace: keptTrace() });
  const limiter = redisLimiter({ url: server.url, trace: keptTrace() });
  const conversation = newThread();

  await log.ingest(arrival(conversation, "do it"));
  const worked = Promise.withResolvers<void>();
  await queue.serve(["w"], async ({ lock }) => {
    const taken = await log.takeover(conversation, lock);
    if (taken.kind === "lost") throw new Error("lost");
    await log.append(conversation, taken.epoch, "ask", 2000, [note("x"), asked("a"), asked("b")]);
    await log.settle(conversation, taken.epoch, 9);
    worked.resolve();
  });
  const posted = Promise.withResolvers<void>();
  await queue.servePosts(async ({ lock }) => {
    const claim = await log.takePosts(conversation, lock);
    if (!claim) throw new Error("lost");
    await log.savePosts(conversation, claim.epoch, { cursor: 1, sent: {} });
    await log.settlePosts(conversation, claim.epoch, 1);
    posted.resolve();
  });
  await queue.wake(conversation, "w");
  await queue.wakePosts(conversation);
  await Promise.all([worked.promise, posted.promise]);
  const words = { pattern: ["ls"], decision: "auto" as const, grants: [], match: [], not_match: [] };
  await log.decide("a", 2100, { decision: "approved", by: ANNA, rule: { name: "w: ls", ...words } });
  await log.rules.note("w", [{ command: "ls", cwd: "/w" }], ["w: ls"], 2200);
  expect(await log.rules.revoke("nothing")).toBe(false);
  expect(await log.ingest(arrival(conversation, "no", { supersedes: ANNA }))).toMatchObject({ superseded: "b" });
  await log.postAt(conversation, 3000);
  expect(await log.takeDuePosts(3000)).toEqual([conversation]);
  await log.mark("m", "1");
  await log.once("o", 60_000);
  await log.lease("l", "holder", 60_000);
  await log.putBlob("b", Buffer.from("x"), 60_000);
  await limiter.take(
    [
      { name: "one", burst: 1, perSecond: 1 },
      { name: "two", burst: 1, perSecond: 1 },
    ],
    1,
  );
  await limiter.block("one", 2);
  const claims = await claimWorkspaces({ url: server.url, trace: keptTrace(), host: "h", workspaces: ["w", "w2"], lost: () => {} });

  const keys = await admin.keys("*");
  expect(keys.length).toBeGreaterThan(18);
  const slots = await Promise.all(keys.map((key) => admin.call("CLUSTER", "KEYSLOT", key)));
  expect(keys.filter((_key, i) => slots[i] !== slots[0])).toEqual([]);
  expect(keys.filter((key) => !key.startsWith("{dh}:"))).toEqual([]);
  await Promise.all([log.close(), queue.close(), limiter.close(), claims.close()]);
  await admin.quit();
  await server.stop();
});

it("a conversation that waits costs a few keys and no job", async () => {
  const server = await startRedis();
  const admin = new Redis(server.url);
  const log = redisLog({ url: server.url, trace: keptTrace() });
  await until("small streams are set", async () => {
    await log.marked("connected");
    return ((await admin.config("GET", "stream-node-max-bytes")) as string[])[1] === "1024";
  });
  await log.mark("lock", "token");
  const conversations = Array.from({ length: 50 }, newThread);
  for (const [i, conversation] of conversations.entries()) {
    await log.ingest(arrival(conversation, "do it"));
    const taken = await log.takeover(conversation, { key: "{dh}:mark:lock", token: "token" });
    const epoch = taken.kind === "taken" ? taken.epoch : 0;
    await log.append(conversation, epoch, `op-${i}`, 2000, [asked(`parked-${i}`)]);
    await log.settle(conversation, epoch, 3);
  }
  const [one] = conversations;
  const bytes = await Promise.all(
    [`{dh}:c:${one}`, `{dh}:c:${one}:log`, "{dh}:a:parked-0"].map((key) => admin.call("MEMORY", "USAGE", key) as Promise<number>),
  );
  expect(bytes.reduce((a, b) => a + b, 0)).toBeLessThan(4500);
  expect(await admin.keys("{dh}:wake-*")).toEqual([]);
  await log.close();
  await admin.quit();
  await server.stop();
});
