import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fillMemory, until } from "../support/redis.ts";
import { PLATFORMS } from "../support/stage.ts";
import { breaksOf, during, endsOf, isIn } from "../support/troubled.ts";

/** Redis in trouble under the whole product: whatever it is, nothing is lost and nothing runs twice. */

const LOST = /did not reach me/;

describe.concurrent.each(PLATFORMS)("on %s", (platform) => {
  test("away for 20 s: what ran is not run again, what was said is heard later, and who pressed is told to press again", async () => {
    await during({ platform }, async ({ deck, told }) => {
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
      if (platform === "slack") await deck.twin.waitFor(() => deck.twin.events().some(({ lost }) => lost), 30_000);
      await deck.redis.restart();
      await later.shows(/^three is answered$/, 60_000);
      await deck.stage.waitFor(() => deck.stage.isHeard(), 60_000);
      await asks.press("approve");
      expect(await breaksOf(deck, [asks, "ask one"], [slow, "slow two"], [later, "do three"])).toEqual([]);
      expect(await endsOf(slow)).toEqual(["interrupted"]);
      await until("the log says that it is over", () => told("redis-well").length === 1);
    });
  }, 150_000);

  test("away for less than a lock: on Discord too it is heard without a new session, and the command ends as if nothing had been", async () => {
    await during({ platform, lockMs: 10_000 }, async ({ deck, told }) => {
      const slow = await deck.mention("slow one", { channel: "C1" });
      await isIn(slow, "run-started");
      await deck.redis.kill();
      const later = await deck.mention("do two", { channel: "C2" });
      await sleep(4_000);
      await deck.redis.restart();
      await later.shows(/^two is answered$/);
      expect(await breaksOf(deck, [slow, "slow one"], [later, "do two"])).toEqual([]);
      expect(await endsOf(slow)).toEqual(["exited"]);
      if (platform === "discord") expect(told("discord.connected")).toHaveLength(1);
    });
  }, 120_000);

  test("full: nobody who writes then is refused or lost, and what runs is told of once there is room", async () => {
    await during({ platform }, async ({ deck, admin }) => {
      const slow = await deck.mention("slow one", { channel: "C1" });
      await isIn(slow, "run-started");
      await fillMemory(admin, 1.5);
      const later = await deck.mention("do two", { channel: "C2" });
      // Longer than the command and than its lock.
      await sleep(6_000);
      expect(later.posts()).toEqual([]);
      expect(deck.stage.whispers("U1")).toEqual([]);
      if (platform === "slack") expect(deck.twin.events().filter(({ acked }) => !acked)).not.toEqual([]);
      await fillMemory(admin, 0);
      await later.shows(/^two is answered$/, 60_000);
      expect(await breaksOf(deck, [slow, "slow one"], [later, "do two"])).toEqual([]);
      expect(await endsOf(slow)).toEqual(["exited"]);
    });
  }, 150_000);

  test("nearly full: a new task is refused with a reason, what goes on goes on, and there is room again when there is", async () => {
    await during({ platform }, async ({ deck, admin, told }) => {
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
    });
  }, 120_000);

  test("in which every connection is cut again and again: nobody notices", async () => {
    await during({ platform }, async ({ deck, admin }) => {
      let over = false;
      const cutting = (async () => {
        for (; !over; await sleep(250)) await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").catch(() => undefined); // it was cut itself
      })();
      const asks = await deck.mention("ask one", { channel: "C1" });
      await asks.press("approve");
      const slow = await deck.mention("slow two", { channel: "C2" });
      const quick = await deck.mention("do three", { channel: "C3" });
      for (const [said, word] of [
        [asks, "one"],
        [slow, "two"],
        [quick, "three"],
      ] as const)
        await said.shows(new RegExp(`^${word} is answered$`), 60_000);
      over = true;
      await cutting;
      expect(await breaksOf(deck, [asks, "ask one"], [slow, "slow two"], [quick, "do three"])).toEqual([]);
      expect(await endsOf(slow)).toEqual(["exited"]);
    });
  }, 120_000);
});
