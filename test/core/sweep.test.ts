import { beforeEach, expect, test } from "vitest";
import { slackThread } from "../../src/core/inbound.ts";
import type { NewEntry } from "../../src/core/entry.ts";
import { type SweepDeps, sweep } from "../../src/core/sweep.ts";
import { LIMITS } from "../../src/limits.ts";
import { memoryLog } from "../../src/memory.ts";
import { message, opened } from "../support/random-log.ts";

/** What nobody works on is rung for, and so is its thread: what that says may not be so any more. */

const thread = slackThread("T1", "C1", "1.1").key;
let now: number;
let rings: string[];
let deps: SweepDeps;

beforeEach(async () => {
  now = 1_000_000;
  rings = [];
  const clock = { now: () => now, sleep: async () => {} };
  const trace = { info: () => {}, warn: () => {}, error: () => {} };
  const queue = { wake: async () => void rings.push("work"), wakePosts: async () => void rings.push("posts") };
  deps = { log: memoryLog(clock), queue, clock, trace };
  await deps.log.ingest({
    ...{ conversation: thread, event: "e1", at: now, opened: opened() as NewEntry<"opened">, entry: message("list"), wakes: true },
  });
  const lock = { key: "k", token: "t" };
  const posts = await deps.log.takePosts(thread, lock);
  // Its poster has shown everything.
  await deps.log.settlePosts(thread, posts?.epoch ?? 0, 2);
});

test("a conversation that is left alone: once for each age that passes, and no more often", async () => {
  for (const end = now + 3 * LIMITS.sweepAge + 500; now < end; now += LIMITS.sweepEvery) await sweep(deps);
  expect(rings).toEqual(["work", "posts", "work", "posts", "work", "posts"]);
});

test("at a start at once, whatever its age", async () => {
  await sweep(deps, 0);
  expect(rings).toEqual(["work", "posts"]);
});

test("one that makes progress, or has come to its end, is left in peace", async () => {
  const taken = await deps.log.takeover(thread, { key: "k", token: "t" });
  const epoch = taken.kind === "taken" ? taken.epoch : 0;
  now += LIMITS.sweepAge - 1;
  await deps.log.append(thread, epoch, "op", now, [{ type: "final", text: "done", answers: [2], reason: "answer" }]);
  const posts = await deps.log.takePosts(thread, { key: "k", token: "t" });
  await deps.log.settlePosts(thread, posts?.epoch ?? 0, 3);
  now += 2;
  await sweep(deps);
  expect(await deps.log.settle(thread, epoch, 3)).toBe("settled");
  now += LIMITS.sweepAge;
  await sweep(deps);
  expect(rings).toEqual([]);
});
