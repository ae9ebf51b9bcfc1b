import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry, NewEntry } from "../../src/core/entry.ts";
import { answerAfter } from "../../src/core/live.ts";
import type { Block } from "../../src/core/post.ts";
import { redactor } from "../../src/core/redactor.ts";
import { render } from "../../src/core/render.ts";
import { type Now, findNow } from "../../src/core/status.ts";
import { LIMITS } from "../../src/limits.ts";
import { anyLog, bob, message, numbered, opened } from "../support/random-log.ts";

const usage = { prompt: null, completion: null, cached: null };
const CALL = { id: "call00001", name: "bash", args: { command: "make" }, raw: "" };
const asksModel = [opened(), message("go")];
const model: NewEntry = { type: "model", read: 2, text: "", calls: [CALL], finish: "calls", usage, model: "m", ms: 1, tries: 1 };
const judged: NewEntry = { type: "judged", call: CALL.id, verdict: "auto", reasons: [], rule: "r", title: "make" };
const started = {
  ...{ type: "run-started", call: CALL.id, command: "make", cwd: "/w", timeoutMs: 1000, sandbox: "sandboxed: no network, workspace only" },
  ...{ digest: "d", grants: [], host: "h" },
} as NewEntry;
const endedRun = {
  ...{ type: "run-ended", call: CALL.id, how: "exited", exit: 0, output: { text: "", bytes: 0, omitted: 0 }, ms: 100 },
} as NewEntry;
const asked = {
  ...{ type: "approval-asked", approval: "ap1", call: CALL.id, command: "make", cwd: "/w", workspace: "api", env: {} },
  ...{
    sandbox: "sandboxed: no network, workspace only",
    grants: [],
    reasons: [],
    requester: bob,
    approvers: [],
    deadline: 9e12,
    digest: "d",
  },
} as NewEntry;
const runs = [...asksModel, model, judged, started];

function blocks(news: NewEntry[], now: Now): Block[] {
  const { statuses } = render(numbered(news), { banner: null, redact: redactor([]), now });
  return statuses.at(-1)?.post.blocks ?? [];
}

const words = (news: NewEntry[], now: Now): string[] => blocks(news, now).flatMap((b) => (b.kind === "buttons" ? [] : [b.text]));
const live = (text: string, call = CALL.id): Now => ({ live: { call, text } });

describe("the status of a command that runs", () => {
  test("shows the last lines that it printed, and can still be stopped", () => {
    const text = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join("");
    expect(blocks(runs, live(text))).toMatchObject([
      { kind: "text", text: "Running: make" },
      { kind: "code", text: "line 14\nline 15\nline 16\nline 17\nline 18\nline 19" },
      { kind: "buttons", buttons: [{ action: "stop" }] },
    ]);
  });

  test.each([
    ["it has printed nothing", runs, live(" \n\n")],
    ["the lines are another call's", runs, live("old\n", "call00000")],
    ["it has not been let go yet", [...asksModel, model, judged], live("one\n")],
    ["it has ended", [...runs, endedRun], live("one\n")],
    ["somebody stops it", [...runs, { type: "stop", event: "s", by: bob } as NewEntry], live("one\n")],
    ["the turn is over", [...runs, endedRun, { type: "final", text: "done", answers: [2], reason: "answer" } as NewEntry], live("one\n")],
  ])("shows no lines when %s", (_, news, now) => {
    expect(words(news, now)).toEqual(words(news, {}));
    expect(words(news, now)).toHaveLength(1);
  });

  test("is short whatever is printed, and begins with the beginning of a line", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 400 }), { minLength: 1, maxLength: 12 }), (lines) => {
        const code = blocks(runs, live(lines.join("\n"))).find((b) => b.kind === "code");
        const shown = code?.kind === "code" ? code.text : "";
        expect(shown.length).toBeLessThanOrEqual(LIMITS.liveShown);
        expect(shown.split("\n").length).toBeLessThanOrEqual(LIMITS.liveLines);
        expect(shown.isWellFormed()).toBe(true);
      }),
    );
    const long = live(`${"a".repeat(9_000)}\n${"b".repeat(9_000)}\nc\n`);
    expect(words(runs, long)[1]).toBe(`${"a".repeat(LIMITS.liveLine - 1)}…\n${"b".repeat(LIMITS.liveLine - 1)}…\nc`);
  });

  test("writes out characters that would hide what is there", () => {
    expect(words(runs, live("a\u202eb\n"))[1]).toBe("a⟨U+202E⟩b");
  });
});

describe("the status while the model writes", () => {
  const writes = (text: string, read = 2): Now => ({ live: { call: answerAfter(read), text } });

  test("shows the end of the answer, from a word on, and can still be stopped", () => {
    expect(words(asksModel, writes("The fleet"))).toEqual(["Writing …\nThe fleet"]);
    const [shown = ""] = words(asksModel, writes("word ".repeat(1_000)));
    expect(shown).toMatch(/^Writing …\n… word( word)*$/);
    expect(shown.length).toBeLessThan(LIMITS.liveShown + 20);
    expect(blocks(asksModel, writes("The fleet")).at(-1)).toMatchObject({ buttons: [{ action: "stop" }] });
  });

  test("goes on after a step, whatever the answer before it said", () => {
    const news = [...runs, endedRun];
    expect(words(news, writes("old", 2))).toEqual(["Thinking …"]);
    expect(words(news, writes("new", 6))).toEqual(["Writing …\nnew"]);
  });

  test.each([
    ["a command runs", runs],
    ["somebody stops it", [...asksModel, { type: "stop", event: "s", by: bob } as NewEntry]],
    ["the turn is over", [...asksModel, { type: "final", text: "done", answers: [2], reason: "answer" } as NewEntry]],
    [
      "the next turn has begun",
      [...asksModel, { type: "final", text: "done", answers: [2], reason: "answer" } as NewEntry, message("more")],
    ],
  ])("shows nothing of it when %s", (_, news) => {
    expect(words(news, writes("old"))).toEqual(words(news, {}));
  });

  test("says when a service that is busy is asked again", () => {
    const wait = { why: "It is busy", at: Date.UTC(2026, 10, 30, 14, 3, 20) };
    expect(words(asksModel, { live: { call: answerAfter(2), text: "", wait } })).toEqual(["It is busy; asking again at 14:03:20 UTC."]);
  });
});

describe("the status of work that no worker can do now", () => {
  const now: Now = { unserved: true };

  test("says so, and that it goes on by itself", () => {
    expect(words(asksModel, now)).toEqual(['No worker serves the workspace "api" now. This starts by itself as soon as one does.']);
    expect(words(runs, { ...now, ...live("one\n") })).toEqual([
      'No worker serves the workspace "api" now. This goes on by itself as soon as one does.',
    ]);
  });

  test("does not pretend that somebody works", () => {
    const { statuses } = render(numbered(asksModel), { banner: null, redact: redactor([]), now });
    expect(statuses[0]?.post.working).toBe(false);
  });
});

describe("what is true now", () => {
  const trace = { info: () => {}, warn: () => {}, error: () => {} };
  const questions: string[] = [];
  const found = async (entries: Entry[], isServed: () => Promise<boolean>): Promise<Now> => {
    questions.length = 0;
    const log = {
      isServed: async (workspace: string) => {
        questions.push(workspace);
        return await isServed();
      },
    };
    return await findNow("c", entries, { log, trace, newest: () => ({ call: CALL.id, text: "one\n" }) });
  };

  test("has the newest lines, and whether there is a worker when one has something to do", async () => {
    expect(await found(numbered(runs), async () => true)).toEqual(live("one\n"));
    expect(await found(numbered(runs), async () => false)).toEqual({ ...live("one\n"), unserved: true });
    expect(questions).toEqual(["api"]);
  });

  test.each([
    ["a person has to decide", [...asksModel, model, { ...judged, verdict: "ask" } as NewEntry, asked]],
    ["all is answered", [...asksModel, { type: "final", text: "done", answers: [2], reason: "answer" } as NewEntry]],
  ])("does not ask for a worker while %s", async (_, news) => {
    expect(await found(numbered(news), async () => false)).toEqual(live("one\n"));
    expect(questions).toEqual([]);
  });

  test("leaves out what cannot be found out", async () => {
    const away = async () => {
      throw new Error("away");
    };
    expect(await found(numbered(runs), away)).toEqual(live("one\n"));
  });

  test("is found for any log", async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, async (log) => {
        expect(await found(log, async () => true)).toEqual(live("one\n"));
      }),
    );
  });
});
