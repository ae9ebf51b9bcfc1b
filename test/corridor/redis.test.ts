import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fillMemory, until } from "../support/redis.ts";
import { type Troubled, breaksOf, endsOf, isIn, troubled } from "../support/troubled.ts";

/** Redis in trouble under the whole product: whatever it is, nothing is lost and nothing runs twice. */

const LOST = /did not reach me/;

/** One after the other: they share a deck, and its Redis. */
const SHARED = { concurrent: false, timeout: 150_000 };

async function awayFor20Seconds({ deck, told }: Troubled): Promise<void> {
  const asks = await deck.mention("ask one", { channel: "C1" });
  const card = await asks.shows(/\[ Approve \]/);
  const slow = await deck.mention("slow two", { channel: "C2" });
  await isIn(slow, "run-started");
  await deck.redis.kill();
  const back = sleep(20_000);
  const later = await deck.mention("do three", { channel: "C3" });
  await deck.stage.press({ channel: "C1", root: asks.root, ts: card.ts, action: "approve", user: "U1" });
  await deck.stage.waitFor(() => deck.stage.whispers("U1").some((text) => LOST.test(text)), 15_000);
  expect(asks.text(card)).toContain("[ Approve ]");
  await back;
  expect(told("redis")).toMatchObject([{ code: "REDIS_DOWN" }]);
  // Slack will not send it again.
  if (deck.stage.platform === "slack") await deck.twin.waitFor(() => deck.twin.events().some(({ lost }) => lost), 30_000);
  await deck.redis.restart();
  await later.shows(/^three is answered$/, 60_000);
  await deck.stage.waitFor(() => deck.stage.isHeard(), 60_000);
  await asks.press("approve");
  expect(await breaksOf(deck, [asks, "ask one"], [slow, "slow two"], [later, "do three"])).toEqual([]);
  expect(await endsOf(slow)).toEqual(["interrupted"]);
  await until("the log says that it is over", () => told("redis-well").length === 1);
}

describe.concurrent("on Slack, with a short lock", () => {
  const all = troubled({ platform: "slack", lockMs: 5_000 });

  test("away for 20 s: what ran is not run again, what was said is heard later, and who pressed is told to press again", SHARED, () =>
    awayFor20Seconds(all()),
  );

  test("full: nobody who writes then is refused or lost, and what runs is told of once there is room", SHARED, async () => {
    const { deck, admin } = all();
    const whispers = deck.stage.whispers("U1");
    const slow = await deck.mention("slow four", { channel: "C4" });
    await isIn(slow, "run-started");
    await fillMemory(admin, 1.5);
    const later = await deck.mention("do five", { channel: "C5" });
    // Longer than the command and than its lock.
    await sleep(8_000);
    expect(later.posts()).toEqual([]);
    expect(deck.stage.whispers("U1")).toEqual(whispers);
    expect(deck.twin.events().at(-1)).toMatchObject({ acked: false });
    await fillMemory(admin, 0);
    await later.shows(/^five is answered$/, 60_000);
    expect(await breaksOf(deck, [slow, "slow four"], [later, "do five"])).toEqual([]);
    expect(await endsOf(slow)).toEqual(["exited"]);
  });
});

describe.concurrent("on Discord, with a short lock", () => {
  const all = troubled({ platform: "discord", lockMs: 5_000 });

  test("away for 20 s: what ran is not run again, what was said is heard later, and who pressed is told to press again", SHARED, () =>
    awayFor20Seconds(all()),
  );
});

describe.concurrent("on Slack, for less than a lock", () => {
  const all = troubled({ platform: "slack", lockMs: 10_000 });

  test("a replica, which takes no writes: all goes on once it is the master again", SHARED, async () => {
    const { deck, admin, told } = all();
    const slow = await deck.mention("slow one", { channel: "C1" });
    await isIn(slow, "run-started");
    await admin.call("REPLICAOF", "127.0.0.1", "1");
    const later = await deck.mention("do two", { channel: "C2" });
    await until("the log says so", () => told("redis").length > 0);
    expect(told("redis")).toMatchObject([{ code: "REDIS_UNSAFE", problem: expect.stringMatching(/slave, which takes no writes/) }]);
    expect(later.posts()).toEqual([]);
    await admin.call("REPLICAOF", "NO", "ONE");
    await later.shows(/^two is answered$/, 60_000);
    expect(await breaksOf(deck, [slow, "slow one"], [later, "do two"])).toEqual([]);
    expect(await endsOf(slow)).toEqual(["exited"]);
  });

  test("its disk is full (always): it ends, and all goes on once it is started with room", SHARED, async () => {
    const { deck, admin } = all();
    const slow = await deck.mention("slow three", { channel: "C3" });
    await isIn(slow, "run-started");
    deck.redis.fillDisk(true);
    const later = await deck.mention("do four", { channel: "C4" });
    await until("it has ended", () =>
      admin.ping().then(
        () => false,
        () => true,
      ),
    );
    await deck.redis.restart();
    await later.shows(/^four is answered$/, 60_000);
    expect(await breaksOf(deck, [slow, "slow three"], [later, "do four"])).toEqual([]);
    expect(await endsOf(slow)).toEqual(["exited"]);
  });
});

describe.concurrent("on Discord, for less than a lock", () => {
  const all = troubled({ platform: "discord", lockMs: 10_000 });

  test(
    "nearly full: a new task is refused with a reason, what goes on goes on, and there is room again when there is",
    SHARED,
    async () => {
      const { deck, admin, told } = all();
      const asks = await deck.mention("ask one", { channel: "C1" });
      await asks.shows(/\[ Approve \]/);
      await fillMemory(admin, 0.9);
      await until("the log says so", () => told("redis").some(({ code }) => code === "REDIS_FULL"));
      const refused = await deck.mention("do two", { channel: "C2" });
      await deck.stage.waitFor(() => deck.stage.whispers("U1").some((text) => /nearly full.*then ask again.*REDIS_FULL/.test(text)));
      await asks.press("approve");
      expect(await breaksOf(deck, [asks, "ask one"])).toEqual([]);
      await fillMemory(admin, 0);
      await until("the log says that it is over", () => told("redis-well").length === 1);
      const again = await deck.mention("do three", { channel: "C3" });
      expect(await breaksOf(deck, [again, "do three"])).toEqual([]);
      expect(await refused.entries()).toEqual([]);
    },
  );

  test("its disk is full (everysec): it refuses every write, and all goes on once there is room", SHARED, async () => {
    const { deck, admin, told } = all();
    await admin.config("SET", "appendfsync", "everysec");
    const slow = await deck.mention("slow four", { channel: "C4" });
    await isIn(slow, "run-started");
    deck.redis.fillDisk(true);
    await until("it refuses", () =>
      admin.set("any", 1).then(
        () => false,
        (error: Error) => /MISCONF/.test(error.message),
      ),
    );
    const later = await deck.mention("do five", { channel: "C5" });
    await until("the log says so", () => told("redis").length > 0);
    expect(told("redis")).toMatchObject([{ code: "REDIS_DISK" }]);
    expect(later.posts()).toEqual([]);
    deck.redis.fillDisk(false);
    await later.shows(/^five is answered$/, 60_000);
    expect(await breaksOf(deck, [slow, "slow four"], [later, "do five"])).toEqual([]);
    expect(await endsOf(slow)).toEqual(["exited"]);
  });

  test("away: what was said is heard without a new session, and the command ends as if nothing had been", SHARED, async () => {
    const { deck, told } = all();
    const slow = await deck.mention("slow six", { channel: "C6" });
    await isIn(slow, "run-started");
    await deck.redis.kill();
    const later = await deck.mention("do seven", { channel: "C7" });
    await sleep(4_000);
    await deck.redis.restart();
    await later.shows(/^seven is answered$/);
    expect(await breaksOf(deck, [slow, "slow six"], [later, "do seven"])).toEqual([]);
    expect(await endsOf(slow)).toEqual(["exited"]);
    expect(told("discord.connected")).toEqual([]);
  });

  test("every connection is cut again and again: nobody notices", SHARED, async () => {
    const { deck, admin } = all();
    let over = false;
    const cutting = (async () => {
      for (; !over; await sleep(250)) await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").catch(() => undefined); // it was cut itself
    })();
    const asks = await deck.mention("ask eight", { channel: "C8" });
    await asks.press("approve");
    const slow = await deck.mention("slow nine", { channel: "C9" });
    const quick = await deck.mention("do ten", { channel: "C10" });
    await asks.shows(/^eight is answered$/, 60_000);
    await slow.shows(/^nine is answered$/, 60_000);
    await quick.shows(/^ten is answered$/, 60_000);
    over = true;
    await cutting;
    expect(await breaksOf(deck, [asks, "ask eight"], [slow, "slow nine"], [quick, "do ten"])).toEqual([]);
    expect(await endsOf(slow)).toEqual(["exited"]);
  });
});
