import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHECKPOINTS } from "../../src/core/checkpoint.ts";
import { LATER, POINTS } from "./points.ts";

const ROOT = join(import.meta.dirname, "../..");

test("every crash point of the design is covered by a checkpoint or a test file, but those of what comes later", () => {
  const numbers = Array.from({ length: 50 }, (_, index) => index + 1).filter((number) => !LATER.includes(number));
  expect(Object.keys(POINTS).map(Number)).toEqual(numbers);
  const bare = Object.entries(POINTS).filter(([, point]) => !point.at?.length && !point.in?.length);
  expect(bare).toEqual([]);
});

test("every checkpoint stands for a crash point, and every test file that covers one is there", () => {
  const named = new Set(Object.values(POINTS).flatMap((point) => point.at ?? []));
  expect(CHECKPOINTS.filter((name) => !named.has(name))).toEqual([]);
  const files = new Set(Object.values(POINTS).flatMap((point) => point.in ?? []));
  expect([...files].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
