import { beforeEach, describe, expect, test } from "vitest";
import { LIMITS } from "../../src/limits.ts";
import { PaperChat } from "../support/paper-chat.ts";
import { dieAt, final, openPosting, type PostedThread, type Posting, ran } from "../support/posting.ts";
import { bob } from "../support/random-log.ts";

let chat: PaperChat;
let posting: Posting;
let thread: PostedThread;

beforeEach(async () => {
  chat = new PaperChat();
  posting = openPosting(() => chat);
  thread = await posting.thread("slack:T1:C1:1.1");
});

describe("a send whose outcome is not known", () => {
  test("is found by the successor of a poster that died before it could note it", async () => {
    dieAt("after-send");
    await expect(thread.drain()).rejects.toThrow("killed");
    await thread.drain();
    expect(chat.messages).toHaveLength(1);
  });

  test("is sent again with a note when nobody can tell, and the note stays", async () => {
    chat.failures.push("lost");
    await thread.drain();
    chat.looks.push("unknown");
    await thread.drain();
    expect(chat.texts()).toEqual(["On it. Thinking …\n[Stop]", "On it. Thinking …\n[Stop]\n(may be a duplicate)"]);
    await thread.add(final);
    await thread.drainAll();
    expect(chat.texts().slice(1)).toEqual([expect.stringMatching(/^Done[^]*\(may be a duplicate\)$/), "all done"]);
  });

  test("is sent again with a note when looking for it is refused", async () => {
    chat.failures.push("lost");
    await thread.drain();
    chat.looks.push({ kind: "refused", code: "missing_scope" });
    await thread.drain();
    expect(chat.texts().at(-1)).toContain("(may be a duplicate)");
  });

  test("is looked for until that is possible, but not for ever, and holds up nobody else", async () => {
    const other = await posting.thread("slack:T1:C1:2.1");
    chat.failures.push("lost");
    await thread.drain();
    const busy = { kind: "later", code: "ratelimited", retryAfterMs: 30_000, limit: "here" } as const;
    for (let waited = 0; waited < LIMITS.doubtfulLook; waited += 30_000) {
      chat.looks.push(busy);
      await thread.drain();
      expect(chat.messages.filter(({ nonce }) => nonce.startsWith(thread.key))).toHaveLength(1);
      posting.pass(30_000);
    }
    await other.drain();
    expect(chat.messages).toHaveLength(2);
    chat.looks.push(busy);
    await thread.drain();
    expect(chat.texts().at(-1)).toContain("(may be a duplicate)");
  });

  test("is looked for from its first try on", async () => {
    const began = posting.now();
    for (let again = 0; again < 3; again += 1) {
      chat.failures.push({ kind: "doubtful", code: "http_502" });
      await thread.drain();
      posting.pass(60_000);
    }
    expect((await thread.state()).pending).toMatchObject({ at: began, tries: 3 });
  });

  test("of a part that the post no longer has is found, and emptied of its buttons", async () => {
    chat.chunkLength = 150;
    await thread.ask("ap2");
    chat.failures.push(null, null, "lost");
    await thread.drain();
    expect(chat.texts().at(-1)).toContain("[Approve]");
    await posting.log.decide("ap2", posting.now(), { decision: "denied", by: bob });
    chat.chunkLength = 4_000;
    await thread.drainAll();
    const texts = chat.messages.filter(({ nonce }) => nonce.includes("ap2")).map(({ text }) => text);
    expect(texts.join("\n")).toContain("Denied by Bob");
    expect(texts.join("\n")).not.toContain("[Approve]");
  });
});

describe("an edit whose outcome is not known", () => {
  test("is made again, also when the message should read again as it did before", async () => {
    await thread.drain();
    await thread.step("a");
    posting.pass(2_000);
    dieAt("after-edit");
    await expect(thread.drain()).rejects.toThrow("killed");
    expect(chat.texts()[0]).toContain("Running: echo a");
    expect((await thread.state()).sent["status:2"]?.shows).toEqual([""]);
  });

  test("is made ever more seldom, and no more at last", async () => {
    await thread.drain();
    await thread.step("a");
    posting.pass(2_000);
    const before = posting.now();
    for (let again = 0; again <= LIMITS.doubtfulTries; again += 1) {
      chat.editFailures.push({ kind: "doubtful", code: "update_failed" });
      await thread.drain();
      for (; (await posting.log.takeDuePosts(posting.now())).length === 0 && again < LIMITS.doubtfulTries; ) posting.pass(1_000);
    }
    expect(posting.now() - before).toBeGreaterThan(10 * 60_000);
    expect(chat.editFailures).toHaveLength(0);
    await thread.drain();
    expect(chat.messages[0]?.edits).toBe(0);
  });
});

describe("a poster that has to let go", () => {
  test("changes nothing any more once somebody else has the thread", async () => {
    await thread.drain();
    await thread.step("a");
    posting.pass(2_000);
    const { limiter } = posting.deps;
    posting.deps.limiter = {
      ...limiter,
      async take(buckets, now) {
        await thread.state();
        return await limiter.take(buckets, now);
      },
    };
    await thread.drain();
    expect(chat.messages).toMatchObject([{ edits: 0 }]);
  });

  test("because the process ends finishes what it sends and begins nothing more", async () => {
    const leaving = new AbortController();
    await thread.step("a", "b");
    await thread.add(ran("a"), ran("b"));
    chat.onSend = () => leaving.abort();
    await thread.drain({ leaving: leaving.signal });
    expect(chat.messages).toHaveLength(1);
    expect((await thread.state()).pending).toBeUndefined();
    await thread.drainAll();
    expect(chat.texts().slice(1)).toEqual([expect.stringMatching(/^\$ echo a\n[^]*\n\$ echo b\n/)]);
  });
});

describe("a thread that is not ours to write in", () => {
  test("because another gateway serves its platform is left to that one, and rung for again", async () => {
    const other = await posting.thread("discord:G1:1");
    await other.drain();
    expect(chat.messages).toHaveLength(0);
    expect(await posting.log.takeDuePosts(posting.now() + LIMITS.postElsewhere)).toEqual([other.key]);
  });

  test("because nothing is left of its log is not looked at for ever", async () => {
    posting.deps.log = { ...posting.log, read: async () => [] };
    await thread.drain();
    expect(await posting.log.postsDirtySince(posting.now())).toEqual([]);
  });
});
