import { describe, expect, test } from "vitest";
import { isEntry } from "../../src/core/entry.ts";
import { abandon } from "../../src/core/intake.ts";
import { traceLines, traceTree } from "../../src/core/trace.ts";
import { type Guarded, openGuarded } from "../support/guarded.ts";
import { ann, bob } from "../support/random-log.ts";

const QUESTION = "I have paused: it took 2 steps. Shall I go on?";

/** Paused after two steps; the model answers with its sixth. */
async function pausedDeck(): Promise<Guarded> {
  const deck = openGuarded({ answers: (n) => (n === 5 ? "say done" : `echo ${n}`), limits: { turn: { steps: 2 } } });
  await deck.say("go");
  await deck.work();
  deck.rings.length = 0;
  return deck;
}

const questions = async (deck: Guarded) => (await deck.posts()).filter((text) => text.startsWith("I have paused"));

describe("a limit", () => {
  test("is a post with two buttons, of which the status says that it waits", async () => {
    const deck = await pausedDeck();
    expect(await deck.last()).toMatchObject({ type: "paused", text: QUESTION, approvers: ["slack:U3"] });
    expect(await questions(deck)).toEqual([`${QUESTION}\n[Continue] [Stop]`]);
    expect((await deck.posts())[0]).toBe("Paused: this waits until somebody who may approve answers the question below.\n[Stop]");
    await deck.work();
    expect(deck.requests).toHaveLength(2);
  });

  test.each([
    [ann, "You are not on the list of people who may decide this. Nothing was changed."],
    [bob, "You are not on the list of people who may decide this. Nothing was changed."],
  ])("is not answered by somebody who may not approve, whoever asked: $0.name", async (by, words) => {
    const deck = await pausedDeck();
    for (const choice of ["continue", "stop"] as const) expect((await deck.choose(choice, by)).whisper).toBe(words);
    expect((await deck.last())?.type).toBe("paused");
    expect(deck.rings).toEqual([]);
  });

  test("lets the turn take as much again on Continue, and asks again then", async () => {
    const deck = await pausedDeck();
    expect((await deck.choose("continue")).whisper).toBe("It goes on.");
    expect(await deck.last()).toMatchObject({ type: "choice", choice: "continue", by: { name: "Cem" } });
    expect(deck.rings).toEqual([deck.thread.key]);
    await deck.work();
    expect(deck.requests).toHaveLength(4);
    expect(await questions(deck)).toEqual([`${QUESTION}\nCem chose: Continue · 2026-11-30 12:00 UTC`, `${QUESTION}\n[Continue] [Stop]`]);
    await deck.choose("continue");
    await deck.work();
    expect(await deck.last()).toMatchObject({ type: "final", text: "done" });
  });

  test("ends the turn on Stop like the word, and leaves no button", async () => {
    const deck = await pausedDeck();
    expect((await deck.choose("stop")).whisper).toBe("It ends here.");
    await deck.work();
    expect(await deck.last()).toMatchObject({ type: "final", reason: "stopped", text: "Stopped by Cem. No command was running." });
    const posts = (await deck.posts()).join("\n");
    expect(posts).toContain(`${QUESTION}\nCem chose: Stop · 2026-11-30 12:00 UTC`);
    expect(posts).not.toContain("[");
    await deck.say("and now?");
    await deck.work();
    expect(deck.requests).toHaveLength(4);
  });

  test("is answered by the first press alone; later ones are told who chose", async () => {
    const deck = await pausedDeck();
    const pause = (await deck.last())?.seq ?? 0;
    const presses = await Promise.all([deck.choose("continue"), deck.choose("stop")]);
    expect(presses.map(({ whisper }) => whisper)).toEqual(["It goes on.", "Already chosen by Cem: Continue. Your click changed nothing."]);
    await deck.work();
    expect((await deck.choose("continue", undefined, pause)).whisper).toBe('You have already chosen "Continue".');
    expect((await deck.entries()).filter((entry) => isEntry(entry, "choice"))).toHaveLength(1);
  });

  test("keeps what is written meanwhile, says so, and answers it after Continue", async () => {
    const deck = await pausedDeck();
    await deck.say("use the other file");
    await deck.work();
    expect((await deck.posts()).at(-1)).toBe("Ann, I keep this for when the work in this thread goes on.");
    expect(deck.requests).toHaveLength(2);
    await deck.choose("continue");
    await deck.work();
    expect(deck.requests[2]?.messages.at(-1)?.content).toContain("use the other file");
  });

  test("is ended by the word `stop` of anybody who may ask, and its buttons go", async () => {
    const deck = await pausedDeck();
    const pause = (await deck.last())?.seq ?? 0;
    await deck.say("stop");
    expect(await questions(deck)).toEqual([`${QUESTION}\nNot needed any more: this work has ended.`]);
    expect((await deck.choose("continue")).whisper).toBe("This work has ended already. Your click changed nothing.");
    await deck.work();
    expect(await deck.last()).toMatchObject({ type: "final", text: "Stopped by Ann. No command was running." });
    expect((await deck.choose("continue", undefined, pause)).whisper).toBe("This work has ended already. Your click changed nothing.");
    expect(await questions(deck)).toEqual([`${QUESTION}\nNot needed any more: this work has ended.`]);
  });

  test("of a thread that is gone is ended with it", async () => {
    const deck = await pausedDeck();
    await abandon(deck.thread.key, "channel_not_found", deck.deps);
    await deck.work();
    expect(await deck.last()).toMatchObject({ type: "final", reason: "stopped" });
  });

  test("that nobody knows, or in a workspace that is gone, is answered with one line", async () => {
    const deck = await pausedDeck();
    expect((await deck.choose("continue", undefined, 2)).whisper).toBe("I do not know this question any more. Nothing was changed.");
    deck.deps.access = { ...deck.deps.access, workspaces: [] };
    expect((await deck.choose("continue")).whisper).toMatch(/"api", which is not set up for this channel any more/);
    expect((await deck.last())?.type).toBe("paused");
  });

  test("is told in the trace with who chose what after how long", async () => {
    const deck = await pausedDeck();
    deck.now += 90_000;
    await deck.choose("continue");
    const lines = traceLines(traceTree(await deck.entries())).join("\n");
    expect(lines).toContain(`  paused: 2026-11-30T12:00:00.000Z · ${QUESTION}\n  chosen: continue by Cem after 90.0 s`);
  });
});

test("a message that is removed before the first request takes its pause with it", async () => {
  const deck = openGuarded({ answers: () => "say hello", limits: { thread: { tokens: 1 } } });
  await deck.say("go");
  await deck.work();
  expect(await questions(deck)).toHaveLength(1);
  const message = (await deck.entries()).find((entry) => isEntry(entry, "message"));
  const { log, thread } = deck;
  const entry = { type: "removed" as const, event: message?.event ?? "" };
  await log.ingest({ conversation: thread.key, event: "gone", at: deck.now, entry, wakes: true });
  expect((await questions(deck))[0]).toContain("Not needed any more");
  expect((await deck.choose("continue")).whisper).toBe("This work has ended already. Your click changed nothing.");
});
