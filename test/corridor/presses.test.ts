import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Entry, isEntry } from "../../src/core/entry.ts";
import type { Said } from "../support/corridor.ts";
import { until } from "../support/redis.ts";
import { type Troubled, breaksOf, isIn, troubled } from "../support/troubled.ts";

/** Presses at the worst moments, and what is heard or done more than once. */

/** One after the other: they share a deck. */
const SHARED = { concurrent: false, timeout: 90_000 };

async function aHundredPresses({ deck }: Troubled): Promise<void> {
  const all = (): string[] => ["U1", "U2"].flatMap((user) => deck.stage.whispers(user));
  const told = (what: RegExp): number => all().filter((text) => what.test(text)).length;
  const [ours, any] = [
    /Approved\. It runs now, once\./,
    /Approved\. It runs now, once\.|Already approved by|already approved this|did not reach me/,
  ];
  const before = { ours: told(ours), any: told(any) };
  const said = await deck.mention("ask one", { channel: "C1" });
  const { ts } = await said.shows(/\[ Approve \]/);
  const press = (user: string) => deck.stage.press({ channel: "C1", root: said.root, ts, action: "approve", user });
  await Promise.all(Array.from({ length: 50 }, () => ["U1", "U2"]).flatMap((both) => both.map(press)));
  expect(await breaksOf(deck, [said, "ask one"])).toEqual([]);
  await deck.stage.waitFor(() => told(any) - before.any === 100, 60_000);
  expect(told(ours) - before.ours).toBeLessThanOrEqual(1);
}

async function aHundredTimesTheSame({ deck }: Troubled): Promise<void> {
  const said = await deck.mention("do two", { channel: "C2" });
  for (let i = 0; i < 100; i++) deck.stage.again({ channel: "C2", root: said.root, ts: said.ts });
  await said.shows(/^two is answered$/, 60_000);
  await sleep(1_000);
  expect(await breaksOf(deck, [said, "do two"])).toEqual([]);
  expect((await said.entries()).filter((entry) => isEntry(entry, "message"))).toHaveLength(1);
}

describe.concurrent("on Discord", () => {
  const all = troubled({ platform: "discord" });

  test("a hundred presses of two people at once: one counts, and everybody is told whose", SHARED, () => aHundredPresses(all()));
  test("the same event a hundred times at once counts once", SHARED, () => aHundredTimesTheSame(all()));
});

describe.concurrent("on Slack", () => {
  const all = troubled({ platform: "slack", apart: true });

  test(
    "a press while the worker has asked and is about to put the conversation down: the same worker goes on with it, once",
    SHARED,
    async () => {
      const { deck, proxy } = all();
      // The first time, a connection sends the whole script.
      const settling = proxy.hold(readFileSync("src/redis/settle.lua", "utf8"));
      const said = await deck.mention("ask three", { channel: "C3" });
      await until("the worker has asked and settles", settling.isHeld);
      await said.press("approve");
      await isIn(said, "approval-decided");
      settling.letGo();
      expect(await breaksOf(deck, [said, "ask three"])).toEqual([]);
      const started = (await said.entries()).find((entry) => isEntry(entry, "run-started"));
      expect(started?.epoch).toBe(1);
    },
  );

  test("a hundred presses of two people at once: one counts, and everybody is told whose", SHARED, () => aHundredPresses(all()));
  test("the same event a hundred times at once counts once", SHARED, () => aHundredTimesTheSame(all()));

  test("answers of Redis that are lost, each once, at every act: what is sent again counts once", SHARED, async () => {
    const { deck, proxy } = all();
    /** Waits for nothing else: what comes next must find the proxy ready for it. */
    async function losing(text: string, begin: () => void = () => {}): Promise<void> {
      const before = proxy.lost();
      proxy.loseReplyTo(text);
      begin();
      await until(`an answer to ${text} is lost`, () => proxy.lost() > before);
    }
    const mentioned = Promise.withResolvers<Said>();
    await losing("ask four", () => deck.mention("ask four", { channel: "C4" }).then(mentioned.resolve, mentioned.reject));
    const asks = await mentioned.promise;
    await asks.shows(/\[ Approve \]/);
    const pressed = Promise.withResolvers<void>();
    await losing("approval-decided", () => asks.press("approve").then(pressed.resolve, pressed.reject));
    for (const text of ["run-started", "run-ended", '"type":"final"']) await losing(text);
    await pressed.promise;
    expect(await breaksOf(deck, [asks, "ask four"])).toEqual([]);
    await deck.stage.waitFor(() => deck.stage.whispers("U1").some((text) => /You have already approved this; it runs once/.test(text)));
  });
});

describe.concurrent("where requests expire soon", () => {
  const all = troubled({ platform: "slack", env: { DECKHAND_APPROVAL_HOURS: "0.0035" } });

  test("presses in the very moments in which requests expire: each is decided once, and its presser is told how", SHARED, async () => {
    const { deck } = all();
    const words = ["one", "two", "three", "four", "five"];
    const saids = await Promise.all(words.map((word, at) => deck.mention(`ask ${word}`, { channel: `C${at + 1}` })));
    await Promise.all(
      saids.map(async (said, at) => {
        const card = await said.shows(/\[ Approve \]/);
        const deadline = asked(await said.entries())?.deadline ?? 0;
        // A press takes some time to arrive.
        await sleep(deadline - Date.now() - 60 + 25 * at);
        await deck.stage.press({ channel: said.channel, root: said.root, ts: card.ts, action: "approve", user: "U1" });
      }),
    );
    expect(await breaksOf(deck, ...saids.map((said, at): [typeof said, string] => [said, `ask ${words[at]}`]))).toEqual([]);
    const decisions = (await Promise.all(saids.map((said) => said.entries()))).flat().filter((entry) => isEntry(entry, "approval-decided"));
    const approved = decisions.filter(({ decision }) => decision === "approved").length;
    expect(decisions.map(({ decision }) => decision).filter((decision) => decision !== "approved" && decision !== "expired")).toEqual([]);
    const told = (what: RegExp): number => deck.stage.whispers("U1").filter((text) => what.test(text)).length;
    await deck.stage.waitFor(() => told(/Approved\. It runs now, once\./) + told(/This request has expired/) === words.length, 60_000);
    expect(told(/Approved\. It runs now, once\./)).toBe(approved);
    const effects = deck.files.has("fx.txt") ? deck.files.read("fx.txt").trim().split("\n") : [];
    expect(effects).toHaveLength(approved);
  });
});

function asked(log: Entry[]): Entry<"approval-asked"> | undefined {
  return log.find((entry) => isEntry(entry, "approval-asked"));
}
