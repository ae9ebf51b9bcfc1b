import { beforeEach, describe, expect, test } from "vitest";
import type { NewEntry } from "../../src/core/entry.ts";
import type { Log } from "../../src/core/log.ts";
import type { Clock } from "../../src/core/ports.ts";
import { type PosterDeps, drainPosts } from "../../src/core/poster.ts";
import { redactor } from "../../src/core/redactor.ts";
import { memoryLog } from "../../src/memory.ts";
import { memoryLimiter } from "../../src/memory-queue.ts";
import { systemIds } from "../../src/system.ts";
import { PaperChat } from "../support/paper-chat.ts";
import { ann, bob } from "../support/random-log.ts";
import { calls, final, ran } from "../support/posting.ts";

/** A drain that stopped in the middle and goes on later, when the log says more than it did. */

const key = "slack:T1:C1:1.1";
let now: number;
let log: Log;
let chat: PaperChat;
let deps: PosterDeps;
let epoch: number;
let ops: number;

beforeEach(async () => {
  now = 1_000_000;
  const clock: Clock = { now: () => now, sleep: async () => {} };
  log = memoryLog(clock);
  chat = new PaperChat();
  ops = 0;
  const trace = { info: () => {}, warn: () => {}, error: () => {} };
  deps = {
    log,
    limiter: memoryLimiter(),
    clock,
    ids: systemIds,
    trace,
    chats: new Map([["slack", chat]]),
    banner: null,
    redact: redactor([]),
    now: async () => ({}),
    abandon: async () => {},
  };
  const opened = { type: "opened", platform: "slack", thread: key, channel: "slack:C1", workspace: "api" } as const;
  const entry = { type: "message", event: "e1", by: ann, text: "go", to: "bot" } as const;
  await log.ingest({ conversation: key, event: "e1", at: now, opened, entry, wakes: true });
  const taken = await log.takeover(key, { key: "", token: "" });
  epoch = taken.kind === "taken" ? taken.epoch : 0;
});

const drain = (signal = new AbortController().signal) => drainPosts({ conversation: key, lock: { key: "", token: "" }, signal }, deps);

/** Drains until the thread is up to date, with time passing in between. */
async function drainAll(): Promise<void> {
  for (let i = 0; i < 40; i += 1) {
    now += 5_000;
    await drain();
  }
}

async function add(...news: NewEntry[]): Promise<void> {
  await log.append(key, epoch, `op${(ops += 1)}`, now, news);
}

const step = (...ids: string[]): Promise<void> => add(...calls("auto", ids));

const asked = (command = "rm x"): NewEntry => ({
  type: "approval-asked",
  approval: "ap1",
  call: "a",
  command,
  cwd: "/w",
  workspace: "api",
  env: {},
  sandbox: "sandboxed: no network, workspace only",
  grants: [],
  reasons: [{ code: "delete", text: "it deletes files" }],
  requester: ann,
  approvers: ["slack:U2"],
  deadline: now + 86_400_000,
  digest: "d",
});
/** How often a command is shown in the thread. */
const shown = (id: string): number => chat.texts().join("\n").split(`$ echo ${id}\n`).length - 1;

describe("a message that is found after its answer was lost", () => {
  test("is brought up to date when the turn has ended meanwhile", async () => {
    chat.failures.push("lost");
    await drain();
    await add(final);
    await drainAll();
    expect(chat.texts()).toEqual([expect.stringMatching(/^Done/), "all done"]);
  });

  test("loses its buttons when the request was decided meanwhile", async () => {
    await step("a");
    await add(asked());
    chat.failures.push(null, "lost");
    await drain();
    await log.decide("ap1", now, { decision: "denied", by: bob });
    await drainAll();
    expect(chat.texts().at(-1)).toContain("Denied by Bob");
    expect(chat.texts().at(-1)).not.toContain("[Approve]");
  });
});

test("a card of several messages that was half sent when it was decided has no buttons in any of them", async () => {
  await drain();
  await step("a");
  await add(asked("x\n".repeat(1_150)));
  chat.chunkLength = 500;
  chat.failures.push(null, { kind: "later", code: "ratelimited", retryAfterMs: 1000 });
  await drain();
  await log.decide("ap1", now, { decision: "denied", by: bob });
  await drainAll();
  expect(chat.texts().join("\n")).not.toContain("May I run this");
  expect(chat.texts().join("\n")).toContain("Denied by Bob");
});

describe("a command that was shown is not shown again in a fold", () => {
  test("when the edit of the status had to wait after it", async () => {
    chat.statusBurst = 1;
    await drain();
    await step("a", "b", "c", "d");
    await drain();
    await add(ran("a"));
    now += 2_000;
    await drain();
    await add(ran("b"), ran("c"), ran("d"));
    await drainAll();
    expect(["a", "b", "c", "d"].map(shown)).toEqual([1, 1, 1, 1]);
  });

  test("when its second part had to wait", async () => {
    await drain();
    chat.burst = 2;
    await step("a", "b", "c", "d");
    await add(ran("a", "y".repeat(2_300)));
    chat.chunkLength = 600;
    now += 2_000;
    await drain();
    await add(ran("b"), ran("c"), ran("d"));
    await drainAll();
    expect(["a", "b", "c", "d"].map(shown)).toEqual([1, 1, 1, 1]);
  });

  test("when the fold's second part had to wait and more commands came", async () => {
    await drain();
    await step("a", "b", "c", "d", "e");
    await add(ran("a", "y".repeat(400)), ran("b", "z".repeat(400)), ran("c", "w".repeat(400)));
    chat.chunkLength = 600;
    chat.burst = 1;
    now += 5_000;
    await drain();
    await add(ran("d"), ran("e"));
    await drainAll();
    expect(["a", "b", "c", "d", "e"].map(shown)).toEqual([1, 1, 1, 1, 1]);
  });
});

test("an answer does not wait for the edit of a card before it", async () => {
  chat.editBurst = 0.5;
  await step("a");
  await add(asked());
  await drain();
  await log.decide("ap1", now, { decision: "approved", by: bob });
  await add(ran("a"), final);
  now += 2_000;
  await drain();
  expect(chat.texts().at(-1)).toMatch(/^\$ echo a\n[^]*\nall done$/);
  expect(chat.texts().join("\n")).toContain("[Approve]");
  chat.editBurst = 5;
  await drainAll();
  expect(chat.texts().join("\n")).not.toContain("[Approve]");
});

test("a card that has become shorter leaves no buttons behind", async () => {
  chat.chunkLength = 60;
  await step("a");
  await add(asked());
  await drainAll();
  expect(chat.texts().join("")).toContain("[Approve]");
  chat.chunkLength = 4_000;
  await log.decide("ap1", now, { decision: "approved", by: bob });
  await drainAll();
  expect(chat.texts().join("")).not.toContain("[Approve]");
  expect(chat.texts().at(-1)).toBe("…");
});

test("a poster that was told to let go sends nothing more", async () => {
  const letGo = new AbortController();
  await step("a", "b");
  await add(ran("a"), ran("b"));
  chat.onSend = () => letGo.abort();
  await drain(letGo.signal);
  expect(chat.messages).toHaveLength(1);
});
