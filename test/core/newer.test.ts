import fc from "fast-check";
import { expect, it } from "vitest";
import { decisionLine, lateAnswer } from "../../src/core/approval.ts";
import { fold } from "../../src/core/conversation.ts";
import { next } from "../../src/core/next.ts";
import type { Entry, NewEntry, RunEnd } from "../../src/core/entry.ts";
import { resultText } from "../../src/core/prompt.ts";
import { render } from "../../src/core/render.ts";
import { traceLines, traceTree } from "../../src/core/trace.ts";
import { anyLog, ann, message, numbered, opened } from "../support/random-log.ts";
import { toMessages } from "../support/told.ts";

/** Old and new versions work on one log: what a newer one wrote must not disturb an older one. */

const same = (text: string): string => text;
const usage = { prompt: null, completion: null, cached: null };
const setting = { workspace: "api", path: "/w", sandbox: "sandboxed" };

/** Entries of a type that we do not know, with fields that ours have too. */
const stranger = fc.record({
  type: fc.constantFrom("weather", "final2", "constructor", "__proto__", "toString"),
  call: fc.constantFrom("call00001", "none"),
  approval: fc.constantFrom("acall00001", "x"),
  event: fc.constant("first"),
  parent: fc.nat(3),
  answers: fc.constant([2]),
  text: fc.constant("from the future"),
});

/** A log, and the same with strangers in between. Seqs are ten apart, so that there is room for them. */
const mixed = fc
  .tuple(anyLog, fc.array(fc.tuple(fc.nat(700), stranger), { minLength: 1, maxLength: 10 }))
  .map(([contiguous, strangers]) => {
    const log = contiguous.map(apart);
    const fresh = strangers.map(([place, body], index) => ({
      ...body,
      v: 1,
      seq: 11 + 10 * Math.floor(place / 10) + (index % 9),
      at: 99_000,
      epoch: 1,
    }));
    const more = [...log, ...(fresh as unknown as Entry[])].sort((a, b) => a.seq - b.seq);
    return { log, more };
  });

function apart(entry: Entry): Entry {
  const { read, answers, of, parent } = entry as Entry & { read?: number; answers?: number[]; of?: number };
  const moved = { read, of, parent, seq: entry.seq };
  const given = Object.entries(moved).flatMap(([name, seq]) => (seq === undefined ? [] : [[name, seq * 10]]));
  return { ...entry, ...Object.fromEntries(given), ...(answers ? { answers: answers.map((seq) => seq * 10) } : {}) } as Entry;
}

it("entries of an unknown type change nothing of what is to be done", () => {
  fc.assert(
    fc.property(mixed, ({ log, more }) => {
      const [known, both] = [fold(log), fold(more)];
      expect({ ...both, seq: 0 }).toEqual({ ...known, seq: 0 });
      expect(both.seq).toBe(more.at(-1)?.seq);
      expect(withoutSeq(next(both))).toEqual(withoutSeq(next(known)));
    }),
  );
});

it("they show nothing in the thread, tell the model nothing, and stand in no trace", () => {
  fc.assert(
    fc.property(mixed, ({ log, more }) => {
      const looks = { banner: null, redact: same };
      expect({ ...render(more, looks), seq: 0 }).toEqual({ ...render(log, looks), seq: 0 });
      expect(toMessages(more, setting, same)).toEqual(toMessages(log, setting, same));
      expect(traceTree(more)).toEqual(traceTree(log));
    }),
  );
});

it("a known entry with words that we do not know is shown, told and traced in words, not as `undefined`", () => {
  const call = { id: "call00001", name: "bash", args: { command: "ls" }, raw: "{}" };
  const future = "teleported" as RunEnd;
  const log = numbered([
    opened(),
    message("first"),
    { type: "model", read: 2, text: "", calls: [call], finish: "calls", usage, model: "m", ms: 1, tries: 1 },
    { type: "judged", call: call.id, verdict: "auto", reasons: [], rule: "r", title: "ls" },
    { type: "run-ended", call: call.id, how: future, exit: null, output: { text: "out", bytes: 3, omitted: 0 }, ms: 5 },
    { type: "final", text: "done", answers: [2], reason: "tired" as "answer" },
  ]);
  const shown = JSON.stringify(render(log, { banner: null, redact: same }));
  const told = resultText(log[4] as Entry<"run-ended">);
  const traced = traceLines(traceTree(log)).join("\n");
  expect(shown).toContain("teleported");
  expect(told).toContain("teleported");
  for (const text of [shown, told, traced]) expect(text).not.toMatch(/undefined|\[object/);
});

it("a decision that we do not know runs nothing, and is told in words", () => {
  const call = { id: "call00001", name: "bash", args: { command: "ls" }, raw: "{}" };
  const decided = {
    type: "approval-decided",
    approval: "a",
    call: call.id,
    decision: "postponed",
    by: ann,
  } as unknown as Entry<"approval-decided">;
  const state = fold(
    numbered([
      opened(),
      message("first"),
      { type: "model", read: 2, text: "", calls: [call], finish: "calls", usage, model: "m", ms: 1, tries: 1 },
      { type: "judged", call: call.id, verdict: "ask", reasons: [], rule: "r", title: "ls" },
      { type: "approval-asked", approval: "a", call: call.id } as NewEntry<"approval-asked">,
      decided,
    ]),
  );
  const todo = next(state);
  expect(todo).toMatchObject({ do: "refuse", why: "postponed" });
  for (const text of [decisionLine({ ...decided, at: 1 }), lateAnswer(decided)]) expect(text).not.toContain("undefined");
});

/** What `next` says, without the entries' places. */
function withoutSeq(todo: ReturnType<typeof next>): unknown {
  return JSON.parse(JSON.stringify(todo, (key, value: unknown) => (key === "seq" ? undefined : value)));
}
