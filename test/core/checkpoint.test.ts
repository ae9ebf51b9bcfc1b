import { afterEach, expect, test } from "vitest";
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
