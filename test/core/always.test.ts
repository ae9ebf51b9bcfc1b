import { beforeEach, describe, expect, test } from "vitest";
import type { Access } from "../../src/core/access.ts";
import type { Always, Entry, NewEntry, Person } from "../../src/core/entry.ts";
import { type PressAction, slackThread } from "../../src/core/inbound.ts";
import { type IntakeDeps, intake } from "../../src/core/intake.ts";
import { redactor } from "../../src/core/redactor.ts";
import { render } from "../../src/core/render.ts";
import { LIMITS } from "../../src/limits.ts";
import { memoryLog } from "../../src/memory.ts";
import { ann, bob } from "../support/random-log.ts";

/** The two presses that store a rule, and all that may go wrong between them. */

const DAY = 24 * 3_600_000;
const thread = slackThread("T1", "C1", "1.1");
const access: Access = {
  users: ["slack:U1"],
  approvers: ["slack:U1", "slack:U2"],
  workspaces: [{ name: "api", channels: [], users: null, approvers: null }],
};
const always: Always = {
  rule: {
    ...{ name: "api: git push", pattern: ["git", "push"], decision: "auto", scope: { workspace: "api" } },
    ...{ grants: ["network=*"], match: ["git push"], not_match: [] },
  },
  looked: 7,
  through: 8,
  lines: ["git push a", "git push b"],
};

let now: number;
let presses: number;
let rings: string[];
let deps: IntakeDeps;

beforeEach(() => {
  now = Date.UTC(2026, 10, 30);
  presses = 0;
  rings = [];
  const clock = { now: () => now, sleep: async () => {} };
  const trace = { info: () => {}, warn: () => {}, error: () => {} };
  const queue = { wake: async () => void rings.push("work"), wakePosts: async () => void rings.push("posts") };
  deps = { log: memoryLog(clock), clock, access, queue, trace };
});

async function asks(offered: Always | null = always, deadline = now + DAY): Promise<void> {
  await intake({ event: "m1", thread, by: ann, kind: "mention", text: "push it" }, deps);
  await deps.log.takeover(thread.key, { key: "", token: "" });
  const asked: NewEntry<"approval-asked"> = {
    ...{ type: "approval-asked", parent: 2, approval: "ap1", call: "call00001", command: "git push", cwd: "/w", workspace: "api" },
    ...{ env: {}, sandbox: "s", grants: ["network=*"], reasons: [], requester: ann, approvers: access.approvers, deadline, digest: "d" },
    ...(offered ? { always: offered } : {}),
  };
  await deps.log.append(thread.key, 1, "ask", now, [asked]);
  rings.length = 0;
}

async function press(action: PressAction, by: Person = bob): Promise<string | undefined> {
  presses += 1;
  return (await intake({ event: `press ${presses}`, thread, by, kind: "press", action, approval: "ap1" }, deps)).whisper;
}

const log = (): Promise<Entry[]> => deps.log.read(thread.key, 0);
const last = async (): Promise<Entry | undefined> => (await log()).at(-1);
const NO_RULE = "This request shows no rule that could be stored. Nothing was changed.";

describe("a press on Always", () => {
  test("is kept, brings the thread up to date and wakes no worker", async () => {
    await asks();
    expect(await press("always")).toContain("Nothing is stored and nothing runs yet");
    expect(await last()).toMatchObject({ type: "choice", of: 3, parent: 3, choice: "always", by: bob });
    expect(rings).toEqual(["posts"]);
    expect(await deps.log.head(thread.key)).toMatchObject({ approval: "ap1" });
  });

  test("changes nothing on a card that offers no rule, or that is decided", async () => {
    await asks(null);
    expect(await press("always")).toBe(NO_RULE);
    await press("deny");
    expect(await press("always")).toBe("Already denied by Bob. Your click changed nothing.");
    expect((await log()).map(({ type }) => type)).not.toContain("choice");
  });

  test("after the deadline lets the request expire", async () => {
    await asks();
    now += DAY;
    expect(await press("always")).toContain("has expired");
    expect(await last()).toMatchObject({ type: "approval-decided", decision: "expired" });
  });
});

describe("a press on Store and run", () => {
  test("approves and stores in one entry, with owner, time and the end that was shown", async () => {
    await asks();
    await press("always", ann);
    now += 5_000;
    expect(await press("store")).toBe('Approved, and the rule "api: git push" is stored. It runs now.');
    const rule = { ...always.rule, owner: "Bob (slack:U2)", since: now, expires: now - 5_000 + LIMITS.ruleTime };
    expect(await last()).toMatchObject({ type: "approval-decided", decision: "approved", by: bob, rule });
    expect(await deps.log.rules.learned()).toEqual([rule]);
    expect(rings.at(-2)).toBe("work");
  });

  test("that is delivered again to its own winner says what stands", async () => {
    await asks();
    await press("always");
    await press("store");
    expect(await press("store")).toBe('You have already approved this; it runs once. The rule "api: git push" is stored.');
    expect(await press("store", ann)).toBe("Already approved by Bob. Your click changed nothing.");
  });

  test("by who has approved it without a rule stores none", async () => {
    await asks();
    await press("always");
    await press("approve");
    expect(await press("store")).toBe("You have already approved this; it runs once. No rule was stored.");
    expect(await deps.log.rules.learned()).toEqual([]);
  });

  test.each([
    ["before anybody saw the rule", async () => asks()],
    ["on a card without a rule", async () => asks(null)],
    [
      "when the end of the rule is over",
      async () => {
        await asks(always, now + 60 * DAY);
        await press("always");
        now += LIMITS.ruleTime;
      },
    ],
  ])("%s stores and decides nothing", async (_when, given) => {
    await given();
    expect(await press("store")).toBe(NO_RULE);
    expect(await deps.log.rules.learned()).toEqual([]);
    expect((await log()).map(({ type }) => type)).not.toContain("approval-decided");
  });
});

describe("the card", () => {
  const shown = async (): Promise<{ text: string; buttons: string[] }> => {
    const due = render(await log(), { banner: null, redact: redactor([]) }).due.filter(({ post }) => post.key === "approval:ap1");
    const blocks = due.at(-1)?.post.blocks ?? [];
    return {
      text: blocks.map((block) => (block.kind === "buttons" ? "" : block.text)).join("\n"),
      buttons: blocks.flatMap((block) => (block.kind === "buttons" ? block.buttons.map(({ action }) => action) : [])),
    };
  };

  test("goes from the question to the whole rule to the decision, and says what the rule gives and would have let through", async () => {
    await asks();
    expect((await shown()).buttons).toEqual(["approve", "deny", "always"]);
    await press("always");
    const rule = await shown();
    expect(rule.buttons).toEqual(["store", "approve", "deny"]);
    expect(rule.text).toContain("in workspace api, a command that begins with\ngit push\nruns without asking");
    expect(rule.text).toContain("until 2026-12-30 00:00 UTC (30 days)");
    expect(rule.text).toContain("Each time it may connect to any public host.");
    expect(rule.text).toContain("Of the last 7 commands here it would have let through 8: git push a · git push b and 6 more.");
    await press("store");
    const after = await shown();
    expect(after.buttons).toEqual([]);
    expect(after.text).toContain('From now on it runs without asking, by the rule "api: git push", until 2026-12-30 00:00 UTC.');
    expect(after.text).not.toContain("would be stored");
  });

  test("shows the end of the first press, whoever presses again", async () => {
    await asks();
    await press("always");
    now += 3 * DAY;
    const again: NewEntry<"choice"> = { type: "choice", of: 3, choice: "always", by: ann };
    await deps.log.ingest({ conversation: thread.key, event: "late", at: now, entry: again, wakes: false });
    expect((await shown()).text).toContain("until 2026-12-30 00:00 UTC");
  });
});
