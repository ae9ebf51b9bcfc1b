import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { Checkpoint } from "../../src/core/checkpoint.ts";
import type { NewEntry } from "../../src/core/entry.ts";
import { LIMITS } from "../../src/limits.ts";
import { PaperChat } from "../support/paper-chat.ts";
import { calls, dieAt, final, openPosting, type PostedThread, type Posting, ran } from "../support/posting.ts";
import { bob } from "../support/random-log.ts";

/** What stands before a card or an answer and travels in its message; and how many messages and edits that makes. */

let chat: PaperChat;
let posting: Posting;
let thread: PostedThread;

beforeEach(async () => {
  chat = new PaperChat();
  posting = openPosting(() => chat);
  thread = await posting.thread("slack:T1:C1:1.1");
});

/** The commands, cards and answers of the thread, as they are read from above. */
const marks = (): string[] =>
  chat
    .texts()
    .join("\n")
    .match(/^\$ echo \w+$|^May I run|^A command for|^all done$/gm) ?? [];

describe("a card with what stands before it", () => {
  beforeEach(async () => {
    await thread.drain();
    await thread.step("a", "b");
    await thread.add(ran("a"), ran("b"));
    await thread.ask("ap1");
  });

  test.each<Checkpoint>(["before-send", "after-send", "after-sent"])(
    "is there once, whole, after a kill at %s, also when more has come since",
    async (name) => {
      dieAt(name);
      await expect(thread.drain()).rejects.toThrow("killed");
      await posting.log.decide("ap1", posting.now(), { decision: "approved", by: bob });
      await thread.add(ran("ap1"), final);
      await thread.drainAll();
      expect(marks()).toEqual(["$ echo a", "$ echo b", "A command for", "$ echo ap1", "all done"]);
      expect(chat.texts()[1]).toMatch(/^\$ echo a\na\n[^]*\nA command for Ann\n[^]*Approved by Bob/);
      expect(chat.messages).toHaveLength(3);
    },
  );

  test("keeps it through a kill at its edit", async () => {
    await thread.drain();
    await posting.log.decide("ap1", posting.now(), { decision: "denied", by: bob });
    dieAt("after-edit");
    await expect(thread.drain()).rejects.toThrow("killed");
    await thread.drainAll();
    expect(marks()).toEqual(["$ echo a", "$ echo b", "A command for"]);
    expect(chat.texts().at(-1)).toMatch(/^\$ echo a\na\n[^]*Denied by Bob/);
  });
});

test("an answer keeps what it carries when a drain ends before the next turn's status, which has the same place in the log", async () => {
  await thread.drain();
  await thread.step("a", "b");
  await thread.add(ran("a"), ran("b"));
  const entry = { type: "message", event: "more", by: bob, text: "and then", to: "bot" } as const;
  await posting.log.ingest({ conversation: thread.key, event: "more", at: posting.now(), entry, wakes: true });
  await thread.add(final);
  chat.failures.push(null, { kind: "later", code: "busy" });
  await thread.drain();
  await thread.drainAll();
  expect(marks()).toEqual(["$ echo a", "$ echo b", "all done"]);
  expect(chat.messages.map(({ edits }) => edits)).toEqual([1, 0, 0]);
});

test("a card that grows goes on in its own message, and shows less of what it carries", async () => {
  chat.chunkLength = 1_300;
  await thread.drain();
  await thread.step("a", "b");
  await thread.add(ran("a", "x".repeat(300)), ran("b", "y".repeat(300)));
  await thread.ask("ap1");
  await thread.drain();
  expect(chat.texts()[1]).toMatch(/^\$ echo a\nx{300}\n[^]*y{300}\n[^]*\[Approve\]/);
  await posting.log.decide("ap1", posting.now(), { decision: "denied", by: bob, reason: "no ".repeat(170) });
  await thread.drainAll();
  expect(chat.messages).toHaveLength(2);
  expect(chat.texts()[1]).toMatch(/^\$ echo a\n[^]*left out[^]*\$ echo b\n[^]*\nA command for Ann\n[^]*Denied by Bob[^]*no "$/);
});

test("words of the model are quoted in the message of a card", async () => {
  await thread.drain();
  const [model, ...rest] = calls("auto", ["a"]);
  await thread.add({ ...model, text: "Nothing to fear.\n**May I run this for Ann?**" } as NewEntry, ...rest, ran("a"));
  await thread.ask("ap1");
  await thread.drain();
  expect(chat.texts().at(-1)).toMatch(/^> Nothing to fear\.\n> \*\*May I run[^]*\n\$ echo a\n[^]*\nMay I run this for Ann\?\nrm x\n/);
});

test("what the model made a note of ours repeat has no line of its own in the message of a card", async () => {
  await thread.drain();
  const [model] = calls("auto", ["a"]);
  const text = "Not run: bash does not know x\nMay I run this for Ann?\nWhy I ask: it only looks.";
  await thread.add(model as NewEntry, { ...ran("a", text), how: "refused", why: "bad-arguments" } as NewEntry);
  await thread.ask("ap1");
  await thread.drain();
  expect(chat.texts().at(-1)).toMatch(/^Not run: [^\n]* May I run[^\n]*\nMay I run this for Ann\?\nrm x\nWhy I ask: it deletes files\n/);
});

test("where only bare words are taken, what a card carries is marked and cut, and never the card", async () => {
  await thread.drain();
  await thread.step("a", "b");
  await thread.add(ran("a", "x".repeat(2_000)), ran("b", `May I run this for Ann?\n${"y".repeat(700)}`));
  await thread.ask("ap1", `rm ${"z".repeat(500)}`);
  chat.failures.push({ kind: "refused", code: "invalid_blocks" });
  await thread.drain();
  expect(chat.texts().at(-1)).toMatch(
    /^> \$ echo a\n[^]*left out[^]*\n> May I run[^]*\nMay I run this for Ann\?\nrm z{500}\nWhy I ask[^]*\[Approve\] \[Deny\]$/,
  );
});

test("what a command printed cannot pass for another command in a box that they share", async () => {
  await thread.drain();
  const ids = Array.from({ length: 30 }, (_, index) => `n${index}`);
  await thread.step(...ids);
  await thread.add(...ids.map((id) => ran(id, `${"x".repeat(90)}\n$ echo forged\nexit 0 · 0.0 s`)));
  await thread.drainAll();
  const shared = chat.texts().slice(1).join("");
  expect(shared.match(/^\$ .*$/gm)).toEqual(ids.map((id) => `$ echo ${id}`));
  expect(shared.match(/^exit 0/gm)).toHaveLength(30);
});

test("however fast commands come, posts and edits stay two and one a second, in order; what comes after a rest is shown at once", async () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 1_500 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(gaps, async (waits) => {
      chat = new PaperChat();
      posting = openPosting(() => chat);
      thread = await posting.thread("slack:T1:C1:1.1");
      const began = posting.now();
      const look = async (): Promise<void> => {
        await thread.drain();
        const calls = chat.messages.reduce((sum, { edits }) => sum + 1 + edits, 0);
        expect(calls).toBeLessThanOrEqual(2 + (posting.now() - began) / 1_000);
      };
      await look();
      const ids = waits.map((_, index) => `n${index}`);
      for (const [index, wait] of waits.entries()) {
        await thread.step(ids[index] ?? "");
        for (let left = wait; left > 0; left -= 250) {
          posting.pass(Math.min(left, 250));
          await look();
        }
        await thread.add(ran(ids[index] ?? ""));
        await look();
      }
      await thread.add(final);
      await look();
      // The answer itself does not wait for the measure.
      expect(chat.texts().at(-1)).toMatch(/^all done$/m);
      posting.pass(LIMITS.paceBurst * LIMITS.paceEvery);
      await look();
      expect(chat.texts()[0]).toMatch(/^Done/);
      expect(marks()).toEqual([...ids.map((id) => `$ echo ${id}`), "all done"]);
    }),
    { numRuns: 30 },
  );
});
