import { describe, expect, it } from "vitest";
import type { RunResult, RunSpec, Sandbox } from "../../src/core/sandbox.ts";
import { LIMITS } from "../../src/limits.ts";
import { tool } from "../../src/tools/bash.ts";

const result: RunResult = { how: "exited", exit: 0, output: { text: "a", bytes: 1, omitted: 0 }, ms: 5 };

/** A sandbox that keeps what it was asked to run. */
function paperSandbox(asked: RunSpec[]): Sandbox {
  return {
    name: "none",
    selfTest: () => Promise.resolve({ ok: true, badge: "", problems: [] }),
    run: (spec) => {
      asked.push(spec);
      return Promise.resolve(result);
    },
    carried: (_, workspace) => ({ cwd: workspace, env: {}, notes: [] }),
    lacks: () => null,
    fingerprint: () => Promise.resolve(""),
    put: () => Promise.resolve({ paths: [] }),
    notes: () => Promise.resolve(null),
    keep: () => Promise.resolve(null),
    left: () => null,
    dispose: () => Promise.resolve(),
    tidy: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

describe("the bash tool", () => {
  it("keeps the command byte for byte, with 120 seconds when none are asked for", () => {
    expect(tool.check({ command: "  ls\n # x " })).toEqual({ act: { title: "  ls\n # x ", timeoutMs: 120_000 } });
  });

  it("takes a timeout in seconds, and no more than the most", () => {
    expect(tool.check({ command: "ls", timeout_seconds: 5 })).toMatchObject({ act: { timeoutMs: 5_000 } });
    expect(tool.check({ command: "ls", timeout_seconds: 99_999 })).toMatchObject({ act: { timeoutMs: 600_000 } });
    expect(tool.check({ command: "ls", timeout_seconds: null })).toMatchObject({ act: { timeoutMs: 120_000 } });
  });

  it.each([
    [{}, /command is missing/],
    [{ command: null }, /command is missing/],
    [{ command: ["ls", "-la"] }, /must be a string, not a list/],
    [{ command: { a: 1 } }, /must be a string, not an object/],
    [{ command: 5 }, /must be a string, not a number/],
    [{ command: " \n" }, /empty/],
    [{ command: "ls\0" }, /NUL/],
    [{ command: "ls \ud800" }, /surrogate/],
    [{ command: "é".repeat(LIMITS.commandBytes / 2 + 1) }, /100002 bytes, at most 100000/],
    [{ command: "ls", timeout_seconds: "60" }, /whole number of seconds from 1 to 600, not "60"/],
    [{ command: "ls", timeout_seconds: 1.5 }, /not 1.5/],
    [{ command: "ls", timeout_seconds: 0 }, /not 0/],
    [{ command: "ls", timeout_seconds: [1] }, /not a list/],
    [{ command: "ls", cwd: "/x" }, /does not know cwd/],
  ])("tells the model what is wrong with its arguments (%#)", (args, problem) => {
    expect(tool.check(args)).toEqual({ problem: expect.stringMatching(problem) as string });
  });

  it("asks the gate about the command", () => {
    const place = { workspace: "/w", cwd: "/w", posture: "careful" as const };
    expect(tool.judge({ title: "ls", timeoutMs: 1 }, place).verdict).toBe("auto");
    expect(tool.judge({ title: "sudo ls", timeoutMs: 1 }, place).verdict).toBe("deny");
  });

  it("runs exactly that command in the sandbox and gives its result", async () => {
    const asked: RunSpec[] = [];
    const spec = { conversation: "slack:T:C:1", workspace: "/w", cwd: "/w/src", reach: "approved" as const, grants: ["network=*"] };
    const at = { ...spec, sandbox: paperSandbox(asked) };
    const given = await tool.run({ title: "ls  -l", timeoutMs: 7 }, at, { signal: new AbortController().signal });
    expect(given).toBe(result);
    expect(asked).toEqual([{ ...spec, command: "ls  -l", timeoutMs: 7 }]);
  });

  it("describes itself with a plain JSON schema that names every argument", () => {
    expect(tool.spec.name).toBe("bash");
    expect(Object.keys(tool.spec.parameters["properties"] as object)).toEqual(["command", "timeout_seconds"]);
    expect(tool.spec.parameters).not.toHaveProperty("$schema");
    expect(tool.spec.description).toMatch(/no network/);
  });
});
