import { beforeEach, describe, expect, test } from "vitest";
import type { Access } from "../../src/core/access.ts";
import type { Entry, NewEntry, Person } from "../../src/core/entry.ts";
import { type Inbound, slackThread } from "../../src/core/inbound.ts";
import { type IntakeDeps, intake } from "../../src/core/intake.ts";
import type { Clock } from "../../src/core/ports.ts";
import { memoryLog } from "../../src/memory.ts";
import { ann, bob } from "../support/random-log.ts";

const cem: Person = { key: "slack:U3", name: "Cem", kind: "member", roles: [] };
const guest: Person = { key: "slack:U8", name: "Guest", kind: "guest", roles: [] };
const thread = slackThread("T1", "C1", "1.1");
const access: Access = {
  users: ["slack:U1", "slack:U2"],
  approvers: ["slack:U2"],
  workspaces: [
    { name: "api", channels: ["slack:C1"], users: null, approvers: null },
    { name: "web", channels: ["slack:C1", "slack:C2"], users: null, approvers: null },
    { name: "ops", channels: ["slack:C2"], users: null, approvers: null },
  ],
};

let now: number;
let rings: string[];
let warnings: { event: string; fields: Record<string, unknown> | undefined }[];
let deps: IntakeDeps;
let events: number;

beforeEach(() => {
  now = 1_000_000;
  rings = [];
  warnings = [];
  events = 0;
  const clock: Clock = { now: () => now, sleep: async () => {} };
  deps = {
    log: memoryLog(clock),
    clock,
    access,
    queue: {
      wake: async (conversation, workspace) => void rings.push(`${conversation} ${workspace}`),
      wakePosts: async () => {},
    },
    trace: { info: () => {}, warn: (event, fields) => void warnings.push({ event, fields }), error: () => {} },
  };
});

const at = () => ({ event: `e${(events += 1)}`, thread });
const mention = (text: string, by = ann, more: Partial<Inbound> = {}) =>
  intake({ ...at(), by, kind: "mention", text, ...more } as Inbound, deps);
const reply = (text: string, by = ann, elsewhere = false) => intake({ ...at(), by, kind: "reply", text, elsewhere }, deps);
const press = (action: "approve" | "deny", by = bob) => intake({ ...at(), by, kind: "press", action, approval: "ap1" }, deps);
const log = () => deps.log.read(thread.key, 0);
const types = async () => (await log()).map((e: Entry) => e.type);

describe("a mention", () => {
  test("opens the conversation in the channel's first workspace and rings for it", async () => {
    expect(await mention("list the files")).toEqual({});
    expect(await log()).toMatchObject([
      { type: "opened", workspace: "api", channel: "slack:C1" },
      { type: "message", text: "list the files", to: "bot", by: ann },
    ]);
    expect(rings).toEqual([`${thread.key} api`]);
  });

  test("that arrives twice is kept once and rings again", async () => {
    await mention("list", ann, { event: "same" });
    await mention("list", ann, { event: "same" });
    expect(await types()).toEqual(["opened", "message"]);
    expect(rings).toHaveLength(2);
  });

  test.each([
    ["in web list the files", "web", "list the files"],
    ["in web: list", "web", "list"],
    ["In Web, list", "web", "list"],
    ["in short, list the files", "api", "in short, list the files"],
  ])("%j works in %s", async (text, workspace, words) => {
    await mention(text);
    expect(await log()).toMatchObject([{ workspace }, { text: words }]);
  });

  test("cannot pick a workspace of another channel", async () => {
    const { whisper } = await mention("in ops list");
    expect(whisper).toBe('There is no workspace "ops" for this channel. Here you can use: api, web.');
    expect(await types()).toEqual([]);
  });

  test("in a channel without a workspace says what to do, and leaves a hint in the log", async () => {
    const { whisper } = await mention("list", ann, { thread: slackThread("T1", "C9", "2.2") });
    expect(whisper).toContain("No workspace is set up for this channel");
    expect(warnings).toMatchObject([{ event: "no-workspace", fields: { hint: "DECKHAND_CHANNELS=slack:C9=NAME" } }]);
  });

  test("without words asks for words", async () => {
    expect((await mention("  ")).whisper).toContain("Tell me what to do");
  });
});

describe("somebody who is not listed", () => {
  test("gets one clear line and no other effect", async () => {
    expect((await mention("rm -rf /", cem)).whisper).toContain("You are not on the list");
    expect(await mention("please", cem)).toEqual({});
    expect(await types()).toEqual([]);
    expect(warnings[0]).toMatchObject({ event: "not-allowed", fields: { hint: "To allow this person, add slack:U3 to DECKHAND_USERS." } });
  });

  test("is no guest by a wildcard", async () => {
    deps.access = { ...access, users: ["slack:*"] };
    expect((await mention("list", guest)).whisper).toContain("Guests and people from other organisations");
    deps.access = { ...access, users: ["slack:*", "slack:U8"] };
    expect(await mention("list", guest)).toEqual({});
  });

  test("cannot add to a running conversation by a reply", async () => {
    await mention("list");
    await reply("and delete them", cem);
    expect(await types()).toEqual(["opened", "message"]);
  });
});

describe("a reply", () => {
  test("needs no mention in a conversation's thread", async () => {
    await mention("list");
    await reply("and count them");
    expect((await log()).at(-1)).toMatchObject({ type: "message", text: "and count them", to: "bot" });
  });

  test("in a thread that is no conversation is left alone", async () => {
    expect(await reply("hello")).toEqual({});
    expect(await types()).toEqual([]);
  });

  test("to another person is kept as context and rings for nobody", async () => {
    await mention("list");
    rings.length = 0;
    await reply("Bob, lunch?", ann, true);
    expect((await log()).at(-1)).toMatchObject({ type: "message", to: "thread" });
    expect(rings).toEqual([]);
  });

  test.each(["stop", "Stop!", " 停止 "])("%j stops the work", async (word) => {
    await mention("list");
    await reply(word, bob);
    expect((await log()).at(-1)).toMatchObject({ type: "stop", by: bob });
  });

  test("that says stop when nothing runs is answered so", async () => {
    await mention("list");
    await finish();
    expect((await reply("stop")).whisper).toBe("Nothing is running in this thread.");
  });
});

async function take() {
  const taken = await deps.log.takeover(thread.key, { key: "k", token: "t" });
  if (taken.kind !== "taken") throw new Error("lost");
  return taken.epoch;
}

async function finish() {
  await deps.log.append(thread.key, await take(), "op", now, [{ type: "final", text: "x", answers: [2], reason: "answer" }]);
}

/** Brings the conversation to an open approval that Ann's message asked for. */
async function askApproval() {
  await mention("remove it");
  const usage = { prompt: null, completion: null, cached: null };
  const call = { id: "call00001", name: "bash", args: { command: "rm x" }, raw: "" };
  const news: NewEntry[] = [
    { type: "model", read: 2, text: "", calls: [call], finish: "calls", usage, model: "m", ms: 1, tries: 1 },
    { type: "judged", call: call.id, verdict: "ask", reasons: [], rule: "r", title: "rm x" },
    {
      type: "approval-asked",
      approval: "ap1",
      call: call.id,
      command: "rm x",
      cwd: "/w",
      workspace: "api",
      env: {},
      sandbox: "s",
      grants: [],
      reasons: [],
      requester: ann,
      approvers: ["slack:U2"],
      deadline: now + 1000,
      digest: "d",
    },
  ];
  await deps.log.append(thread.key, await take(), "op", now, news);
}

describe("a press", () => {
  test("by an approver decides once, and rings", async () => {
    await askApproval();
    rings.length = 0;
    expect((await press("approve")).whisper).toBe("Approved. It runs now, once.");
    expect((await log()).at(-1)).toMatchObject({ type: "approval-decided", decision: "approved", by: bob });
    expect(rings).toEqual([`${thread.key} api`]);
  });

  test("by somebody who is not on the list changes nothing and says so", async () => {
    await askApproval();
    expect((await press("approve", ann)).whisper).toContain("You are not on the list of people who may decide this");
    expect((await types()).at(-1)).toBe("approval-asked");
  });

  test("by somebody who has left the list since the card was shown changes nothing", async () => {
    await askApproval();
    deps.access = { ...access, approvers: ["slack:U7"] };
    expect((await press("approve")).whisper).toContain("Nothing was changed");
  });

  test("a second time says that it is decided", async () => {
    await askApproval();
    await press("deny");
    expect((await press("deny")).whisper).toBe("You have already denied this.");
    expect((await press("approve")).whisper).toBe("Already denied by Bob. Your click changed nothing.");
    expect((await types()).filter((t) => t === "approval-decided")).toHaveLength(1);
  });

  test("after the deadline finds it expired, even before the sweeper came", async () => {
    await askApproval();
    now += 1000;
    expect((await press("approve")).whisper).toContain("has expired");
    expect((await log()).at(-1)).toMatchObject({ decision: "expired" });
  });

  test("after the requester wrote something new finds it superseded", async () => {
    await askApproval();
    await reply("no, keep it");
    expect((await press("approve")).whisper).toBe("Ann wrote something new instead, so this command was not run.");
  });

  test("on a card that nobody knows is answered", async () => {
    expect((await press("approve")).whisper).toContain("I do not know this request");
  });

  test("is kept with its reason when it denies", async () => {
    await askApproval();
    await intake({ ...at(), by: bob, kind: "press", action: "deny", approval: "ap1", reason: "not on Friday" }, deps);
    expect((await log()).at(-1)).toMatchObject({ decision: "denied", reason: "not on Friday" });
  });
});

describe("while an approval waits", () => {
  test("a reply of somebody else is kept and decides nothing", async () => {
    await askApproval();
    await reply("looks fine to me", bob);
    expect((await types()).slice(-2)).toEqual(["approval-asked", "message"]);
  });

  test("free text never approves", async () => {
    await askApproval();
    await reply("approve", bob);
    expect(await types()).not.toContain("approval-decided");
  });
});

describe("a change of a message", () => {
  test("by its writer is kept", async () => {
    await mention("lits", ann, { event: "m1" });
    await intake({ ...at(), by: ann, kind: "edit", message: "m1", text: "list" }, deps);
    expect((await log()).at(-1)).toMatchObject({ type: "edited", event: "m1", text: "list", parent: 2 });
  });

  test("by somebody else is not", async () => {
    await mention("lits", ann, { event: "m1" });
    await intake({ ...at(), by: bob, kind: "edit", message: "m1", text: "rm" }, deps);
    expect(await types()).toEqual(["opened", "message"]);
  });

  test("that takes it away is kept, whoever the platform says took it", async () => {
    await mention("lits", ann, { event: "m1" });
    await intake({ ...at(), by: bob, kind: "remove", message: "m0" }, deps);
    await intake({ ...at(), by: bob, kind: "remove", message: "m1" }, deps);
    expect(await types()).toEqual(["opened", "message", "removed"]);
  });
});

test("an arrival is kept even when the bell cannot be rung", async () => {
  deps.queue = { wake: async () => Promise.reject(new Error("no bell")), wakePosts: async () => {} };
  expect(await mention("list")).toEqual({});
  expect(await types()).toEqual(["opened", "message"]);
});
