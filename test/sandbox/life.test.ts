import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Sandbox } from "../../src/core/ports.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import {
  makeWorkspace,
  processesWith,
  type Shell,
  shellIn,
  type TestWorkspace,
  uniqueSleep,
  until,
  zombies,
} from "../support/workspace.ts";

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

it.each([
  ["in a session of its own", (sleep: string) => `setsid ${sleep} & echo done`],
  ["without output, hung up, twice removed", (sleep: string) => `(setsid nohup ${sleep} >/dev/null 2>&1 &); echo done`],
  ["deaf to all signals", (sleep: string) => `(trap "" TERM INT HUP QUIT USR1; setsid ${sleep} &) ; echo done`],
])("a process left behind %s ends with the command", async (_, command) => {
  const sleep = uniqueSleep();
  expect(await sh(command(sleep))).toMatchObject({ how: "exited", exit: 0, output: { text: "done\n" } });
  expect(processesWith(sleep)).toEqual([]);
});

it("a fork bomb ends at its time and leaves nothing", async () => {
  const mark = uniqueSleep();
  const result = await sh(`: ${mark}; bomb() { bomb | bomb & }; bomb; ${mark}`, { timeoutMs: 1500 });
  expect(result.how).toBe("timeout");
  expect(processesWith(mark)).toEqual([]);
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
  const second = innerShell("touch made", { conversation: "other" });
  await until("the second waits", () => processesWith("touch made").length > 0);
  await sh(`mv inner moved && ln -s ${outside} inner && touch moved/go`);
  await Promise.all([first, second]);
  expect(readdirSync(outside)).toEqual([]);
  expect(await innerShell("true")).toMatchObject({ how: "refused", why: expect.stringContaining(outside) as string });
});

it("processes are counted for each sandbox by itself", async () => {
  const other = makeWorkspace();
  const second = bwrapSandbox({ stateDir: other.stateDir, runAs: null });
  const fill = `perl -e 'while ($n < 400) { $p = fork; last unless defined $p; if (!$p) { sleep 20; exit } $n++ } print $n; sleep 1'`;
  const results = await Promise.all([sh(fill), shellIn(second, other.path)(fill)]);
  for (const { output } of results) {
    expect(Number(output.text)).toBeGreaterThan(240);
    expect(Number(output.text)).toBeLessThan(256);
  }
  await second.close();
  other.cleanup();
});

it("a command that kills all that it can reach only ends itself", async () => {
  expect(await sh("(kill -KILL -1); echo not reached")).toMatchObject({ how: "exited", exit: 137, output: { text: "" } });
});

it.each([
  ["while a command runs", (sleep: string) => `echo begun; setsid ${sleep} & ${sleep}`],
  ["while one floods", (sleep: string) => `echo begun; (sleep 0.2; yes | head -c 60000000) & ${sleep}`],
])("when the worker is killed %s, nothing is left of it", async (_, command) => {
  const sleep = uniqueSleep();
  const worker = fork(WORKER, [place.stateDir, place.path, command(sleep)], {
    execArgv: [],
  });
  await once(worker, "message");
  expect(processesWith(sleep)).not.toEqual([]);
  worker.kill("SIGKILL");
  await until("no process of the command is left", () => processesWith(sleep).length === 0);
  expect(await sh("echo free")).toMatchObject({ how: "exited", output: { text: "free\n" } });
});

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

it("runs leave no process, no zombie, no pipe and no lock behind", async () => {
  const known = zombies("bwrap");
  for (let run = 0; run < 12; run++) await sh(run % 3 === 0 ? "sleep 9 & true" : "true");
  const stopped = await sh("sleep 9", { timeoutMs: 100 });
  expect(stopped.how).toBe("timeout");
  await until("no new zombie stays", () => zombies("bwrap").every((pid) => known.includes(pid)));
  expect(processesWith(`flock -x -o ${place.stateDir}`)).toEqual([]);
  const used = readdirSync(`${place.stateDir}/run`).flatMap((folder) => readdirSync(`${place.stateDir}/run/${folder}`));
  expect(used.length).toBeLessThan(17);
});
