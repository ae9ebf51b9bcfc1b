import { expect, it } from "vitest";
import { compare, KINDS } from "./differential.ts";

it("lists everything that bash starts and writes in five thousand generated lines", { timeout: 1_200_000 }, () => {
  const found = compare(5_000, 7_001);
  expect(found.unlisted).toEqual([]);
  expect(found.auto).toBeGreaterThanOrEqual(750);
  for (const kind of KINDS) expect([kind, (found.kinds.get(kind) ?? 0) >= 50]).toEqual([kind, true]);
});
