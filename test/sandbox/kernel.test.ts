import { describe, expect, it } from "vitest";
import { launcher } from "../../src/sandbox/launch.ts";
import { seccompProgram } from "../../src/sandbox/seccomp.ts";

it("no command line is made for root", () => {
  expect(() => launcher({ uid: 0, gid: 0, drop: false })).toThrow("RUN_AS");
});

describe("the filter's program", () => {
  it.each(["x64", "arm64"])("is well formed for %s: whole steps, jumps inside, answers at the end", (arch) => {
    const program = seccompProgram(arch);
    const steps = program.length / 8;
    expect(Number.isInteger(steps)).toBe(true);
    for (let at = 0; at < steps; at++) {
      const jumps = (program[at * 8] as number) & 0x07;
      if (jumps !== 0x05) continue;
      expect(at + 1 + Math.max(program[at * 8 + 2] as number, program[at * 8 + 3] as number)).toBeLessThan(steps);
    }
    expect(program.readUInt16LE(program.length - 8)).toBe(0x06);
  });

  it("is refused for a processor whose calls we do not know", () => {
    expect(() => seccompProgram("riscv64")).toThrow("SANDBOX_DENIED");
  });
});
