import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Sandbox } from "../../src/core/sandbox.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { makeWorkspace, processesWith, type Shell, shellIn, type TestWorkspace, until } from "../support/workspace.ts";

const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url));

let place: TestWorkspace;
let sandbox: Sandbox;
let sh: Shell;

beforeAll(() => {
  place = makeWorkspace();
  sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
  sh = shellIn(sandbox, place.path);
});
afterAll(async () => {
  await sandbox.close();
  place.cleanup();
});

it("a workspace that a command in a folder above swaps for a link while another waits does not lead out", async () => {
  const outside = join(place.root, "outside");
  const inner = join(place.path, "inner");
  for (const folder of [outside, inner]) {
    mkdirSync(folder);
    place.give(folder);
  }
  const innerShell = shellIn(sandbox, inner);
  let begun = false;
  const first = innerShell("echo begun; until [ -e go ]; do sleep 0.1; done", { onChunk: () => void (begun = true) });
  await until("the first holds the lock", () => begun);
  const other = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
  const second = shellIn(other, inner)("touch made", { conversation: "other" });
  await until("the second waits", () => processesWith("flock").some(waitsInLine));
  await sh(`mv inner moved && ln -s ${outside} inner && touch moved/go`);
  await Promise.all([first, second]);
  await other.close();
  expect(readdirSync(outside)).toEqual([]);
  expect(await innerShell("true")).toMatchObject({ how: "refused", why: expect.stringContaining(outside) as string });
});

/** Holds a file of ours open that is there to be locked. */
function waitsInLine(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/fd/3`).startsWith(join(place.stateDir, "lock"));
  } catch {
    return false; // gone, or without such a descriptor
  }
}

it("a descriptor that the worker was started with does not reach commands", () => {
  const shell = 'exec 251</etc/passwd; exec "$0" "$@"';
  const args = ["-c", shell, process.execPath, WORKER, place.stateDir, place.path, "ls /proc/$$/fd /proc/1/fd; :"];
  expect(execFileSync("bash", args, { encoding: "utf8" })).not.toContain("251");
});

it("a terminal's interrupt ends a command only when the worker says so", async () => {
  const result = await sh("echo begun; sleep 0.5; echo done", {
    onChunk: () => process.kill(processesWith(`${place.stateDir}/run/`)[0] as number, "SIGINT"),
  });
  expect(result).toMatchObject({ how: "exited", exit: 0, output: { text: "begun\ndone\n" } });
});
