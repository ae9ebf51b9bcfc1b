import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RunSpec, Sandbox } from "../../src/core/sandbox.ts";
import { LIMITS } from "../../src/limits.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { noneSandbox } from "../../src/sandbox/none.ts";
import { notesReader } from "../../src/sandbox/notes.ts";
import { isRoot, makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

const SECRET = "xoxb-this-is-a-planted-secret";

describe.each([
  ["bwrap", bwrapSandbox],
  ["none", noneSandbox],
] as const)("AGENTS.md in a sandbox: %s", (_, make) => {
  let place: TestWorkspace;
  let sandbox: Sandbox;
  let file: string;
  beforeAll(() => {
    place = makeWorkspace();
    file = join(place.path, "AGENTS.md");
    writeFileSync(join(place.root, "outside.md"), "not yours");
    sandbox = make({ stateDir: place.stateDir, runAs: null, secrets: [SECRET] });
  });
  afterEach(() => rmSync(file, { recursive: true, force: true }));
  afterAll(async () => {
    await sandbox.close();
    place.cleanup();
  });

  const notes = () => sandbox.notes(place.path, "AGENTS.md");
  function write(text: string): void {
    writeFileSync(file, text);
    place.give(file);
  }

  test("is read, and read again when it was changed", async () => {
    write("Use tabs.\n");
    expect(await notes()).toBe("Use tabs.\n");
    write("Use blanks.\n");
    expect(await notes()).toBe("Use blanks.\n");
    rmSync(file);
    expect(await notes()).toBeNull();
  });

  test("may be a link to another file of the workspace", async () => {
    writeFileSync(join(place.path, "CLAUDE.md"), "Run make test.\n");
    symlinkSync("CLAUDE.md", file);
    expect(await notes()).toBe("Run make test.\n");
  });

  test.each([
    ["a file of the system", () => symlinkSync("/etc/shadow", file)],
    ["a file that commands may read", () => symlinkSync("/etc/passwd", file)],
    ["a file beside the workspace", () => symlinkSync("../outside.md", file)],
    ["its own process", () => symlinkSync("/proc/self/environ", file)],
    ["nothing", () => symlinkSync("gone", file)],
    ["itself", () => symlinkSync("AGENTS.md", file)],
  ])("gives nothing when it is a link to %s", async (_name, plant) => {
    plant();
    expect(await notes()).toBeNull();
  });

  test.each([
    ["a folder", () => mkdirSync(file)],
    ["a pipe", () => execFileSync("mkfifo", [file])],
    ["a device", () => symlinkSync("/dev/zero", file)],
  ])("gives nothing when it is %s, and waits for nobody", async (_name, plant) => {
    plant();
    expect(await notes()).toBeNull();
  });

  test.runIf(isRoot())("gives nothing when the run user may not read it", async () => {
    writeFileSync(file, "for root");
    chmodSync(file, 0o600);
    expect(await notes()).toBeNull();
  });

  test("hides secrets, and is cut where none can be cut in two", async () => {
    write(`The key is ${SECRET}.\n${"line\n".repeat(LIMITS.notesRead)}`);
    const said = (await notes()) ?? "";
    expect(said).toMatch(/^The key is \[secret\]\.\nline\n/);
    expect(said.length).toBeLessThanOrEqual(LIMITS.notesRead);
    write(`${"x".repeat(LIMITS.notesRead - 30)}\n${SECRET}${"y".repeat(100)}`);
    expect(await notes()).not.toContain(SECRET.slice(0, 12));
  });
});

describe("reading the notes of a workspace", () => {
  test("starts nothing while the file is as it was, nor when there is none", async () => {
    const place = makeWorkspace();
    const started: RunSpec[] = [];
    const notes = notesReader(async (spec) => {
      started.push(spec);
      return { how: "exited", exit: 0, output: { text: "tabs", bytes: 4, omitted: 0 }, ms: 1 };
    });
    expect(await notes(place.path, "AGENTS.md")).toBeNull();
    expect(started).toHaveLength(0);
    writeFileSync(join(place.path, "AGENTS.md"), "tabs");
    expect(await Promise.all([notes(place.path, "AGENTS.md"), notes(place.path, "AGENTS.md")])).toEqual(["tabs", "tabs"]);
    expect(await notes(place.path, "AGENTS.md")).toBe("tabs");
    expect(started).toHaveLength(1);
    place.cleanup();
  });
});
