import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyState, fold, openApproval } from "../../src/core/conversation.ts";
import { next } from "../../src/core/next.ts";
import type { Entry, NewEntry } from "../../src/core/entry.ts";
import { callAgain } from "../../src/core/interrupted.ts";
import { ann, anyLog, bob, message, numbered, opened } from "../support/random-log.ts";

function modelSays(read: number, ...calls: string[]): NewEntry {
  const usage = { prompt: null, completion: null, cached: null };
  const made = calls.map((id) => ({ id, name: "bash", args: { command: id }, raw: "" }));
  return {
    type: "model",
    read,
    text: calls.length ? "" : "hello",
    calls: made,
    finish: calls.length ? "calls" : "stop",
    usage,
    model: "m",
    ms: 1,
    tries: 1,
  };
}

function judged(call: string, verdict: "auto" | "ask" | "deny"): NewEntry {
  return { type: "judged", call, verdict, reasons: [], rule: "r", title: call };
}

function todoAfter(...news: NewEntry[]) {
  return next(fold(numbered([opened(), ...news])));
}

describe("what is next", () => {
  test("a new message asks the model", () => {
    expect(todoAfter(message("hi"))).toEqual({ do: "ask-model" });
  });

  test("words to the others in the thread ask nobody", () => {
    expect(todoAfter({ ...message("hi"), to: "thread" } as NewEntry)).toBeNull();
  });

  test("all calls of a step are judged before the first runs", () => {
    const todo = todoAfter(message("hi"), modelSays(2, "a", "b"));
    expect(todo).toMatchObject({ do: "judge", calls: [{ call: { id: "a" } }, { call: { id: "b" } }] });
  });

  test("calls run in order up to the first that asks, and later ones wait", () => {
    const start: NewEntry[] = [message("hi"), modelSays(2, "a", "b", "c"), judged("a", "auto"), judged("b", "ask"), judged("c", "auto")];
    expect(todoAfter(...start)).toMatchObject({ do: "run", calls: [{ call: { id: "a" } }] });
    const ranA: NewEntry = { type: "run-ended", call: "a", how: "exited", exit: 0, output: { text: "", bytes: 0, omitted: 0 }, ms: 1 };
    expect(todoAfter(...start, ranA)).toMatchObject({ do: "ask-person", call: { call: { id: "b" } } });
  });

  test("a message of the model without calls ends the turn and answers what it had read", () => {
    const todo = todoAfter(message("one"), message("two"), modelSays(2));
    expect(todo).toEqual({ do: "finish", reason: "answer", answers: [2] });
  });

  test("a message that came during the answer opens the next turn", () => {
    const log: NewEntry[] = [message("one"), message("two"), modelSays(2), { type: "final", text: "x", answers: [2], reason: "answer" }];
    expect(todoAfter(...log)).toEqual({ do: "ask-model" });
  });

  test("a cut message runs none of its calls", () => {
    const cut = { ...modelSays(2, "a"), finish: "cut" } as NewEntry;
    expect(todoAfter(message("hi"), cut)).toMatchObject({ do: "refuse", why: "cut" });
  });

  test("a stop with nothing going on changes nothing", () => {
    expect(todoAfter({ type: "stop", event: "s", by: bob })).toBeNull();
  });

  test("the fiftieth step is the last one of a turn", () => {
    const steps = Array.from({ length: 50 }, (_, i): NewEntry[] => [
      modelSays(2, `c${i}`),
      { type: "run-ended", call: `c${i}`, how: "exited", exit: 0, output: { text: "", bytes: 0, omitted: 0 }, ms: 1 },
    ]).flat();
    expect(todoAfter(message("hi"), ...steps)).toMatchObject({ do: "pause" });
  });

  test("more calls in one message than a sound model makes are all refused", () => {
    const calls = Array.from({ length: 17 }, (_, i) => `c${i}`);
    const todo = todoAfter(message("hi"), modelSays(2, ...calls));
    expect(todo).toMatchObject({ do: "refuse", why: "too-many" });
  });

  test("a hundred calls are the last of a turn", () => {
    const steps = Array.from({ length: 10 }, (_, i) => Array.from({ length: 10 }, (__, j) => `c${i}-${j}`)).flatMap((ids): NewEntry[] => [
      modelSays(2, ...ids),
      ...ids.map(
        (id): NewEntry => ({ type: "run-ended", call: id, how: "exited", exit: 0, output: { text: "", bytes: 0, omitted: 0 }, ms: 1 }),
      ),
    ]);
    expect(todoAfter(message("hi"), ...steps)).toMatchObject({ do: "pause" });
  });

  test("half an hour of model and command time ends a turn; waiting for people does not count", () => {
    const slow = { type: "run-ended", call: "a", how: "exited", exit: 0, output: { text: "", bytes: 0, omitted: 0 } } as const;
    expect(todoAfter(message("hi"), modelSays(2, "a"), { ...slow, ms: 30 * 60_000 })).toMatchObject({ do: "pause" });
    expect(todoAfter(message("hi"), modelSays(2, "a"), { ...slow, ms: 29 * 60_000 })).toEqual({ do: "ask-model" });
  });

  test("three steps in a row that nobody can understand end the turn", () => {
    const steps = ["a", "b", "c"].flatMap((id): NewEntry[] => [
      modelSays(2, id),
      { type: "run-ended", call: id, how: "refused", exit: null, output: { text: "", bytes: 0, omitted: 0 }, ms: 0, why: "no-tool" },
    ]);
    expect(todoAfter(message("hi"), ...steps)).toMatchObject({ do: "pause" });
  });

  test("a removed message that nobody has read needs no answer", () => {
    expect(todoAfter(message("hi", ann, "e1"), { type: "removed", event: "e1" })).toBeNull();
  });
});

/** Plays a log on to its end: every question is denied, every run exits. */
function playOut(log: Entry[]): Entry[] {
  const state = fold(log);
  const out = [...log];
  for (let i = 0; i < 400; i += 1) {
    const todo = next(state);
    const asked = openApproval(state)?.asked;
    const news: NewEntry[] = [];
    if (todo === null && asked) news.push({ type: "approval-decided", approval: asked.approval, call: asked.call, decision: "denied" });
    else if (todo === null && state.parked) news.push({ type: "retried", by: bob });
    else if (todo === null && state.paused) news.push({ type: "stop", event: "e", by: ann });
    else if (todo === null && state.fetching[0]) news.push({ type: "received", of: state.fetching[0].seq, files: [] });
    else if (todo === null) return out;
    else if (todo.do === "run-again") news.push(callAgain(todo.message, { entries: out, state }, { ids: { call: () => `again${i}` } }));
    else if (todo.do === "ask-model") news.push(modelSays(state.seq));
    else if (todo.do === "judge") news.push(...todo.calls.map((c) => judged(c.call.id, "deny")));
    else if (todo.do === "refuse")
      news.push(
        ...todo.calls.map(
          (c): NewEntry => ({
            type: "run-ended",
            call: c.call.id,
            how: "refused",
            exit: null,
            output: { text: "", bytes: 0, omitted: 0 },
            ms: 0,
          }),
        ),
      );
    else if (todo.do === "run")
      for (const { call } of todo.calls)
        news.push({ type: "run-ended", call: call.id, how: "exited", exit: 0, output: { text: "", bytes: 0, omitted: 0 }, ms: 0 });
    else if (todo.do === "take-files") news.push({ type: "brief", parent: todo.received.of, about: "files", text: "" });
    else if (todo.do === "pause") news.push({ type: "stop", event: "e", by: ann });
    else if (todo.do === "finish") news.push({ type: "final", text: "x", answers: todo.answers, reason: todo.reason });
    else if (todo.do === "close-approval")
      news.push({ type: "approval-decided", approval: todo.call.asked?.approval ?? "", call: todo.call.call.id, decision: "cancelled" });
    else
      news.push({
        type: "run-ended",
        call: todo.call.call.id,
        how: "refused",
        exit: null,
        output: { text: "", bytes: 0, omitted: 0 },
        ms: 0,
      });
    const placed = numbered(news, out.length + 1);
    out.push(...placed);
    fold(placed, state);
  }
  throw new Error("the log does not come to rest");
}

describe("any log, cut off anywhere", () => {
  test("comes to rest with every message answered once", () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const rested = playOut(log);
        const answers = rested.flatMap((e) => (e.type === "final" || e.type === "failed" ? e.answers : []));
        expect(new Set(answers).size).toBe(answers.length);
        const removed = new Set(rested.flatMap((e) => (e.type === "removed" ? [e.event] : [])));
        const asked = rested.filter((e) => e.type === "message").filter((e) => !removed.has(e.event));
        for (const entry of asked) expect(answers, JSON.stringify(rested)).toContain(entry.seq);
      }),
      { numRuns: 300 },
    );
  });

  test("never runs a call twice, nor one that was not allowed", () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const started = log.filter((e) => e.type === "run-started").map((e) => e.call);
        expect(new Set(started).size).toBe(started.length);
        for (const call of started) {
          const verdict = log.find((e) => e.type === "judged" && e.call === call);
          const decision = log.find((e) => e.type === "approval-decided" && e.call === call);
          const allowed =
            verdict?.type === "judged" &&
            (verdict.verdict === "auto" || (decision?.type === "approval-decided" && decision.decision === "approved"));
          expect(allowed).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("makes one call of each press on `Run again`, unless the work is stopped before", () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const rested = playOut(log);
        const made = rested.flatMap((e) => (e.type === "model" && e.again !== undefined ? [e.again] : []));
        expect(new Set(made).size).toBe(made.length);
        const stopped = rested.flatMap((e) => (e.type === "final" && e.reason === "stopped" ? e.answers : []));
        const pressed = rested.filter((e) => e.type === "message" && e.pressed?.choice === "again").map((e) => e.seq);
        expect(pressed.filter((seq) => !made.includes(seq) && !stopped.includes(seq))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("folds to the same state in one go and entry by entry", () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const state = emptyState();
        for (const entry of log) fold([entry], state);
        expect(state).toEqual(fold(log));
      }),
    );
  });
});
