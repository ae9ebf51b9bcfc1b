import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { claimWorkspaces } from "../../src/redis/claim.ts";
import { KEYS, PREFIX } from "../../src/redis/keys.ts";
import { redisLog } from "../../src/redis/log.ts";
import { readWorkers } from "../../src/redis/presence.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { ANNA, arrival, asked, newThread, note } from "../contracts/log-doors.ts";
import { startNode } from "../support/cluster.ts";
import { keptTrace, startRedis, until } from "../support/redis.ts";

it("every act works on the node of a cluster that has our slot alone", async () => {
  const { server, admin, stop } = await startNode();
  await expect(admin.set("elsewhere", 1)).rejects.toThrow("CLUSTERDOWN");
  await expect(admin.eval("return redis.call('SET', 'elsewhere', 1)", 1, `${PREFIX}:x`)).rejects.toThrow("non local key");
  const log = redisLog({ url: server.url, trace: keptTrace() });
  const queue = bullQueue({ url: server.url, trace: keptTrace() });
  const { limiter } = log;
  const conversation = newThread();

  await log.ingest(arrival(conversation, "do it"));
  const worked = Promise.withResolvers<void>();
  await queue.serve(["w"], async ({ lock }) => {
    const taken = await log.takeover(conversation, lock);
    if (taken.kind !== "taken") throw new Error("lost");
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
  await claims.announce();
  expect(await log.isServed("w2")).toBe(true);
  expect((await readWorkers(server.url, keptTrace(), ["w"])).get("w")).toHaveLength(1);
  expect((await admin.keys("*")).length).toBeGreaterThan(20);
  await Promise.all([log.close(), queue.close(), claims.close()]);
  await stop();
});

it("every name that keys.ts makes, and every name in a script, lies in that slot, whatever stands in braces in an id", async () => {
  const { slot, slotOf, stop } = await startNode();
  const makers = Object.values(KEYS) as (string | ((...words: string[]) => string))[];
  const made = ["x", "{other}", "}{", "{}"].flatMap((word) => makers.map((key) => (typeof key === "string" ? key : key(word, word))));
  const folder = join(import.meta.dirname, "../../src/redis");
  const scripts = readdirSync(folder).filter((file) => file.endsWith(".lua"));
  const written = scripts
    .flatMap((file) => readFileSync(join(folder, file), "utf8").match(/'\{[^']*'/g) ?? [])
    .map((word) => word.slice(1, -1));
  expect(scripts.length).toBeGreaterThan(15);
  const slots = new Set(await Promise.all([...made, ...written].map(slotOf)));
  expect([...slots]).toEqual([slot]);
  await stop();
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
