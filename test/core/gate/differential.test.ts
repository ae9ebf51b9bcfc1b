import { expect, it } from "vitest";
import { compare, KINDS } from "./differential.ts";

it("lists everything that bash starts and writes in generated lines that run by themselves", { timeout: 180_000 }, () => {
  const found = compare(500, 20_261_130);
  expect(found.unlisted).toEqual([]);
  expect(found.lines).toBe(500);
  expect(found.auto).toBeGreaterThanOrEqual(75);
  for (const kind of KINDS) expect([kind, (found.kinds.get(kind) ?? 0) >= 5]).toEqual([kind, true]);
});
