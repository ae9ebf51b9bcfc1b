import { beforeEach, expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { drainPosts } from "../../src/core/poster.ts";
import { PaperChat } from "../support/paper-chat.ts";
import { dieAt, openPosting, type PostedThread, type Posting } from "../support/posting.ts";

let chat: PaperChat;
let posting: Posting;
let thread: PostedThread;
let coming: Entry[];
/** What was noted of the thread beside the claim on it. */
let notes: number;

beforeEach(async () => {
  chat = new PaperChat();
  posting = openPosting(() => chat);
  thread = await posting.thread("slack:T1:C1:1.1");
  coming = await posting.log.read(thread.key, 0);
  notes = 0;
  const { savePosts } = posting.log;
  posting.log.savePosts = (...saved) => {
    notes += 1;
    return savePosts(...saved);
  };
});

/** Drains as who has heard the mention itself does: knowing what the log will be. */
async function drain(): Promise<void> {
  const lock = { key: "", token: "" };
  await drainPosts({ conversation: thread.key, lock, coming, signal: new AbortController().signal }, posting.deps);
}

test("the first post of a new thread is noted with the claim, and with nothing else", async () => {
  let noted: unknown;
  chat.onSend = () => (noted = notes);
  await drain();
  expect(chat.texts()).toEqual(["On it. Thinking …\n[Stop]"]);
  expect(noted).toBe(0);
  await thread.drain();
  expect(chat.messages).toHaveLength(1);
});

test("who dies after the send leaves that note, and the successor finds the post", async () => {
  dieAt("after-send");
  await expect(drain()).rejects.toThrow("killed");
  expect((await thread.state()).pending).toMatchObject({ nonce: chat.messages[0]?.nonce, tries: 1 });
  await thread.drain();
  expect(chat.messages).toHaveLength(1);
});

test("who dies before it leaves the post to the successor", async () => {
  dieAt("post-taken");
  await expect(drain()).rejects.toThrow("killed");
  await thread.drain();
  expect(chat.texts()).toEqual(["On it. Thinking …\n[Stop]"]);
});

test("where the thread reads otherwise than was foretold, the send is noted anew", async () => {
  posting.deps.now = async () => ({ unserved: true });
  let shows: unknown;
  chat.onSend = () => (shows = notes);
  await drain();
  expect(chat.texts()).toEqual([expect.stringContaining("No worker serves")]);
  expect(shows).toBe(1);
});

test("of a thread of which something is kept nothing is foretold", async () => {
  chat.failures.push("lost");
  await thread.drain();
  await drain();
  expect(chat.messages).toHaveLength(1);
});

test("an empty budget is waited for, and leaves no note behind", async () => {
  chat.burst = 1;
  await posting.deps.limiter.take(chat.buckets(thread.key, "send", "answer"), posting.now());
  await drain();
  expect(chat.messages).toHaveLength(0);
  expect((await thread.state()).pending).toBeUndefined();
  await thread.drainAll();
  expect(chat.messages).toHaveLength(1);
});
