import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/core/sandbox.ts";
import { LIMITS } from "../../src/limits.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { noneSandbox } from "../../src/sandbox/none.ts";
import { makeWorkspace, type Shell, shellIn, type TestWorkspace } from "../support/workspace.ts";

const CONVERSATION = "slack:T1:C1:1.1";

describe.each([
  ["bwrap", bwrapSandbox],
  ["none", noneSandbox],
] as const)("a long output in a sandbox: %s", (provider, make) => {
  let place: TestWorkspace;
  let sandbox: Sandbox;
  let sh: Shell;
  beforeAll(async () => {
    place = makeWorkspace();
    sandbox = make({ stateDir: place.stateDir, runAs: null });
    sh = shellIn(sandbox, place.path);
    await sh("true");
  });
  afterAll(async () => {
    await sandbox.close();
    place.cleanup();
  });

  const keep = async (text: string, name = "output-aaaaaaaa1.txt", conversation = CONVERSATION) =>
    (await sandbox.keep({ conversation, workspace: place.path, name }, text)) ?? "";

  test("is kept where the conversation's commands can read it, byte for byte", async () => {
    const text = `'quotes' "$HOME" \`id\` %s \\n héllo 漢字 🎉\n${"漢字 and more\n".repeat(LIMITS.outputFile / 20)}`;
    const path = await keep(text);
    if (provider === "bwrap") expect(path).toBe("/tmp/output-aaaaaaaa1.txt");
    const { output, exit } = await sh(`head -n 1 ${path}; wc -c < ${path}; tail -n 1 ${path}; stat -c %a ${path}`, { reach: "read" });
    const [first, bytes, last, mode] = output.text.trimEnd().split("\n");
    expect([first, Number(bytes), last, mode, exit]).toEqual([text.split("\n")[0], Buffer.byteLength(text), "漢字 and more", "600", 0]);
  });

  test("is written anew when the same call is", async () => {
    await keep("one");
    const path = await keep("two");
    expect((await sh(`cat ${path}`)).output.text).toBe("two");
  });

  test("never goes through a link that a command has put in its way", async () => {
    const victim = join(place.path, "victim.txt");
    writeFileSync(victim, "mine");
    const path = await keep("x", "output-bbbbbbbb2.txt");
    await sh(`ln -sf ${victim} ${path}`);
    if (provider === "none") symlinkSync(victim, path.replace("bbbbbbbb2", "cccccccc3"));
    await keep("y".repeat(50_000), "output-bbbbbbbb2.txt");
    await keep("y".repeat(50_000), "output-cccccccc3.txt");
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect((await sh(`wc -c < ${path}`)).output.text).toBe("50000\n");
  });

  test("is not kept, and nothing else happens, when a folder has its name", async () => {
    const path = await keep("x", "output-dddddddd4.txt");
    await sh(`rm -f ${path}; mkdir ${path}`);
    expect(await keep("y", "output-dddddddd4.txt")).toBe("");
  });

  test.runIf(provider === "bwrap")("is not to be seen by other conversations", async () => {
    const path = await keep("x");
    expect((await sh(`ls ${path}`, { conversation: "slack:T1:C1:9.9" })).exit).not.toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test("is not kept in a workspace that was never looked at", async () => {
    mkdirSync(join(place.root, "other"));
    expect(await sandbox.keep({ conversation: CONVERSATION, workspace: join(place.root, "other"), name: "a.txt" }, "x")).toBeNull();
  });
});
