import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type LossyProxy, lossyProxy, until } from "../support/redis.ts";
import { PLATFORMS } from "../support/stage.ts";
import { breaksOf, during, endsOf, isIn } from "../support/troubled.ts";

/** A Redis that answers and takes no writes, and answers that are lost. */

describe.concurrent("Redis that takes no writes while a command runs", () => {
  test("since it was made a replica: all goes on once it is the master again", async () => {
    await during({ platform: "slack", lockMs: 10_000 }, async ({ deck, admin, told }) => {
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
  }, 120_000);

  test("since its disk is full (everysec): it refuses every write, and all goes on once there is room", async () => {
    await during({ platform: "discord", lockMs: 10_000 }, async ({ deck, admin, told }) => {
      await admin.config("SET", "appendfsync", "everysec");
      const slow = await deck.mention("slow one", { channel: "C1" });
      await isIn(slow, "run-started");
      deck.redis.fillDisk(true);
      await until("it refuses", () =>
        admin.set("any", 1).then(
          () => false,
          (error: Error) => /MISCONF/.test(error.message),
        ),
      );
      const later = await deck.mention("do two", { channel: "C2" });
      await until("the log says so", () => told("redis").length > 0);
      expect(told("redis")).toMatchObject([{ code: "REDIS_DISK" }]);
      expect(later.posts()).toEqual([]);
      deck.redis.fillDisk(false);
      await later.shows(/^two is answered$/, 60_000);
      expect(await breaksOf(deck, [slow, "slow one"], [later, "do two"])).toEqual([]);
      expect(await endsOf(slow)).toEqual(["exited"]);
    });
  }, 120_000);

  test("since its disk is full (always): it ends, and all goes on once it is started with room", async () => {
    await during({ platform: "slack", lockMs: 10_000 }, async ({ deck, admin }) => {
      const slow = await deck.mention("slow one", { channel: "C1" });
      await isIn(slow, "run-started");
      deck.redis.fillDisk(true);
      const later = await deck.mention("do two", { channel: "C2" });
      await until("it has ended", () =>
        admin.ping().then(
          () => false,
          () => true,
        ),
      );
      await deck.redis.restart();
      await later.shows(/^two is answered$/, 60_000);
      expect(await breaksOf(deck, [slow, "slow one"], [later, "do two"])).toEqual([]);
      expect(await endsOf(slow)).toEqual(["exited"]);
    });
  }, 120_000);
});

describe.concurrent.each(PLATFORMS)("on %s", (platform) => {
  test("answers of Redis that are lost, each once, at every act: what is sent again counts once", async () => {
    let proxy: LossyProxy | undefined;
    const redisUrl = async (port: number): Promise<string> => (proxy = await lossyProxy(port)).url;
    await during({ platform, redisUrl }, async ({ deck }) => {
      const lossy = proxy as LossyProxy;
      let losses = 0;
      const losing = async (text: string): Promise<void> => {
        lossy.loseReplyTo(text);
        losses += 1;
      };
      const isLost = (): Promise<void> => until("it was lost", () => lossy.lost() === losses);
      await losing("ask one");
      const asks = await deck.mention("ask one", { channel: "C1" });
      await isLost();
      await asks.shows(/\[ Approve \]/);
      for (const text of ["approval-decided", "run-started", "run-ended", '"type":"final"']) {
        await losing(text);
        if (text === "approval-decided") await asks.press("approve");
        await isLost();
      }
      expect(await breaksOf(deck, [asks, "ask one"])).toEqual([]);
      await deck.stage.waitFor(() => deck.stage.whispers("U1").some((text) => /You have already approved this; it runs once/.test(text)));
    });
    await proxy?.stop();
  }, 120_000);

  test("the same event a hundred times at once counts once", async () => {
    await during({ platform }, async ({ deck }) => {
      const said = await deck.mention("do one", { channel: "C1" });
      for (let i = 0; i < 100; i++) deck.stage.again({ channel: "C1", root: said.root, ts: said.ts });
      await said.shows(/^one is answered$/, 60_000);
      const { ts } = await deck.say("do two", { channel: "C1", thread: said.root });
      for (let i = 0; i < 100; i++) deck.stage.again({ channel: "C1", root: said.root, ts });
      await said.shows(/^two is answered$/, 60_000);
      await sleep(1_000);
      const log = await said.entries();
      expect(log.flatMap((entry) => (entry.type === "message" ? [entry.text] : []))).toEqual(["do one", "do two"]);
      expect(deck.files.read("fx.txt")).toBe("one\ntwo\n");
    });
  }, 120_000);
});
