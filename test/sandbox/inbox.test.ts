import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/core/sandbox.ts";
import { safeName } from "../../src/core/speakers.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { noneSandbox } from "../../src/sandbox/none.ts";
import { isRoot, makeWorkspace, RUN_UID, type TestWorkspace } from "../support/workspace.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe.each([
  ["bwrap", bwrapSandbox],
  ["none", noneSandbox],
] as const)("files that are put into a workspace: %s", (_, make) => {
  let place: TestWorkspace;
  let sandbox: Sandbox;
  let root: string;
  let spaces = 0;

  beforeAll(() => {
    place = makeWorkspace();
    sandbox = make({ stateDir: place.stateDir, runAs: null });
  });
  beforeEach(() => {
    root = join(place.root, `ws${(spaces += 1)}`);
    mkdirSync(root);
    place.give(root);
  });
  afterAll(async () => {
    await sandbox.close();
    place.cleanup();
  });

  const put = (...files: [string, string][]) =>
    sandbox.put(
      root,
      files.map(([name, text]) => ({ name, data: bytes(text) })),
    );

  it("lie in its inbox as the run user's, byte for byte, and out of the repository", async () => {
    const name = safeName("it's $(touch x) größe.txt");
    expect(await put(["a.log", "one\r\n\u0000two"], [name, ""])).toEqual({ paths: ["inbox/a.log", `inbox/${name}`] });
    expect(readFileSync(join(root, "inbox/a.log"), "utf8")).toBe("one\r\n\u0000two");
    expect(readdirSync(join(root, "inbox")).sort()).toEqual([".gitignore", "a.log", name].sort());
    expect(readdirSync(root)).toEqual(["inbox"]);
    if (isRoot()) expect(statSync(join(root, "inbox/a.log")).uid).toBe(RUN_UID);
  });

  it("never take the place of another one, and the same one twice is one", async () => {
    await put(["a.tar.gz", "first"]);
    expect(await put(["a.tar.gz", "second"], ["a.tar.gz", "first"], ["a.tar.gz", "third"])).toEqual({
      paths: ["inbox/a.tar-2.gz", "inbox/a.tar.gz", "inbox/a.tar-3.gz"],
    });
    expect(await put(["a.tar.gz", "third"])).toEqual({ paths: ["inbox/a.tar-3.gz"] });
    expect(readFileSync(join(root, "inbox/a.tar.gz"), "utf8")).toBe("first");
  });

  it("follow no link: neither the folder's nor a file's, wherever it leads", async () => {
    const outside = join(place.root, `outside${spaces}`);
    mkdirSync(outside);
    place.give(outside);
    mkdirSync(join(root, ".git"));
    place.give(join(root, ".git"));
    for (const to of [outside, "/etc", ".git", "nowhere"]) {
      symlinkSync(to, join(root, "inbox"));
      expect(await put(["a.txt", "x"])).toEqual({ problem: "inbox is not a folder of the workspace" });
      expect(readdirSync(outside)).toEqual([]);
      expect(readdirSync(join(root, ".git"))).toEqual([]);
      unlinkSync(join(root, "inbox"));
    }
    mkdirSync(join(root, "inbox"));
    place.give(join(root, "inbox"));
    symlinkSync(join(outside, "a.txt"), join(root, "inbox/a.txt"));
    expect(await put(["a.txt", "x"])).toEqual({ paths: ["inbox/a-2.txt"] });
    expect(readdirSync(outside)).toEqual([]);
    expect(lstatSync(join(root, "inbox/a.txt")).isSymbolicLink()).toBe(true);
  });

  it("are told with the reason when they cannot lie there", async () => {
    writeFileSync(join(root, "inbox"), "a file");
    expect(await put(["a.txt", "x"])).toEqual({ problem: "inbox is not a folder of the workspace" });
    expect(await sandbox.put(join(place.root, "gone"), [{ name: "a.txt", data: bytes("x") }])).toMatchObject({ problem: /./ });
  });

  it("of a megabyte each arrive whole, and nothing of them is left beside", async () => {
    const big = "0123456789".repeat(100_000);
    expect(await put(["1.txt", big], ["2.txt", `${big}!`])).toEqual({ paths: ["inbox/1.txt", "inbox/2.txt"] });
    expect(statSync(join(root, "inbox/2.txt")).size).toBe(1_000_001);
    const kept = readdirSync(join(place.stateDir, "c")).flatMap((base) => readdirSync(join(place.stateDir, "c", base)));
    expect(kept.filter((name) => name.startsWith("home-"))).toEqual([]);
  });
});
