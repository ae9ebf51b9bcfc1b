import { expect, test } from "vitest";
import type { Log } from "../../src/core/log.ts";
import type { Tool } from "../../src/core/ports.ts";
import { memoryLog } from "../../src/memory.ts";
import { systemClock } from "../../src/system.ts";
import { openGuarded } from "../support/guarded.ts";

/** A log that takes an answer of the model only when the test says so, and a tool that tells how far its command is. */
function held() {
  const log = memoryLog(systemClock);
  const kept = Promise.withResolvers<void>();
  const setUp = Promise.withResolvers<AbortSignal>();
  const steps: string[] = [];
  const slow: Log = {
    ...log,
    async append(conversation, epoch, op, at, entries) {
      if (entries[0]?.type === "model" && entries[0].calls.length > 0) await kept.promise;
      const done = await log.append(conversation, epoch, op, at, entries);
      steps.push(...entries.map(({ type }) => `${type} ${done.kind}`));
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
      const goes = await ready?.();
      steps.push(goes ? "runs" : "does not run");
      return { how: goes ? "exited" : "cancelled", exit: goes ? 0 : null, output: { text: "", bytes: 0, omitted: 0 }, ms: 1 };
    },
  };
  const deck = openGuarded({ answers: (n) => (n === 0 ? "ls" : "say done"), log: slow, hands: { tools: new Map([["bash", tool]]) } });
  return { deck, log, steps, setUp: setUp.promise, keep: kept.resolve };
}

test("a command is set up while the answer that wants it is being kept, and runs when it and the start are kept", async () => {
  const { deck, steps, setUp, keep } = held();
  await deck.say("list");
  const working = deck.work();
  await setUp;
  expect(steps).toEqual(["set up"]);
  keep();
  await working;
  const durable = ["model appended", "judged appended", "run-started appended"];
  expect(steps).toEqual(["set up", ...durable, "runs", "run-ended appended", "model appended", "final appended"]);
});

test("a command does not run when its answer could not be kept", async () => {
  const { deck, log, steps, setUp, keep } = held();
  await deck.say("list");
  const working = deck.work();
  const signal = await setUp;
  await log.takeover(deck.thread.key, { key: "", token: "" });
  keep();
  await working;
  expect(steps).toEqual(["set up", "model fenced", "judged fenced", "does not run"]);
  expect(signal.aborted).toBe(true);
});

test("a command does not run when somebody said stop while its answer was being kept", async () => {
  const { deck, steps, setUp, keep } = held();
  await deck.say("list");
  const working = deck.work();
  const signal = await setUp;
  await deck.say("stop");
  keep();
  await working;
  expect(steps).toEqual(["set up", "model appended", "judged appended", "does not run", "run-ended appended", "final appended"]);
  expect(signal.aborted).toBe(true);
  expect(await deck.entries()).not.toContainEqual(expect.objectContaining({ type: "run-started" }));
});
