import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { bwrapArgs, type BwrapPlan } from "../../src/sandbox/bwrap-args.ts";
import { carrying } from "../../src/sandbox/carry.ts";
import { type Command, startCommand } from "../../src/sandbox/command.ts";
import { FED_SHELL, type Fed, fed, fedIn, READY, type Walls } from "../../src/sandbox/launch.ts";
import { lockKeeper } from "../../src/sandbox/lock.ts";
import type { Job } from "../../src/sandbox/messages.ts";
import { pipeMaker } from "../../src/sandbox/pipes.ts";
import { meaning } from "../../src/sandbox/provider.ts";
import { LIMITS } from "../../src/limits.ts";
import { quoted } from "../../src/sandbox/fingerprint.ts";
import {
  childrenOf,
  isRoot,
  makeWorkspace,
  processesWith,
  RUN_UID,
  shellIn,
  type TestWorkspace,
  uniqueSleep,
  until,
} from "../support/workspace.ts";

const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url));
const SMALL: Walls = { files: 300, processes: 5000, fileSize: 5120, memory: 700 * 1024 * 1024, cpu: 7 };
/** /bin/sh is one of them. */
const SHELLS = { dash: "/bin/dash", bash: "/bin/bash" };

let place: TestWorkspace;
beforeAll(() => {
  place = makeWorkspace();
});
afterAll(() => place.cleanup());

describe.each(Object.entries(SHELLS).filter(([, path]) => existsSync(path)))("the supervisor as %s", (_, path) => {
  const run = ({ first, go }: Fed) => spawnSync(path, FED_SHELL.slice(1), { argv0: "sh", input: `${first}${go}`, encoding: "utf8" });

  it("sets every limit for good, in its own units, before it says that it is ready", () => {
    const { stdout, stderr } = run(fed("cat /proc/self/limits", SMALL));
    expect(stderr).toBe(`${READY}\n`);
    const limit = (name: string) => new RegExp(`^Max ${name} +(\\S+) +(\\S+)`, "m").exec(stdout)?.slice(1);
    const both = (value: number) => [String(value), String(value)];
    expect(limit("open files")).toEqual(both(300));
    expect(limit("processes")).toEqual(both(5000));
    expect(limit("file size")).toEqual(both(5120));
    expect(limit("data size")).toEqual(both(700 * 1024 * 1024));
    expect(limit("cpu time")).toEqual(both(7));
    expect(limit("core file size")).toEqual(both(0));
  });

  it.each(["n", "f", "d", "t", "c", "u"])("starts nothing when a limit cannot be set: -%s", (letter) => {
    const { first, go } = fed("echo ran", SMALL);
    // Whoever set a lower one before does not get a higher one back.
    const bound = first.replace(new RegExp(`ulimit -${letter} \\d+`), `ulimit -${letter} x`).replace("ulimit -p 5000", "false");
    const { stdout, stderr, status } = run({ first: bound, go });
    expect({ stdout, status }).toEqual({ stdout: "", status: 125 });
    expect(stderr).toMatch(/the limits cannot be set\n$/);
  });

  it.each([
    ["has no folder to go to", fed("echo ran", SMALL, "", carrying("/nowhere", true))],
    ["goes to a folder", fedIn("/", "echo ran", SMALL)],
  ])("starts nothing without the word to go, nor with less than all of it, where it %s", (_, told) => {
    const { first, go } = told;
    for (let length = 0; length < go.length - 2; length += 1 + Math.floor(length / 8))
      expect([length, run({ first, go: go.slice(0, length) }).stdout]).toEqual([length, ""]);
    expect(run({ first, go }).stdout).toBe("ran\n");
  });

  it("runs the command in the folder of that name, whatever was done to it while it waited", () => {
    const folder = join(place.path, "moves");
    const { first, go } = fedIn(folder, "pwd", SMALL);
    const meanwhile = `rm -rf ${folder}.old; mv ${folder} ${folder}.old`;
    mkdirSync(folder);
    expect(run({ first, go: `${meanwhile}; mkdir ${folder}\n${go}` })).toMatchObject({ stdout: `${folder}\n`, status: 0 });
    expect(run({ first, go: `${meanwhile}\n${go}` })).toMatchObject({
      stdout: "Not run: its folder is not there any more.\n",
      status: 125,
    });
  });

  it("gives the command its words as they are", () => {
    for (const text of ["'", "''\\''", "a'\n'b\n", "carried\n}", "-n", "$1 `x` \\n \u0081\u0088 é漢\uFFFD !!", "x".repeat(90_000)])
      expect(run(fed(`printf %s ${quoted(text)}`, SMALL, "", carrying("/nowhere", true))).stdout).toBe(text);
  });

  it.each([
    ["exit 7", 7],
    ["kill -TERM $$", 143],
    ["kill -KILL $$", 137],
  ])("gives the exit code of `%s` and adds no word to its output", (command, status) => {
    expect(run(fed(`echo out; echo err >&2; ${command}`, SMALL))).toMatchObject({
      stdout: "out\nerr\n",
      stderr: `${READY}\n`,
      status,
    });
  });

  it("hands the command input, output and error alone, and nothing of how it carries over", () => {
    const carry = carrying("/nowhere", true);
    const { stdout } = run(fed("ls /proc/$$/fd /proc/$PPID/fd; cat; declare -p BASH_ENV; :", SMALL, "", carry));
    // Tests may have been started with more descriptors, which are far off.
    expect(stdout.split("\n").filter((fd) => /^\d\d?$/.test(fd))).toEqual(["0", "1", "2", "0", "1", "2"]);
    expect(stdout).toContain("BASH_ENV: not found");
  });
});

const PLAN: BwrapPlan = {
  ...{ enter: [], user: { uid: 64_007, gid: 64_008, drop: true }, etc: "/etc", binds: [], cwd: "/", env: {} },
  ...{ secrets: null, prelude: "", command: "true", carry: null },
};

it("is started as the run user; where it enters a control group first, setpriv makes it that user", () => {
  expect(bwrapArgs(PLAN)).toMatchObject({ as: { uid: 64_007, gid: 64_008 } });
  expect(bwrapArgs(PLAN).argv[0]).toBe("bwrap");
  const { argv, as } = bwrapArgs({ ...PLAN, enter: ["enter", "it"] });
  expect(as).toBe(null);
  expect(argv.slice(0, argv.indexOf("bwrap"))).toEqual([
    "enter",
    "it",
    "setpriv",
    "--reuid=64007",
    "--regid=64008",
    "--clear-groups",
    "--pdeathsig",
    "KILL",
  ]);
  expect(bwrapArgs({ ...PLAN, user: { uid: 64_007, gid: 64_007, drop: false } }).as).toBe(null);
});

it.each([true, false])("makes no command line for root", (drop) => {
  expect(() => bwrapArgs({ ...PLAN, user: { uid: 0, gid: 0, drop } })).toThrow("RUN_AS");
});

it.runIf(isRoot())("neither a command nor what stands around it has a group of whoever started the worker", async () => {
  const mark = uniqueSleep();
  const args = ["--groups=4,27,64009", process.execPath, WORKER, place.stateDir, place.path, `id -G; ${mark} & sleep 1`];
  const worker = spawn("setpriv", args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  worker.stdout.on("data", (data) => (said += String(data)));
  const ended = once(worker, "close");
  const bwraps = () => processesWith(`${place.stateDir}/c/`);
  const around = () => [...processesWith(mark).filter((pid) => pid !== worker.pid), ...bwraps(), ...bwraps().flatMap(childrenOf)];
  await until("it runs", () => processesWith(mark).some((pid) => wordsOf(pid)[0] === "sleep"));
  const groups = around().map((pid) => `${wordsOf(pid)[0]}: ${/^Groups:\t(.*?) *$/m.exec(status(pid))?.[1]}`);
  expect(new Set(groups)).toEqual(new Set(["bwrap: ", "/bin/sh: ", "/bin/bash: ", "sleep: "]));
  await ended;
  expect(said).toBe(`${RUN_UID}\n\n`);
});

describe("a job in the runner", () => {
  afterEach(() => vi.useRealTimers());

  /** Words for a shell in place of bubblewrap. */
  function started(script: string, changed: Partial<Job> = {}, folder = mkdtempSync(join(place.root, "pipes-"))): Command {
    const job: Job = {
      ...{ argv: ["/bin/sh", "-c", script], env: {}, cwd: "/", seccomp: null, opens: [], secretArgs: [], as: null, lock: null },
      ...{
        fed: { first: "", go: "\n" },
        spare: null,
        owner: null,
        timeoutMs: 60_000,
        floodBytes: 1000,
        waits: false,
        watched: false,
        ...changed,
      },
    };
    const claim = job.lock === null ? null : lockKeeper()(job.lock);
    const hear = { alive: () => {}, live: () => {}, ready: () => {} };
    return startCommand({ job, spool: join(place.root, "spool") }, claim, () => pipeMaker(folder)(null), hear);
  }

  it("that is not set up in time is ended as refused, with what else was said", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const mark = uniqueSleep();
    const { ended } = started(`echo half done >&2; ${mark}; :`);
    await until("it hangs", () => processesWith(mark).some((pid) => wordsOf(pid)[0] === "sleep"));
    vi.advanceTimersByTime(LIMITS.commandSetUp);
    const { how, words } = await ended;
    expect(how).toBe("refused");
    expect(words).toContain("it was not set up within 30 seconds");
    expect(words).toContain("half done");
    await until("nothing is left", () => processesWith(mark).length === 0);
  });

  it("that leaves something inside which does not end is told as interrupted, after a while", async () => {
    const stays = spawn("sleep", ["600"], { detached: true });
    const status = `echo '{"child-pid": ${stays.pid} }' >&4; echo ${READY} >&2; read -r go; echo '{"exit-code": 0 }' >&4`;
    const { how } = await started(status, { seccomp: "/dev/null" }).ended;
    stays.kill("SIGKILL");
    expect(how).toBe("interrupted");
  }, 30_000);

  it.each<[string, Partial<Job>, string | undefined, string]>([
    ["a path of the workspace that is gone", { opens: ["/nowhere/x"] }, undefined, "WORKSPACE_REFUSED"],
    ["a lock file that is gone", { lock: { file: "/nowhere/lock", shared: false } }, undefined, "SANDBOX_RUNNER"],
    ["no place for pipes", {}, "/nowhere", "SANDBOX_RUNNER"],
    ["a file of ours that is gone", { seccomp: "/nowhere/seccomp" }, undefined, "SANDBOX_RUNNER"],
    ["a tool that is missing", { argv: ["bwrap"], env: { PATH: "/nowhere" } }, undefined, "SANDBOX_MISSING"],
  ])("that cannot start says why: %s", async (_, changed, folder, code) => {
    const { how, words } = await started("true", changed, folder).ended;
    expect(how).toBe("refused");
    expect(meaning(words, { cwd: place.path, workspace: place.path }).code).toBe(code);
  });
});

it("a runner that does not do what it is told is ended, with its commands", async () => {
  const sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null });
  const mark = uniqueSleep();
  const stop = new AbortController();
  const running = shellIn(sandbox, place.path)(mark, { reach: "read", signal: stop.signal });
  await until("it runs", () => processesWith(mark).some((pid) => wordsOf(pid)[0] === "sleep"));
  process.kill(processesWith(`${place.stateDir}/run/`)[0] as number, "SIGSTOP");
  stop.abort();
  expect((await running).how).toBe("interrupted");
  expect(processesWith(mark)).toEqual([]);
  await sandbox.close();
}, 60_000);

function wordsOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
}

function status(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, "utf8");
}
