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
import { calls, final } from "../support/posting.ts";

const key = "slack:T1:C1:1.1";
let now: number;
let log: Log;
let chat: PaperChat;
let deps: PosterDeps;
let abandoned: string[];
let epoch: number;
let ops: number;

beforeEach(async () => {
  now = 1_000_000;
  const clock: Clock = { now: () => now, sleep: async () => {} };
  log = memoryLog(clock);
  chat = new PaperChat();
  abandoned = [];
  ops = 0;
  const trace = { info: () => {}, warn: () => {}, error: () => {} };
  const abandon = async (_: string, code: string) => void abandoned.push(code);
  const chats = new Map([["slack", chat]]);
  deps = { log, limiter: memoryLimiter(), clock, ids: systemIds, trace, chats, banner: null, redact: redactor([]), abandon };
  const opened = { type: "opened", platform: "slack", thread: key, channel: "slack:C1", workspace: "api" } as const;
  await log.ingest({
    conversation: key,
    event: "e1",
    at: now,
    opened,
    entry: { type: "message", event: "e1", by: ann, text: "go", to: "bot" },
    wakes: true,
  });
  const taken = await log.takeover(key, { key: "", token: "" });
  epoch = taken.kind === "taken" ? taken.epoch : 0;
});

const drainOnce = () => drainPosts({ conversation: key, lock: { key: "", token: "" }, signal: new AbortController().signal }, deps);

/** ... and again for what had to wait for the thread's own measure. */
async function drain(): Promise<void> {
  await drainOnce();
  while ((await log.takeDuePosts(now + 2_000)).length > 0) {
    now += 2_000;
    await drainOnce();
  }
}

async function add(...news: NewEntry[]): Promise<void> {
  await log.append(key, epoch, `op${(ops += 1)}`, now, news);
}

const step = (...ids: string[]): Promise<void> => add(...calls("auto", ids));

const ran = (id: string, text = id, more: object = {}): NewEntry =>
  ({ type: "run-ended", call: id, how: "exited", exit: 0, output: { text, bytes: text.length, omitted: 0 }, ms: 100, ...more }) as NewEntry;
const asked = (more: object = {}): NewEntry =>
  ({
    type: "approval-asked",
    approval: "ap1",
    call: "a",
    command: "rm x",
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
    ...more,
  }) as NewEntry;

describe("a thread", () => {
  test("shows a status, each command with its output, and the answer, in order", async () => {
    await drain();
    expect(chat.texts()).toEqual(["On it. Thinking …\n[Stop]"]);
    await step("a");
    await add(ran("a", "hello"));
    await drain();
    await add(final);
    await drain();
    expect(chat.texts()).toEqual([expect.stringMatching(/^Done · 0 commands · \d s$/), "$ echo a\nhello\nexit 0 · 0.1 s", "all done"]);
  });

  test("that is up to date is left alone", async () => {
    await drain();
    await drain();
    expect(chat.messages).toMatchObject([{ edits: 0 }]);
  });

  test("gets each command once even when the poster starts from the beginning of its memory", async () => {
    await step("a", "b");
    await add(ran("a"), ran("b"), final);
    await drain();
    await drain();
    expect(
      chat
        .texts()
        .join("\n")
        .match(/\$ echo .|all done/g),
    ).toEqual(["$ echo a", "$ echo b", "all done"]);
  });

  test("says (no output) when a command printed nothing", async () => {
    await step("a");
    await add(ran("a", ""));
    await drain();
    expect(chat.texts().at(-1)).toBe("$ echo a\n(no output) · exit 0 · 0.1 s");
  });
});

describe("an approval card", () => {
  test("shows the command, why, where and who may not wait, then who decided, without buttons", async () => {
    await step("a");
    await add(asked());
    await drain();
    expect(chat.texts().at(-1)).toMatchInlineSnapshot(`
      "May I run this for Ann?
      rm x
      Why I ask: it deletes files
      Where: workspace api (/w) · sandboxed: no network, workspace only
      Expires in 24 h. A new message from Ann withdraws it.
      [Approve] [Deny]"
    `);
    await log.decide("ap1", now, { decision: "approved", by: bob });
    await drain();
    expect(chat.texts().at(-1)).toMatchInlineSnapshot(`
      "A command for Ann
      rm x
      Why I ask: it deletes files
      Where: workspace api (/w) · sandboxed: no network, workspace only
      Approved by Bob · 1970-01-01 00:16 UTC"
    `);
  });

  test("says that approving opens no network", async () => {
    await step("a");
    await add(asked({ reasons: [{ code: "network", text: "it uses the network" }] }));
    await drain();
    expect(chat.texts().at(-1)).toContain("opens nothing more, no network and no other folders");
  });

  test("writes out characters that would hide what runs", async () => {
    await step("a");
    await add(asked({ command: "echo \u202etxt.sh" }));
    await drain();
    expect(chat.texts().at(-1)).toContain("echo ⟨U+202E⟩txt.sh");
  });

  test("of a long command shows both ends and brings the whole as a file", async () => {
    await step("a");
    const command = `echo ${"x".repeat(5000)} end`;
    await log.putBlob("cmd:ap1", new TextEncoder().encode(command), 1000);
    await add(asked({ command }));
    await drain();
    const card = chat.messages.at(-1);
    expect(card?.file).toBe(command);
    expect(card?.text).toMatch(/^May I run this for Ann\?\necho xxx[\s\S]*characters left out, see the file[\s\S]* end\n/);
  });

  test("that is posted after its decision has no buttons at all", async () => {
    await step("a");
    await add(asked());
    await log.decide("ap1", now, { decision: "denied", by: bob, reason: "no" });
    await drain();
    expect(chat.texts().at(-1)).not.toContain("[Approve]");
    expect(chat.messages.at(-1)?.edits).toBe(0);
  });

  test("lets others' words be kept, and says so", async () => {
    await step("a");
    await add(asked());
    await log.ingest({
      conversation: key,
      event: "e9",
      at: now,
      entry: { type: "message", event: "e9", by: bob, text: "hm", to: "bot" },
      wakes: true,
    });
    await drain();
    expect(chat.texts().at(-1)).toBe("Bob, I keep this for when the request above is decided.");
  });
});

describe("a send that may have happened", () => {
  test("is found and not repeated", async () => {
    chat.failures.push("lost");
    await drain();
    await drain();
    expect(chat.messages).toHaveLength(1);
  });

  test("that did not happen is sent again under its nonce", async () => {
    chat.failures.push({ kind: "doubtful", code: "reset" });
    await drainOnce();
    expect(chat.messages).toHaveLength(0);
    await drain();
    expect(chat.messages).toMatchObject([{ nonce: `${key}/status:2/0` }]);
  });
});

describe("a platform that says no", () => {
  test("to the form gets bare text, then a file, then a line with its code", async () => {
    await step("a");
    await add(ran("a", "hello"));
    chat.failures.push(null, { kind: "refused", code: "invalid_blocks" });
    await drain();
    expect(chat.texts().at(-1)).toContain("hello");
    await step("b");
    await add(ran("b", "bye"));
    const no = { kind: "refused", code: "msg_too_long" } as const;
    chat.failures.push(no, no, no);
    await drain();
    expect(chat.texts().at(-1)).toContain("Something could not be shown here (msg_too_long)");
  });

  test("for now is asked again when it said, and nothing is lost or reordered", async () => {
    chat.failures.push({ kind: "later", code: "ratelimited", retryAfterMs: 3000 });
    await step("a");
    await add(ran("a"));
    await drainOnce();
    expect(chat.messages).toHaveLength(0);
    expect(await log.takeDuePosts(now + 2999)).toEqual([]);
    expect(await log.takeDuePosts(now + 3000)).toEqual([key]);
    now += 3000;
    await drain();
    expect(chat.messages).toHaveLength(2);
  });

  test("for ever parks the thread and ends its work", async () => {
    chat.failures.push({ kind: "gone", code: "is_archived" });
    await drain();
    expect(abandoned).toEqual(["is_archived"]);
    await add(final);
    await drain();
    expect(chat.messages).toHaveLength(0);
  });

  test("is tried again when somebody writes in the thread", async () => {
    chat.failures.push({ kind: "gone", code: "is_archived" });
    await drain();
    await log.ingest({
      conversation: key,
      event: "e2",
      at: now,
      entry: { type: "message", event: "e2", by: ann, text: "back", to: "bot" },
      wakes: true,
    });
    await add({ type: "final", text: "hello again", answers: [2, 3], reason: "answer" });
    await drain();
    expect(chat.texts()).toContain("hello again");
  });

  test("to an edit of a message that somebody deleted is not asked for ever", async () => {
    await drain();
    chat.messages.length = 0;
    await add(final);
    await drain();
    expect(chat.texts()).toEqual(["all done"]);
  });
});

describe("when the budget is short", () => {
  test("waiting commands go in the message of the card after them, in their place", async () => {
    chat.burst = 1;
    await drain();
    await step("a", "b", "c", "d");
    await add(ran("a"), ran("b"), ran("c"), asked({ call: "d" }));
    await drainOnce();
    expect(chat.messages).toHaveLength(1);
    for (let i = 0; i < 3; i += 1) {
      now += 2000;
      await drainOnce();
    }
    expect(chat.texts().slice(1)).toEqual([expect.stringMatching(/^\$ echo a[^]*\$ echo b[^]*\$ echo c[^]*May I run this[^]*\[Approve\]/)]);
  });
});
