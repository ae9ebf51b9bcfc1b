import { beforeEach, describe, expect, test } from "vitest";
import type { Access } from "../../src/core/access.ts";
import type { Entry, NewEntry } from "../../src/core/entry.ts";
import { type Inbound, slackThread } from "../../src/core/inbound.ts";
import { type IntakeDeps, intake } from "../../src/core/intake.ts";
import type { Clock } from "../../src/core/ports.ts";
import { sweep } from "../../src/core/sweep.ts";
import { memoryLog } from "../../src/memory.ts";
import { ann, bob } from "../support/random-log.ts";

/** Arrivals that come twice, late, or into a thread for which things have changed. */

const thread = slackThread("T1", "C1", "1.1");
const workspace = (name: string, ...channels: string[]) => ({ name, channels, users: null, approvers: null });
const access: Access = {
  users: ["slack:U1", "slack:U2"],
  approvers: ["slack:U2"],
  workspaces: [workspace("api", "slack:C1"), workspace("web", "slack:C1", "slack:C2")],
};

let now: number;
let rings: string[];
let deps: IntakeDeps;
let events: number;

beforeEach(() => {
  now = 1_000_000;
  rings = [];
  events = 0;
  const clock: Clock = { now: () => now, sleep: async () => {} };
  deps = {
    log: memoryLog(clock),
    clock,
    access,
    queue: { wake: async (conversation, name) => void rings.push(`${conversation} ${name}`), wakePosts: async () => {} },
    trace: { info: () => {}, warn: () => {}, error: () => {} },
  };
});

const at = () => ({ event: `e${(events += 1)}`, thread, by: ann });
const arrive = (inbound: object) => intake({ ...at(), ...inbound } as Inbound, deps);
const mention = (text: string, more: object = {}) => arrive({ kind: "mention", text, ...more });
const reply = (text: string, more: object = {}) => arrive({ kind: "reply", text, elsewhere: false, ...more });
const press = () => arrive({ kind: "press", action: "approve", approval: "ap1", by: bob });
const log = () => deps.log.read(thread.key, 0);
const types = async () => (await log()).map((e: Entry) => e.type);

async function add(...news: NewEntry[]): Promise<void> {
  const taken = await deps.log.takeover(thread.key, { key: "k", token: "t" });
  if (taken.kind === "taken") await deps.log.append(thread.key, taken.epoch, `op${events}`, 1_000_000, news);
}

/** Brings the conversation to an open approval that Ann's message asked for. */
async function askApproval(): Promise<void> {
  await mention("remove it");
  const usage = { prompt: null, completion: null, cached: null };
  const call = { id: "call00001", name: "bash", args: { command: "rm x" }, raw: "" };
  const shown = { command: "rm x", cwd: "/w", workspace: "api", env: {}, sandbox: "s", grants: [], reasons: [], digest: "d" };
  await add(
    { type: "model", read: 2, text: "", calls: [call], finish: "calls", usage, model: "m", ms: 1, tries: 1 },
    { type: "judged", call: call.id, verdict: "ask", reasons: [], rule: "r", title: "rm x" },
    { type: "approval-asked", approval: "ap1", call: call.id, ...shown, requester: ann, approvers: ["slack:U2"], deadline: 2_000_000 },
  );
}

describe("a stop", () => {
  test("that is delivered again after it worked says nothing more", async () => {
    await mention("list");
    expect(await reply("stop", { event: "s1" })).toEqual({});
    await add({ type: "final", text: "Stopped", answers: [2], reason: "stopped" });
    expect(await reply("stop", { event: "s1" })).toEqual({});
    expect((await types()).filter((type) => type === "stop")).toHaveLength(1);
  });

  test("closes an open request at once, so that no later press believes that it runs", async () => {
    await askApproval();
    await reply("stop");
    expect((await types()).slice(-2)).toEqual(["stop", "approval-decided"]);
    expect((await press()).whisper).toBe("This was cancelled when Ann stopped the work; the command was not run.");
  });
});

describe("a thread whose workspace is not the channel's any more", () => {
  beforeEach(async () => {
    await askApproval();
    rings.length = 0;
  });

  test.each([
    ["is gone", [workspace("web", "slack:C1")]],
    ["moved to another channel", [workspace("api", "slack:C2"), workspace("web", "slack:C1")]],
  ])("because it %s takes no more work, and says so", async (_how, workspaces) => {
    deps.access = { ...access, workspaces };
    const words = 'This thread worked in "api", which is not set up for this channel any more. Start a new thread.';
    expect((await reply("and count them")).whisper).toBe(words);
    expect((await mention("and count them")).whisper).toBe(words);
    expect((await types()).at(-1)).toBe("approval-asked");
    expect(rings).toEqual([]);
  });

  test("lets nobody approve what was asked there", async () => {
    deps.access = { ...access, workspaces: [workspace("web", "slack:C1")] };
    expect((await press()).whisper).toContain('"api"');
    expect((await types()).at(-1)).toBe("approval-asked");
  });

  test("leaves words to others alone", async () => {
    deps.access = { ...access, workspaces: [workspace("web", "slack:C1")] };
    expect(await reply("Bob, lunch?", { elsewhere: true })).toEqual({});
  });
});

describe("a mention in a conversation that names a workspace", () => {
  test("other than the thread's is not done in the wrong one", async () => {
    await mention("list");
    expect((await mention("in web: remove it")).whisper).toBe('This thread works in "api". For "web", start a new thread.');
    expect(await types()).toEqual(["opened", "message"]);
  });

  test("which is the thread's own goes on", async () => {
    await mention("list");
    await mention("in api: count");
    expect((await log()).at(-1)).toMatchObject({ text: "count" });
  });
});

describe("what was refused", () => {
  test("is not done when it is delivered again after its writer was allowed", async () => {
    deps.access = { ...access, users: ["slack:U2"] };
    expect((await mention("list", { event: "m1" })).whisper).toContain("so I did nothing");
    deps.access = access;
    expect(await mention("list", { event: "m1" })).toEqual({});
    expect(await types()).toEqual([]);
  });

  test("is not said of what was kept before its writer left the list", async () => {
    await mention("list", { event: "m1" });
    deps.access = { ...access, users: ["slack:U2"] };
    expect(await mention("list", { event: "m1" })).toEqual({});
  });
});

describe("the sweeper", () => {
  test("goes on after a conversation that it cannot ring for", async () => {
    const other = slackThread("T1", "C2", "2.2");
    await mention("one");
    await mention("two", { thread: other });
    rings.length = 0;
    deps.queue.wake = async (conversation) => {
      if (conversation === thread.key) throw new Error("no such bell");
      rings.push(conversation);
    };
    await sweep(deps, 0);
    expect(rings).toEqual([other.key]);
  });

  test("comes to the youngest although a hundred older ones wait for a worker that is away", async () => {
    for (let n = 0; n < 100; n += 1, now += 1) await mention("wait", { thread: slackThread("T1", "C1", `1.${n}`) });
    const young = slackThread("T1", "C2", "2.2");
    await mention("me too", { thread: young });
    now += 1;
    rings.length = 0;
    await sweep(deps, 0);
    now += 1;
    await sweep(deps, 0);
    expect(rings).toContain(`${young.key} web`);
  });
});

test("without room for a new task: only what joins work that goes on is heard, and a task is heard again once there is room", async () => {
  let full = true;
  deps.isFull = async () => full;
  const refused = at();
  expect(await arrive({ ...refused, kind: "mention", text: "go" })).toEqual({
    whisper: expect.stringMatching(/no room for a new task.*REDIS_FULL/),
  });
  full = false;
  // Slack sends again what it has not been told of: what was refused stays so.
  expect(await arrive({ ...refused, kind: "mention", text: "go" })).toEqual({});
  expect(await log()).toEqual([]);
  await mention("go on");
  full = true;
  expect(await reply("and this")).toEqual({});
  expect(await reply("stop")).toEqual({});
  expect(await types()).toEqual(["opened", "message", "message", "stop"]);
});

describe("a mention that begins its thread", () => {
  test("joins the conversation that is there all the same, in its workspace", async () => {
    await mention("in web list");
    await mention("and more", { begins: true });
    expect(await log()).toMatchObject([{ workspace: "web" }, { text: "list" }, { text: "and more", to: "bot" }]);
    expect(rings.at(-1)).toBe(`${thread.key} web`);
  });

  test("is kept without a look at the thread, and what the log will be is told with the ring", async () => {
    const told: (Entry[] | undefined)[] = [];
    deps.log = { ...deps.log, head: async () => expect.fail("looked") };
    deps.ringEarly = (_conversation, _workspace, coming) => void told.push(coming);
    await mention("list", { begins: true });
    expect(told).toEqual([await log()]);
  });
});

describe("a press on what this process has read already", () => {
  test("is judged by that, and is decided once", async () => {
    await askApproval();
    const request = await deps.log.requestOf("ap1");
    deps.log = { ...deps.log, requestOf: async () => expect.fail("asked") };
    deps.known = (approval, conversation) => (approval === "ap1" && conversation === thread.key ? request : null);
    expect((await arrive({ kind: "press", action: "approve", approval: "ap1" })).whisper).toContain("You are not on the list");
    expect((await press()).whisper).toBe("Approved. It runs now, once.");
    expect((await press()).whisper).toContain("You have already approved this");
  });

  test("is answered before anybody is rung for it, where rings can wait", async () => {
    await askApproval();
    rings.length = 0;
    const soon: unknown[] = [];
    deps.ringSoon = (...rung) => void soon.push(rung);
    await press();
    expect([rings, soon]).toEqual([[], [[thread.key, "api"]]]);
  });
});
