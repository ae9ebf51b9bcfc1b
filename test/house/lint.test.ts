import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProject, put } from "./tree.ts";

interface Planted {
  what: string;
  rule: string;
  /** The first file is the one that must be named. */
  files: Record<string, string>;
}

const line = "export const line = 1;\n";
const ROOMS = "eslint(no-restricted-imports)";
const GLOBALS = "eslint(no-restricted-globals)";
const PROPERTIES = "eslint(no-restricted-properties)";

function imports(what: string, file: string, from: string): Planted {
  return { what, rule: ROOMS, files: { [file]: `export * from "${from}";\n` } };
}

const planted: Planted[] = [
  imports("core importing a wire", "src/core/p-wire.ts", "../redis/log.ts"),
  imports("core importing node:fs", "src/core/p-fs.ts", "node:fs"),
  imports("core importing node:fs/promises", "src/core/p-promises.ts", "node:fs/promises"),
  imports("core importing execa", "src/core/p-execa.ts", "execa"),
  imports("core importing app.ts", "src/core/p-app.ts", "../app.ts"),
  imports("a folder in core importing a wire", "src/core/gate/p-wire.ts", "../../redis/log.ts"),
  imports("a folder in core importing node:path", "src/core/gate/p-path.ts", "node:path"),
  imports("a wire importing another wire", "src/redis/p-wire.ts", "../sandbox/bwrap.ts"),
  imports("a chat importing the other chat", "src/chat/discord/p-chat.ts", "../slack/slack.ts"),
  imports("a chat importing a wire", "src/chat/slack/p-wire.ts", "../../redis/log.ts"),
  imports("a wire importing app.ts", "src/model/p-app.ts", "../app.ts"),
  imports("a wire importing the configuration", "src/tools/p-config.ts", "../config.ts"),
  imports("a twin importing a wire", "src/twin/slack/p-wire.ts", "../../chat/slack/slack.ts"),
  imports("the configuration importing a wire", "src/config.ts", "./redis/log.ts"),
  imports("memory.ts importing a wire", "src/memory.ts", "./redis/log.ts"),
  imports("app.ts importing cli", "src/app.ts", "./cli/cli.ts"),
  {
    what: "core importing node:fs when it is called",
    rule: ROOMS,
    files: { "src/core/p-late.ts": 'export async function late(): Promise<unknown> {\n  return await import("node:fs");\n}\n' },
  },
  {
    what: "core importing a type from a wire",
    rule: ROOMS,
    files: { "src/core/p-type.ts": 'import type { X } from "../redis/log.ts";\n\nexport type Y = X;\n' },
  },
  { what: "Date.now in core", rule: PROPERTIES, files: { "src/core/p-now.ts": "export const at = Date.now();\n" } },
  { what: "Math.random in core", rule: PROPERTIES, files: { "src/core/p-random.ts": "export const at = Math.random();\n" } },
  { what: "process in core", rule: GLOBALS, files: { "src/core/p-process.ts": "export const id = process.pid;\n" } },
  { what: "fetch in core", rule: GLOBALS, files: { "src/core/p-fetch.ts": "export const get = fetch;\n" } },
  { what: "setTimeout in core", rule: GLOBALS, files: { "src/core/p-timer.ts": "export const later = setTimeout;\n" } },
  {
    what: "the environment read outside of the configuration",
    rule: "node(no-process-env)",
    files: { "src/redis/p-env.ts": "export const home = process.env;\n" },
  },
  {
    what: "an import cycle",
    rule: "import(no-cycle)",
    files: {
      "src/core/p-cycle.ts": 'import { b } from "./p-cycle-b.ts";\n\nexport const a = (): unknown => b;\n',
      "src/core/p-cycle-b.ts": 'import { a } from "./p-cycle.ts";\n\nexport const b = (): unknown => a;\n',
    },
  },
  {
    what: "a source file of 301 lines",
    rule: "eslint(max-lines)",
    files: { "src/redis/p-long.ts": line.replace("line", "a") + "\n".repeat(300) },
  },
  { what: "a test file of 301 lines", rule: "eslint(max-lines)", files: { "test/p-long.test.ts": `${"// a\n".repeat(300)}${line}` } },
  {
    what: "a function of 61 lines",
    rule: "eslint(max-lines-per-function)",
    files: { "src/redis/p-function.ts": `export function long(): void {\n${"  String(1);\n".repeat(59)}}\n` },
  },
  {
    what: "a promise that nobody waits for",
    rule: "typescript(no-floating-promises)",
    files: { "src/redis/p-floating.ts": "async function work(): Promise<void> {}\nexport function start(): void {\n  work();\n}\n" },
  },
  { what: "any", rule: "typescript(no-explicit-any)", files: { "src/redis/p-any.ts": "export const x: any = 1;\n" } },
  { what: "a default export", rule: "import(no-default-export)", files: { "src/redis/p-default.ts": "export default 1;\n" } },
  {
    what: "an empty catch",
    rule: "eslint(no-empty)",
    files: { "src/redis/p-catch.ts": "export function quiet(): void {\n  try {\n    String(1);\n  } catch {}\n}\n" },
  },
  {
    what: "a module mock",
    rule: "vitest(no-restricted-vi-methods)",
    files: { "test/p-mock.test.ts": 'import { vi } from "vitest";\n\nvi.mock("../src/core/add.ts");\n' },
  },
];

describe("the rules of the house", () => {
  let project: ReturnType<typeof makeProject>;
  let found: { filename: string; code: string; message: string }[] = [];

  beforeAll(() => {
    project = makeProject();
  });
  afterAll(() => project.remove());

  function check(): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(join(project.root, "script/check"), { encoding: "utf8" });
    return { status, output: stdout + stderr };
  }

  test("a tree that keeps them passes script/check", () => {
    expect(check()).toEqual({ status: 0, output: expect.stringContaining("are fine") });
  });

  describe("what breaks them is named", () => {
    beforeAll(() => {
      for (const { files } of planted) for (const [path, text] of Object.entries(files)) put(project.root, path, text);
      const oxlint = spawnSync(join(project.root, "node_modules/.bin/oxlint"), ["--format=json"], { cwd: project.root, encoding: "utf8" });
      found = (JSON.parse(oxlint.stdout) as { diagnostics: typeof found }).diagnostics;
    });

    test.each(planted)("$what", ({ rule, files }) => {
      const [file] = Object.keys(files);
      expect(found.filter((d) => d.filename === file).map((d) => d.code)).toContain(rule);
    });

    test("script/check fails on it, and says that lint failed", () => {
      expect(check()).toEqual({ status: 1, output: expect.stringMatching(/check: failed:.* lint/) });
    });
  });
});
