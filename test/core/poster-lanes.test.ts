import { beforeEach, describe, expect, test } from "vitest";
import type { NewEntry } from "../../src/core/entry.ts";
import { LIMITS } from "../../src/limits.ts";
import { PaperChat } from "../support/paper-chat.ts";
import { final, openPosting, type Posting, ran } from "../support/posting.ts";
import { bob } from "../support/random-log.ts";

/** Several threads that share one budget: a burst of five, then one a second. */

let chat: PaperChat;
let posting: Posting;

beforeEach(() => {
  chat = new PaperChat();
  chat.keeps = true;
  chat.burst = 5;
  posting = openPosting(() => chat);
});

const letters = ["a", "b", "c", "d", "e"];

describe("new posts", () => {
  test("of commands leave room in the budget for a card, which does not wait", async () => {
    const [asks, ...louds] = await Promise.all(["1.1", "2.1", "3.1", "4.1"].map((root) => posting.thread(`slack:T1:C1:${root}`)));
    for (const loud of louds) {
      await loud.step("a");
      await loud.drain();
      await loud.add(ran("a"));
    }
    posting.pass(2_000);
    for (const loud of louds) await loud.drain();
    expect(chat.messages).toHaveLength(5);
    await asks?.ask("ap1");
    await asks?.drain();
    expect(chat.texts().at(-1)).toContain("[Approve]");
  });

  test("never overtake each other: what stands before a card travels in its message, which changes with the card alone", async () => {
    const thread = await posting.thread("slack:T1:C1:1.1");
    await thread.step("a", "b");
    await thread.add(ran("a"), ran("b"));
    await thread.ask("ap1");
    await thread.drain();
    expect(chat.texts()).toEqual([
      expect.stringMatching(/^Waiting for a decision/),
      expect.stringMatching(/^\$ echo a\na\nexit 0[^]*\n\$ echo b\nb\nexit 0[^]*\nMay I run this for Ann\?\n[^]*\[Approve\] \[Deny\]$/),
    ]);
    await posting.log.decide("ap1", posting.now(), { decision: "approved", by: bob });
    await thread.add(ran("ap1"));
    await thread.drainAll();
    expect(chat.texts().slice(1)).toEqual([
      expect.stringMatching(/^\$ echo a\na\nexit 0[^]*\n\$ echo b\nb\nexit 0[^]*\nA command for Ann\n[^]*Approved by Bob[^\n]*$/),
      expect.stringMatching(/^\$ echo ap1\n/),
    ]);
    expect(Object.keys((await thread.state()).sent)).toEqual(["status:2"]);
  });

  test("of more than a card's message takes become one before it, however many they are", async () => {
    const thread = await posting.thread("slack:T1:C1:1.1");
    await thread.drain();
    const many = Array.from({ length: 100 }, (_, index) => `n${index}`);
    await thread.step(...many);
    await thread.add(...many.map((id) => ran(id, "x".repeat(2_000))));
    await thread.ask("ap1");
    await thread.drainAll();
    const [fold, card] = [chat.messages.slice(1, -1), chat.messages.at(-1)];
    expect(new Set(fold.map(({ nonce }) => nonce.split("/")[1])).size).toBe(1);
    expect(fold.map(({ text }) => text).join("")).toMatch(/^\$ echo n0\n[^]*n99\n/);
    expect(card?.text).toMatch(/^May I run this[^]*\[Approve\]/);
    expect(chat.texts().join("").length).toBeLessThan(100 * ((LIMITS.folded.at(-1) ?? 0) + 100));
  });

  test("all get their turn: a budget that stays low lets the last lane through too", async () => {
    const thread = await posting.thread("slack:T1:C1:1.1");
    chat.burst = 2;
    await thread.step("a");
    await thread.add(ran("a"), final);
    await thread.drainAll();
    expect(chat.texts()).toEqual([expect.stringMatching(/^Done/), expect.stringMatching(/^\$ echo a\n[^]*\nall done$/)]);
  });
});

describe("edits", () => {
  test("of a card go when those of statuses must wait", async () => {
    const thread = await posting.thread("slack:T1:C1:1.1");
    await thread.ask("ap1");
    await thread.drain();
    chat.editBurst = 4;
    await posting.deps.limiter.take(chat.buckets("", "edit", "approval"), posting.now());
    await posting.log.decide("ap1", posting.now(), { decision: "approved", by: bob });
    await thread.drain();
    expect(chat.texts()[0]).toContain("Waiting for a decision");
    expect(chat.texts().at(-1)).toContain("Approved by Bob");
    posting.pass(2_000);
    await thread.drain();
    expect(chat.texts()[0]).toContain("Running");
  });

  test("of a card go before new posts, and when these have to wait", async () => {
    const thread = await posting.thread("slack:T1:C1:1.1");
    await thread.ask("ap1");
    await thread.drain();
    await thread.step("b");
    for (let taken = 0; taken < 5; taken += 1) await posting.deps.limiter.take(chat.buckets("", "send", "approval"), posting.now());
    await thread.add(ran("b"));
    await posting.log.decide("ap1", posting.now(), { decision: "denied", by: bob });
    await thread.drain();
    expect(chat.texts().join("\n")).toContain("Denied by Bob");
    expect(chat.texts().join("\n")).not.toContain("$ echo b");
  });
});

describe("a limit of the platform", () => {
  const limited = { kind: "later", code: "ratelimited", retryAfterMs: 30_000 } as const;

  test("closes the budget that met it, for every thread that shares it", async () => {
    const [one, two] = [await posting.thread("slack:T1:C1:1.1"), await posting.thread("slack:T1:C1:2.1")];
    chat.failures.push({ ...limited, limit: "here" });
    await one.drain();
    await two.drain();
    expect(chat.messages).toHaveLength(0);
    posting.pass(30_000);
    await two.drain();
    expect(chat.messages).toHaveLength(1);
  });

  test("that is none, but a proxy's no or a wrong token, holds up its own thread alone", async () => {
    const [one, two] = [await posting.thread("slack:T1:C1:1.1"), await posting.thread("slack:T1:C1:2.1")];
    chat.failures.push({ kind: "later", code: "http_403", retryAfterMs: 30_000 });
    await one.drain();
    await two.drain();
    expect(chat.messages).toHaveLength(1);
  });

  test("leaves nothing in doubt, and never costs a post its form", async () => {
    const thread = await posting.thread("slack:T1:C1:1.1");
    for (let again = 0; again <= LIMITS.doubtfulTries + 1; again += 1) {
      chat.failures.push({ ...limited, limit: "here" });
      await thread.drain();
      posting.pass(30_000);
    }
    expect((await thread.state()).pending).toBeUndefined();
    await thread.drain();
    expect(chat.texts()).toEqual(["On it. Thinking …\n[Stop]"]);
  });

  test("lets what has come meanwhile be folded", async () => {
    const thread = await posting.thread("slack:T1:C1:1.1");
    await thread.drain();
    await thread.step(...letters);
    await thread.add(ran("a"));
    posting.pass(2_000);
    chat.failures.push({ ...limited, limit: "here" });
    await thread.drain();
    await thread.add(ran("b"), ran("c"));
    posting.pass(30_000);
    await thread.drain();
    expect(chat.texts().at(-1)).toMatch(/echo a[^]*echo b[^]*echo c/);
  });
});

test("the buttons of an interrupted run stay its own, and go when somebody has chosen", async () => {
  const thread = await posting.thread("slack:T1:C1:1.1");
  await thread.drain();
  await thread.step("a", "b", "c");
  await thread.add({ ...ran("a"), how: "interrupted" } as NewEntry, ran("b"), ran("c"));
  await thread.drainAll();
  expect(chat.texts()[1]).toMatch(/echo a[^]*\[Look\] \[Run again\] \[Leave it\]$/);
  const [of] = (await posting.log.read(thread.key, 0)).filter(({ type }) => type === "run-ended").map(({ seq }) => seq);
  const choice = { type: "choice", of: of ?? 0, choice: "leave", by: bob } as const;
  await posting.log.ingest({ conversation: thread.key, event: "press", at: posting.now(), entry: choice, wakes: false });
  await thread.drainAll();
  expect(chat.texts().slice(1)).toEqual([
    expect.stringMatching(/echo a[^]*Bob chose: Leave it/),
    expect.stringMatching(/echo b[^]*echo c/),
  ]);
  expect(Object.keys((await thread.state()).sent)).toEqual(["status:2"]);
});

test("a thread that is never up to date does not make the poster's memory grow", async () => {
  const thread = await posting.thread("slack:T1:C1:1.1");
  const ids = Array.from({ length: 60 }, (_, index) => `n${index}`);
  await thread.step(...ids);
  for (const id of ids) {
    await thread.add(ran(id), ran(id));
    posting.pass(1_000);
    await thread.drain();
  }
  expect(Object.keys((await thread.state()).sent).length).toBeLessThanOrEqual(3);
  await thread.drainAll();
  expect(chat.messages.length).toBeGreaterThan(30);
});
