import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/core/sandbox.ts";
import { LIMITS } from "../../src/limits.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { noneSandbox } from "../../src/sandbox/none.ts";
import { makeWorkspace, processesWith, type Shell, shellIn, type TestWorkspace, uniqueSleep, until } from "../support/workspace.ts";

const SECRET = "xoxb-this-is-a-planted-secret";

describe.each([
  ["bwrap", bwrapSandbox],
  ["none", noneSandbox],
] as const)("a sandbox: %s", (name, make) => {
  let place: TestWorkspace;
  let sandbox: Sandbox;
  let sh: Shell;

  beforeAll(() => {
    place = makeWorkspace();
    sandbox = make({ stateDir: place.stateDir, runAs: null, secrets: [SECRET] });
    sh = shellIn(sandbox, place.path);
  });
  afterAll(async () => {
    await sandbox.close();
    place.cleanup();
  });

  it("passes its own test and says how strong it is", async () => {
    const badge = name === "bwrap" ? "sandboxed: no network, workspace only" : "NOT SANDBOXED";
    expect(await sandbox.selfTest(place.path)).toEqual({ ok: true, badge, problems: [] });
  });

  it("gives the output and exit code of a command", async () => {
    expect(await sh("echo out; echo err >&2; exit 3")).toMatchObject({
      how: "exited",
      exit: 3,
      output: { text: "out\nerr\n", bytes: 8, omitted: 0 },
    });
  });

  it.each([
    ["true", 0],
    ["exit 126", 126],
    ["setsid false", 1],
    ["setsid sh -c 'sleep .1; exit 3'", 3],
    ["no-such-program-at-all", 127],
    ["kill -KILL $$", 137],
    ["kill -SEGV $$", 139],
    ["kill -TERM $$", 143],
  ])("keeps the exit code of `%s`", async (command, exit) => {
    expect(await sh(command)).toMatchObject({ how: "exited", exit });
  });

  it("gives empty text for a command that prints nothing", async () => {
    expect((await sh("true")).output).toEqual({ text: "", bytes: 0, omitted: 0 });
  });

  it("starts in the folder it is told, also one with blanks and quotes in its name", async () => {
    await sh(`mkdir -p "it's a folder"`);
    const result = await sh("pwd", { cwd: `${place.path}/it's a folder` });
    expect(result.output.text).toBe(`${place.path}/it's a folder\n`);
  });

  it("keeps standard output and error in the order in which they were written", async () => {
    const { output } = await sh("for i in {1..500}; do echo o$i; echo e$i >&2; done");
    const wanted = Array.from({ length: 500 }, (_, index) => `o${index + 1}\ne${index + 1}\n`).join("");
    expect(output.text).toBe(wanted);
  });

  it("lets a command open its output again", async () => {
    expect((await sh("echo one >/dev/stdout; echo two | tee /dev/stderr >/dev/null")).output.text).toBe("one\ntwo\n");
  });

  it("starts nothing that a folder names which only looks like a repository", async () => {
    const bait = String.raw`[core]\nrepositoryformatversion = 0\nbare = false\nworktree = %s\nfsmonitor = "touch started; false"\n`;
    await sh(`git init -q --bare bare; printf '${bait}' "$PWD" >bare/config`);
    await sh("git -C bare status; cd bare; git status");
    expect((await sh("find . -name started")).output.text).toBe("");
    await sh("GIT_CONFIG_COUNT=0 git -C bare status");
    expect((await sh("find . -name started; rm -r bare started", { reach: "approved" })).output.text).toBe("./started\n");
  });

  it("closes the input: a command that reads it goes on at once", async () => {
    expect(await sh("cat; read -r line || echo no input")).toMatchObject({ exit: 0, output: { text: "no input\n" } });
  });

  it("ends a command and its background children at its time", async () => {
    const sleep = uniqueSleep();
    const result = await sh(`echo begun; ${sleep} & ${sleep}`, { timeoutMs: 700 });
    expect(result).toMatchObject({ how: "timeout", exit: null, output: { text: "begun\n" } });
    expect(processesWith(sleep)).toEqual([]);
  });

  it("returns when the command ends and takes its background children along", async () => {
    const sleep = uniqueSleep();
    const result = await sh(`${sleep} & echo done`);
    expect(result).toMatchObject({ how: "exited", exit: 0, output: { text: "done\n" } });
    expect(processesWith(sleep)).toEqual([]);
  });

  it("ends a command that is stopped, whatever signals it ignores", async () => {
    const sleep = uniqueSleep();
    const stop = new AbortController();
    const onChunk = () => stop.abort();
    const result = await sh(`trap "" TERM INT HUP; echo begun; while :; do ${sleep}; done`, { signal: stop.signal, onChunk });
    expect(result).toMatchObject({ how: "cancelled", exit: null, output: { text: "begun\n" } });
    expect(processesWith(sleep)).toEqual([]);
  });

  it("runs nothing when it was stopped before", async () => {
    expect(await sh("touch never", { signal: AbortSignal.abort() })).toMatchObject({ how: "cancelled", exit: null });
    expect((await sh("ls never")).exit).toBe(2);
  });

  it("keeps the beginning and the end of a long output and counts what is between exactly", async () => {
    const { output, whole } = await sh("yes | head -c 50000000; echo; echo the end");
    expect(output.bytes).toBe(50_000_009);
    expect(output.text).toMatch(/^(y\n)+\[\.\.\. \d+ bytes left out \.\.\.\]\n(y\n)+\nthe end\n$/);
    const note = `[... ${output.omitted} bytes left out ...]\n`;
    expect(output.text.length - note.length + output.omitted).toBe(output.bytes);
    expect(output.text.length).toBeLessThan(LIMITS.outputHead + LIMITS.outputTail + 100);
    expect(whole?.length).toBeGreaterThan(LIMITS.outputFile);
  });

  it("ends a flood", async () => {
    const result = await sh("yes");
    expect(result).toMatchObject({ how: "flood", exit: null });
    expect(result.output.bytes).toBeGreaterThan(LIMITS.outputFlood);
  });

  it("cleans what is not text", async () => {
    const { output } = await sh(String.raw`printf 'a\0b\xff\xfe \e[31mred\e[0m \e]0;title\a10%%\r50%%\r100%%\n\xe4\xb8'`);
    expect(output.text).toBe("100%\n\uFFFD");
    expect((await sh(String.raw`printf 'a\0b\xffc \e[31mred\e[0m\n'`)).output.text).toBe("a\uFFFDb\uFFFDc red\n");
  });

  it("streams while the command runs", async () => {
    const heard: string[] = [];
    await sh("echo first; sleep 0.3; printf second", { onChunk: (text) => heard.push(text) });
    expect(heard).toEqual(["first\n", "second"]);
  });

  it("shows a known secret nowhere", async () => {
    const heard: string[] = [];
    const { output } = await sh(`echo "key=${SECRET}."`, { onChunk: (text) => heard.push(text) });
    expect([output.text, ...heard]).toEqual(["key=[secret].\n", "key=[secret].\n"]);
  });

  it("lets one command at a time into a workspace", async () => {
    const other = make({ stateDir: place.stateDir, runAs: null });
    const second = shellIn(other, place.path);
    const step = "mkdir inside && sleep 0.2 && rmdir inside";
    const results = await Promise.all([sh(step), second(step, { conversation: "other" }), sh(step), second(step)]);
    expect(results.map((result) => result.exit)).toEqual([0, 0, 0, 0]);
    await other.close();
  });

  it("counts a command's time from when it may begin, and lets go of one that is stopped while it waits", async () => {
    let begun = false;
    const first = sh("echo begun; sleep 1.5", { onChunk: () => void (begun = true) });
    await until("the first holds the workspace", () => begun);
    const stop = new AbortController();
    const given = sh("touch given-up", { signal: stop.signal });
    const waiting = sh("echo mine", { timeoutMs: 1000, conversation: "other" });
    stop.abort();
    expect(await given).toMatchObject({ how: "cancelled" });
    expect(await first).toMatchObject({ how: "exited", exit: 0 });
    expect(await waiting).toMatchObject({ how: "exited", exit: 0, output: { text: "mine\n" } });
    expect((await sh("ls given-up")).exit).toBe(2);
  });

  it("tells a command whose runner dies as interrupted, leaves nothing of it, and goes on", async () => {
    const sleep = uniqueSleep();
    const running = sh(`echo begun; ${sleep}`, {
      onChunk: () => process.kill(processesWith(`${place.stateDir}/run/`)[0] as number, "SIGKILL"),
    });
    expect(await running).toMatchObject({ how: "interrupted", exit: null, output: { text: "begun\n" } });
    expect(processesWith(sleep)).toEqual([]);
    expect(await sh("echo again")).toMatchObject({ how: "exited", output: { text: "again\n" } });
  });

  it.each([
    ["one that is too long", "x".repeat(LIMITS.commandBytes + 1), {}, "longer than"],
    ["one with a NUL", "echo a\0b", {}, "NUL"],
    ["one outside of the workspace", "true", { cwd: "/tmp" }, "outside of the workspace"],
    ["one that climbs out of it", "true", { cwd: "./.." }, "outside of the workspace"],
    ["one in a folder that is not there", "true", { cwd: "./nowhere" }, "is not there"],
  ])("refuses a command, and says why: %s", async (_, command, { cwd }: { cwd?: string }, why) => {
    const result = await sh(command, cwd === undefined ? {} : { cwd: cwd.replace(".", place.path) });
    expect(result).toMatchObject({ how: "refused", exit: null, output: { text: "" } });
    expect(result.why).toContain(why);
  });

  it("runs a command of the greatest length", async () => {
    const command = `echo ${"x".repeat(LIMITS.commandBytes - 20)} | wc -c`;
    expect((await sh(command)).output.text).toBe(`${LIMITS.commandBytes - 19}\n`);
  });

  it("ends what runs when it is closed, and runs nothing afterwards", async () => {
    const mine = make({ stateDir: place.stateDir, runAs: null });
    const sleep = uniqueSleep();
    const running = shellIn(mine, place.path)(sleep);
    await until("the command runs", () => processesWith(sleep).length > 0);
    await mine.close();
    expect(await running).toMatchObject({ how: "cancelled" });
    expect(processesWith(sleep)).toEqual([]);
    expect(await shellIn(mine, place.path)("true")).toMatchObject({ how: "refused" });
  });
});
