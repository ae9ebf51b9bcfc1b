import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { startApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import { type Entry, isEntry } from "../../src/core/entry.ts";
import { openCorridor } from "../support/corridor.ts";
import { startRole } from "../support/crew.ts";
import { keptTrace, lossyProxy, until } from "../support/redis.ts";
import { PLATFORMS } from "../support/stage.ts";
import { RULES, breaksOf, during, isIn } from "../support/troubled.ts";

/** Presses at the worst moments. */

describe.concurrent.each(PLATFORMS)("on %s", (platform) => {
  test("a press while the worker has asked and is about to put the conversation down: the same worker goes on with it, once", async () => {
    const deck = await openCorridor({ platform, rules: RULES, start: false });
    const proxy = await lossyProxy(deck.redis.port);
    const gateway = await startApp(loadConfig(deck.env), "gateway", keptTrace());
    const worker = await startRole({ ...deck, env: { ...deck.env, REDIS_URL: proxy.url } }, "worker");
    try {
      // The first time, a connection sends the whole script.
      const settling = proxy.hold(readFileSync("src/redis/settle.lua", "utf8"));
      const said = await deck.mention("ask one");
      await until("the worker has asked and settles", settling.isHeld);
      await said.press("approve");
      await isIn(said, "approval-decided");
      settling.letGo();
      expect(await breaksOf(deck, [said, "ask one"])).toEqual([]);
      expect(deck.files.read("fx.txt")).toBe("one\n");
      const started = (await said.entries()).find((entry) => isEntry(entry, "run-started"));
      expect(started?.epoch).toBe(1);
    } finally {
      await worker.kill();
      await gateway.stop();
      await proxy.stop();
      await deck.close();
    }
  }, 90_000);

  test("presses in the very moments in which requests expire: each is decided once, and its presser is told how", async () => {
    await during({ platform, env: { DECKHAND_APPROVAL_HOURS: "0.0045" } }, async ({ deck }) => {
      const words = ["one", "two", "three", "four", "five"];
      const all = await Promise.all(words.map((word, at) => deck.mention(`ask ${word}`, { channel: `C${at + 1}` })));
      await Promise.all(
        all.map(async (said, at) => {
          const card = await said.shows(/\[ Approve \]/);
          const deadline = asked(await said.entries())?.deadline ?? 0;
          // A press takes some time to arrive.
          await sleep(deadline - Date.now() - 60 + 25 * at);
          await deck.stage.press({ channel: said.channel, root: said.root, ts: card.ts, action: "approve", user: "U1" });
        }),
      );
      expect(await breaksOf(deck, ...all.map((said, at): [typeof said, string] => [said, `ask ${words[at]}`]))).toEqual([]);
      const decisions = (await Promise.all(all.map((said) => said.entries()))).flat().filter((entry) => isEntry(entry, "approval-decided"));
      const approved = decisions.filter(({ decision }) => decision === "approved").length;
      expect(decisions.map(({ decision }) => decision).filter((decision) => decision !== "approved" && decision !== "expired")).toEqual([]);
      const told = (what: RegExp): number => deck.stage.whispers("U1").filter((text) => what.test(text)).length;
      await deck.stage.waitFor(() => told(/Approved\. It runs now, once\./) + told(/This request has expired/) === words.length, 60_000);
      expect(told(/Approved\. It runs now, once\./)).toBe(approved);
      const effects = deck.files.has("fx.txt") ? deck.files.read("fx.txt").trim().split("\n") : [];
      expect(effects).toHaveLength(approved);
    });
  }, 90_000);

  test("a hundred presses of two people at once: one counts, and everybody is told whose", async () => {
    await during({ platform }, async ({ deck }) => {
      const said = await deck.mention("ask one", { channel: "C1" });
      const { ts } = await said.shows(/\[ Approve \]/);
      const press = (user: string) => deck.stage.press({ channel: "C1", root: said.root, ts, action: "approve", user });
      await Promise.all(Array.from({ length: 50 }, () => ["U1", "U2"]).flatMap((both) => both.map(press)));
      expect(await breaksOf(deck, [said, "ask one"])).toEqual([]);
      expect(deck.files.read("fx.txt")).toBe("one\n");
      const all = (): string[] => ["U1", "U2"].flatMap((user) => deck.stage.whispers(user));
      const told = (what: RegExp): number => all().filter((text) => what.test(text)).length;
      await deck.stage.waitFor(
        () => told(/Approved\. It runs now, once\.|Already approved by|already approved this|did not reach me/) === 100,
        60_000,
      );
      expect(told(/Approved\. It runs now, once\./)).toBeLessThanOrEqual(1);
    });
  }, 90_000);
});

function asked(log: Entry[]): Entry<"approval-asked"> | undefined {
  return log.find((entry) => isEntry(entry, "approval-asked"));
}
