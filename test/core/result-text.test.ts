import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesBehind } from "../../src/core/cut.ts";
import type { Entry } from "../../src/core/entry.ts";
import { shape } from "../../src/core/output.ts";
import { resultText } from "../../src/core/prompt.ts";
import { redactor } from "../../src/core/redactor.ts";
import { LIMITS } from "../../src/limits.ts";
import { lines, printed } from "../support/printed.ts";
import { bob } from "../support/random-log.ts";

describe("the result of a call", () => {
  const base = {
    type: "run-ended",
    call: "c",
    exit: 0,
    output: { text: "", bytes: 0, omitted: 0 },
    ms: 2000,
    v: 1,
    seq: 9,
    at: 0,
    epoch: 1,
  } as const;
  test.each([
    [{ how: "exited" }, "(no output)"],
    [{ how: "exited", exit: 2, output: { text: "no such file", bytes: 1, omitted: 0 } }, "no such file\n[exit code 2]"],
    [{ how: "timeout" }, "ended after 2 s: time limit"],
    [{ how: "cancelled", by: bob }, "stopped by Bob"],
    [{ how: "interrupted" }, "not known how far this command came; it was not run again"],
    [{ how: "flood", notes: ["the folder was reset"] }, "[ended: it printed too much]\n[the folder was reset]"],
    [{ how: "refused", output: { text: "Not run: no.", bytes: 0, omitted: 0 } }, "Not run: no."],
  ])("%j reads %j", (part, expected) => {
    expect(resultText({ ...base, ...part } as Entry<"run-ended">)).toContain(expected);
  });

  const bytes = (text: string): number => new TextEncoder().encode(text).length;
  const textOf = (all: string, part: object = {}): string => {
    const { output } = shape(printed(all, 60_000), redactor([]));
    return resultText({ ...base, how: "exited", ...part, output } as Entry<"run-ended">);
  };

  test("comes whole while it is not too long", () => {
    const all = lines(0, 3_000);
    expect(bytes(all)).toBeLessThan(LIMITS.outputModel);
    expect(textOf(all)).toBe(all.trimEnd());
  });

  test("is cut to a quarter from the beginning and the rest from the end, in whole lines", () => {
    const text = textOf(lines(0, 50_000), { exit: 2 });
    expect(text).toMatch(/^line 0\n[^]*line \d+\n\[\.\.\. \d+ bytes left out \.\.\.\]\nline \d+\n[^]*line 49999\n?\n\[exit code 2\]$/);
    const [head = "", tail = ""] = text.split(/\[\.\.\. \d+ bytes left out \.\.\.\]\n/);
    expect(head.length).toBeGreaterThan(LIMITS.outputModel / 4 - 200);
    expect(tail.length).toBeGreaterThan((LIMITS.outputModel * 3) / 4 - 400);
  });

  test("says exactly what is left out in both cuts together, and is never too long", () => {
    const parts = fc.array(fc.tuple(fc.constantFrom("é", "x", "漢"), fc.integer({ min: 0, max: 4_000 })), { maxLength: 60 });
    fc.assert(
      fc.property(parts, (each) => {
        const all = each.map(([char, times]) => `${char.repeat(times)}\n`).join("");
        const text = textOf(all);
        expect(bytes(text)).toBeLessThanOrEqual(LIMITS.outputModel);
        const end = /\n*$/.exec(all)?.[0].length ?? 0;
        // Blank lines at the end say nothing.
        if (all.trim() !== "") expect(bytesBehind(text) - (bytes(all) - end)).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  test("is bounded too when it is no output", () => {
    const output = { text: `Not run: ${"x".repeat(90_000)}`, bytes: 0, omitted: 0 };
    const text = resultText({ ...base, how: "refused", output } as Entry<"run-ended">);
    expect(bytes(text)).toBeLessThanOrEqual(LIMITS.outputModel);
    expect(text).toMatch(/^Not run: x+ \[\.\.\. \d+ bytes of this line left out \.\.\.\]$/);
  });
});
