import { afterEach, expect, test } from "vitest";
import { slackThread } from "../../src/core/inbound.ts";
import { intake } from "../../src/core/intake.ts";
import { memoryLog } from "../../src/memory.ts";
import { ann } from "../support/random-log.ts";
import { armCheckpoint, armedAt, checkpoint, CHECKPOINTS, parseKillAt } from "../../src/core/checkpoint.ts";

let kills = 0;
afterEach(() => {
  kills = 0;
  // Nothing comes by there so often.
  armCheckpoint("kept:999999", () => {});
});

test("a process is killed when it comes by its checkpoint for the nth time, and at no other", () => {
  expect(armedAt()).toBeNull();
  for (const name of CHECKPOINTS) checkpoint(name);
  armCheckpoint("after-send:3", () => (kills += 1));
  const before = [1, 2, 3].map(() => {
    checkpoint("before-send");
    checkpoint("after-send");
    return kills;
  });
  expect(before).toEqual([0, 0, 1]);
  expect(armedAt()).toBe("after-send:3");
});

test.each(["nowhere", "kept:0", "kept:-1", "kept:1:2", "kept:x", ""])("%j is no checkpoint", (text) => {
  expect(parseKillAt(text)).toBeNull();
  expect(() => armCheckpoint(text, () => {})).toThrow(/NAME:NTH/);
});

test("who is killed when an arrival is kept has rung nobody", async () => {
  const seen: string[] = [];
  const clock = { now: () => 1_000, sleep: async () => {} };
  const late = async () => void seen.push("late");
  const deps = {
    ...{ log: memoryLog(clock), clock, trace: { info: () => {}, warn: () => {}, error: () => {} } },
    access: { users: ["slack:U1"], approvers: [], workspaces: [{ name: "api", channels: [], users: null, approvers: null }] },
    queue: { wake: late, wakePosts: late },
    ringEarly: () => void seen.push("early"),
  };
  const say = (event: string) => intake({ kind: "mention", event, thread: slackThread("T1", "C1", "1.1"), by: ann, text: "go" }, deps);
  armCheckpoint("decided", () => {});
  await say("e1");
  armCheckpoint("kept", () => void seen.push("killed"));
  await say("e2");
  expect(seen).toEqual(["early", "killed", "late", "late"]);
});
