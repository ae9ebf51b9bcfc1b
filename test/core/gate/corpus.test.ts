import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { gateReport } from "../../../script/gate-report.ts";
import { judge } from "../../../src/core/gate.ts";
import { labelled, PLACE, realWork, score } from "./lines.ts";

describe.each(["risk-corpus", "own-corpus", "hard-corpus"] as const)("the gate on the labelled lines of %s", (name) => {
  const found = score(labelled(name));

  it("lets no line run by itself that must ask or be refused", () => {
    expect(found.leaks).toEqual([]);
  });

  it("lets at least 97 % of the harmless lines run by themselves", () => {
    expect(1 - found.falseAsks.length / found.auto, found.falseAsks.join("\n")).toBeGreaterThanOrEqual(0.97);
  });

  it("refuses at least 97 % of what must never run", () => {
    expect(1 - found.missed.length / found.deny, found.missed.join("\n")).toBeGreaterThanOrEqual(0.97);
  });

  it("never lets a refused line run in a sandbox either, and is no stricter there", () => {
    const rank = { auto: 0, ask: 1, deny: 2 };
    for (const { command } of labelled(name)) {
      const careful = judge(command, PLACE).verdict;
      const contained = judge(command, { ...PLACE, posture: "contained" }).verdict;
      expect([command, rank[contained] <= rank[careful], contained === "deny"]).toEqual([command, true, careful === "deny"]);
    }
  });
});

describe("the gate on real work", () => {
  // The tools that the project has installed are found in its own folder.
  const tools = /node_modules\/\.bin\/(?:tsc|vitest|eslint|prettier|jest|playwright|tsx|ts-node|prisma)$/;
  const realpath = (path: string): string | null => (!path.includes("node_modules") || tools.test(path) ? path : null);

  it("asks about at most a tenth of the commands of ordinary projects in a sandbox", () => {
    const lines = realWork();
    const asked = lines.filter((line) => judge(line, { ...PLACE, posture: "contained", realpath }).verdict !== "auto");
    expect(lines.length).toBeGreaterThanOrEqual(300);
    expect(asked.length / lines.length, asked.join("\n")).toBeLessThanOrEqual(0.1);
  });

  it("refuses none of them", () => {
    expect(realWork().filter((line) => judge(line, { ...PLACE, realpath }).verdict === "deny")).toEqual([]);
  });
});

describe("docs/gate.md", () => {
  it("says what script/gate-report finds", () => {
    expect(readFileSync("docs/gate.md", "utf8")).toBe(gateReport());
  });
});
