import { expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { intake } from "../../src/core/intake.ts";
import type { Log } from "../../src/core/log.ts";
import type { Tool } from "../../src/core/ports.ts";
import { memoryLog } from "../../src/memory.ts";
import { systemClock } from "../../src/system.ts";
import { openGuarded } from "../support/guarded.ts";

/**
 * A log that takes an answer of the model only when the test says so, and a tool that tells how far its command is. `slow`:
 * nothing stands around the command before that answer is kept.
 */
function held({ slow = false } = {}) {
  const log = memoryLog(systemClock);
  const kept = Promise.withResolvers<void>();
  const isKept = Promise.withResolvers<void>();
  const setUp = Promise.withResolvers<AbortSignal>();
  const steps: string[] = [];
  const late: Log = {
    ...log,
    async append(conversation, epoch, op, at, entries) {
      if (entries[0]?.type === "model" && entries[0].calls.length > 0) await kept.promise;
      const done = await log.append(conversation, epoch, op, at, entries);
      if (entries.length > 0) steps.push(`${entries.map(({ type }) => type).join(", ")}: ${done.kind}`);
      isKept.resolve();
      return done;
    },
  };
  const tool: Tool = {
    spec: { name: "bash", description: "", parameters: {} },
    check: ({ command }) => ({ act: { title: String(command), timeoutMs: 1000 } }),
    judge: () => ({ verdict: "auto", reasons: [], rule: "r" }),
    async run(_, __, { ready, signal }) {
      steps.push("set up");
      setUp.resolve(signal);
      if (slow) await isKept.promise;
      const goes = await ready?.();
      steps.push(goes ? "runs" : "does not run");
      return { how: goes ? "exited" : "cancelled", exit: goes ? 0 : null, output: { text: "", bytes: 0, omitted: 0 }, ms: 1 };
    },
  };
  const deck = openGuarded({ answers: (n) => (n === 0 ? "ls" : "say done"), log: late, hands: { tools: new Map([["bash", tool]]) } });
  return { deck, log, steps, setUp: setUp.promise, keep: kept.resolve };
}

test("a command is set up while the answer that wants it is being kept, its start goes into the log with that answer, and then it runs", async () => {
  const { deck, steps, setUp, keep } = held();
  await deck.say("list");
  const working = deck.work();
  await setUp;
  expect(steps).toEqual(["set up"]);
  keep();
  await working;
  const ended = ["run-ended: appended", "model: appended", "final: appended"];
  expect(steps).toEqual(["set up", "model, judged, run-started: appended", "runs", ...ended]);
});

test("an answer does not wait long for what is to stand around its command: then the start is kept by itself", async () => {
  const { deck, steps, setUp, keep } = held({ slow: true });
  await deck.say("list");
  const working = deck.work();
  await setUp;
  keep();
  await working;
  const ended = ["run-ended: appended", "model: appended", "final: appended"];
  expect(steps).toEqual(["set up", "model, judged: appended", "run-started: appended", "runs", ...ended]);
});

test("a command does not run when its answer could not be kept", async () => {
  const { deck, log, steps, setUp, keep } = held();
  await deck.say("list");
  const working = deck.work();
  const signal = await setUp;
  await log.takeover(deck.thread.key, { key: "", token: "" });
  keep();
  await working;
  expect(steps).toEqual(["set up", "model, judged, run-started: fenced", "does not run"]);
  expect(signal.aborted).toBe(true);
});

test("a command does not run when the words that it is for were taken back while its answer was being kept, and its start has an end", async () => {
  const { deck, steps, setUp, keep } = held();
  await deck.say("list");
  const working = deck.work();
  await setUp;
  const message = (await deck.entries())[1] as Entry<"message">;
  await intake({ kind: "remove", event: "gone", thread: deck.thread, by: message.by, message: message.event }, deck.deps);
  keep();
  await working;
  expect(steps).not.toContain("runs");
  const types = (await deck.entries()).map(({ type }) => type);
  expect(types).toEqual(["opened", "message", "removed", "model", "judged", "run-started", "run-ended"]);
  expect(await deck.posts()).toHaveLength(1);
});

test.each([{ slow: false }, { slow: true }])(
  "a command does not run when somebody said stop while its answer was being kept: %j",
  async (how) => {
    const { deck, steps, setUp, keep } = held(how);
    await deck.say("list");
    const working = deck.work();
    const signal = await setUp;
    await deck.say("stop");
    keep();
    await working;
    expect(steps).not.toContain("runs");
    expect(signal.aborted).toBe(true);
    const last = (await deck.entries()).slice(-2);
    expect(last).toMatchObject([
      { type: "run-ended", how: "refused", why: "cancelled" },
      { type: "final", reason: "stopped", text: "Stopped by Ann. Not run: `ls`." },
    ]);
  },
);
