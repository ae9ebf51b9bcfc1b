import fc from "fast-check";
import { expect, test } from "vitest";
import { type NewEntry, isEntry } from "../../src/core/entry.ts";
import { traceLines, traceTree } from "../../src/core/trace.ts";
import { anyLog, bob, message, numbered, opened } from "../support/random-log.ts";

const usage = { prompt: null, completion: null, cached: null };
const answer = (read: number, text: string): NewEntry => {
  return { type: "model", read, text, calls: [], finish: "stop", usage, model: "m", ms: 1, tries: 1 };
};
const final = (text: string, ...answers: number[]): NewEntry => ({ type: "final", text, answers, reason: "answer" });

test("a message that came too late for an answer belongs to the turn that answers it", () => {
  const log = numbered([
    opened(),
    message("first"),
    message("late", bob),
    answer(2, "one"),
    final("one", 2),
    answer(5, "two"),
    final("two", 3),
  ]);
  const turns = traceTree(log);
  expect(turns.map((turn) => turn.messages.map((m) => m.text))).toEqual([["first"], ["late"]]);
  expect(turns.map((turn) => turn.end?.text)).toEqual(["one", "two"]);
  expect(turns[1]).toMatchObject({ turn: 2, at: "1970-01-01T00:00:03.000Z", messages: [{ by: "Bob", seq: 3 }] });
});

test("words that were changed before they were read are told as they were read", () => {
  const log = numbered([opened(), message("first"), { type: "edited", event: "first", text: "better" }]);
  expect(traceTree(log)[0]).toMatchObject({ messages: [{ text: "better" }], end: null });
});

test("a turn whose words were taken back is told as such", () => {
  const log = numbered([opened(), message("first"), { type: "removed", event: "first" }, message("second")]);
  expect(traceTree(log).map((turn) => turn.end?.kind ?? null)).toEqual(["removed", null]);
});

test("what was said in the thread without asking for anything is no turn", () => {
  expect(traceTree(numbered([opened(), { ...message("by the way"), to: "thread" } as NewEntry]))).toEqual([]);
});

test("the rule that was stored with an approval is told with it", () => {
  const call = { id: "call00001", name: "bash", args: { command: "git push" }, raw: "" };
  const rule = { name: "api: git push", pattern: ["git", "push"], decision: "auto" as const, grants: [], match: [], not_match: [] };
  const asked: NewEntry<"approval-asked"> = {
    ...{ type: "approval-asked", approval: "ap1", call: call.id, command: "git push", cwd: "/w", workspace: "api", env: {}, sandbox: "s" },
    ...{ grants: [], reasons: [], requester: bob, approvers: [], deadline: 9_000_000, digest: "d" },
  };
  const decided: NewEntry = { type: "approval-decided", approval: "ap1", call: call.id, decision: "approved", by: bob, rule };
  const log = numbered([opened(), message("push"), { ...answer(2, ""), calls: [call], finish: "calls" } as NewEntry, asked, decided]);
  expect(traceLines(traceTree(log)).join("\n")).toContain('approval: approved by Bob after 1.0 s · stored the rule "api: git push"');
});

test("of any log every step is told once, in order, and every answered message in the turn that answers it", () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const turns = traceTree(log);
      const steps = turns.flatMap((turn) => turn.steps.map((step) => step.seq));
      expect(steps).toEqual(log.filter((e) => isEntry(e, "model")).map((e) => e.seq));
      const told = turns.flatMap((turn) => turn.messages.map((m) => m.seq));
      expect(new Set(told).size).toBe(told.length);
      const ends = log.filter((e) => isEntry(e, "final") || isEntry(e, "failed")).flatMap((e) => e.answers);
      expect(told).toEqual(expect.arrayContaining(ends));
      for (const line of traceLines(turns)) expect(line).not.toMatch(/undefined|\[object|\n/);
    }),
  );
});
