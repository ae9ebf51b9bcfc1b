import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, conversationScript, say } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";
import { until } from "../support/redis.ts";
import { type TestWorkspace, makeWorkspace, processesWith, uniqueSleep } from "../support/workspace.ts";
import { DECKHAND, deckhand, entriesIn, onTerminal, shell, start } from "./kit.ts";

const LONG = uniqueSleep();
let place: TestWorkspace;
let model: ScriptedModel;
let env: Record<string, string>;

beforeAll(async () => {
  place = makeWorkspace();
  model = await startScriptedModel(
    conversationScript([
      { when: /list|列出/, steps: [() => bash("ls -A"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
      {
        when: /make (\w+)/,
        steps: [() => bash("rm -f old; echo hello > made && cat made", "I make it."), ({ lastResult }) => say(`Result: ${lastResult}`)],
      },
      { when: /reboot/, steps: [() => bash("sudo reboot"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
      { when: /sleep/, steps: [() => bash(LONG), ({ lastResult }) => say(`Result: ${lastResult}`)] },
      { when: /two things/, steps: [() => bash("rm -f 1; touch one"), () => bash("rm -f 2; touch two"), () => say("both")] },
    ]),
  );
  env = { OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: "scripted", DECKHAND_STATE: place.stateDir };
});

afterAll(async () => {
  await model.close();
  place.cleanup();
});

const run = (...args: string[]) => deckhand(["run", "--workspace", place.path, ...args], { env });

describe("deckhand run --json", () => {
  test("prints one entry a line, from `opened` to `final`, numbered without a gap", async () => {
    const { code, stdout, stderr } = await run("--json", "--approve", "never", "list the files");
    const entries = entriesIn(stdout);
    expect(entries.map((e) => e.type)).toEqual(["opened", "message", "model", "judged", "run-started", "run-ended", "model", "final"]);
    expect(entries.map((e) => e.seq)).toEqual(entries.map((_, index) => index + 1));
    expect(new Set(entries.map((e) => e.v))).toEqual(new Set([1]));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("ends with 0 also when a command was denied, and the command has not run", async () => {
    const { code, stdout } = await run("--json", "--approve", "never", "make denied");
    const entries = entriesIn(stdout);
    expect(entries.find((e) => e.type === "approval-decided")).toMatchObject({ decision: "denied" });
    expect(entries.map((e) => e.type)).not.toContain("run-started");
    expect(entries.at(-1)).toMatchObject({ type: "final", text: expect.stringContaining("Not run") as string });
    expect(code).toBe(0);
  });

  test("runs a risky command with --approve auto", async () => {
    const { code, stdout } = await run("--json", "--approve", "auto", "make something");
    expect(entriesIn(stdout).find((e) => e.type === "run-ended")).toMatchObject({ how: "exited", exit: 0, output: { text: "hello\n" } });
    expect(readFileSync(join(place.path, "made"), "utf8")).toBe("hello\n");
    expect(code).toBe(0);
  });

  test("never runs a refused command, whatever --approve says", async () => {
    const { code, stdout } = await run("--json", "--approve", "auto", "reboot it");
    const entries = entriesIn(stdout);
    expect(entries.find((e) => e.type === "judged")).toMatchObject({ verdict: "deny" });
    expect(entries.map((e) => e.type)).not.toContain("run-started");
    expect(code).toBe(0);
  });

  test("takes a task in Chinese, and a relative workspace from where it is typed", async () => {
    const { code, stdout } = await deckhand(["run", "--json", "--workspace", basename(place.path), "请列出文件"], {
      env,
      cwd: dirname(place.path),
    });
    const entries = entriesIn(stdout);
    expect(entries[1]).toMatchObject({ type: "message", text: "请列出文件" });
    expect(entries.find((e) => e.type === "run-started")).toMatchObject({ cwd: place.path });
    expect(code).toBe(0);
  });

  test("takes the current folder as its workspace, and several words as one task", async () => {
    const { code, stdout } = await deckhand(["run", "--json", "list", "the", "files"], { env, cwd: place.path });
    const entries = entriesIn(stdout);
    expect(entries[1]).toMatchObject({ text: "list the files" });
    expect(entries.find((e) => e.type === "run-started")).toMatchObject({ cwd: place.path });
    expect(code).toBe(0);
  });

  test("stops without a word when nobody reads on", async () => {
    const { stdout, stderr } = await shell(`"$DECKHAND" run --json --workspace '${place.path}' list | head -n 1`, { env });
    expect(entriesIn(stdout)).toMatchObject([{ type: "opened" }]);
    expect(stderr).toBe("");
  });
});

describe("deckhand run", () => {
  test("shows each command with its output, and the answer", async () => {
    const { code, stdout, stderr } = await run("--approve", "auto", "make something");
    expect(stdout).toMatch(
      /^I make it\.\n\? rm -f old; echo hello > made && cat made\n {2}why I ask: .+\n {2}where: .+ · sandboxed: .+\n {2}Approved by you · .+\n\$ rm -f old; echo hello > made && cat made\nhello\n {2}\[exit 0, \d+\.\d s\]\n\nResult: hello/,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("denies what needs approval when nobody is at the keyboard, and says so", async () => {
    const { code, stdout, stderr } = await run("make it");
    expect(stderr).toMatch(/Nobody is at the keyboard to approve this, so it is denied\. Use --approve auto/);
    expect(stdout).toMatch(/Denied by you · .+ · "nobody is at the keyboard to approve it"\n\nResult: Not run/);
    expect(code).toBe(0);
  });

  test("shows a refused command and why it is refused", async () => {
    const { stdout } = await run("reboot it");
    expect(stdout).toMatch(/^\$ sudo reboot\n {2}Not run: this is never allowed here \(`sudo` takes or gives more rights\)/);
  });

  test("asks at a terminal, and takes yes and no", async () => {
    const running = start(onTerminal(DECKHAND, "run", "--workspace", place.path, "two things"), { env });
    await running.says(/\? rm -f 1; touch one[\s\S]*Run it\? \[y\/N\] /);
    running.type("y\n");
    await running.says(/\$ rm -f 1; touch one[\s\S]*\? rm -f 2; touch two[\s\S]*Run it\? \[y\/N\] /);
    running.type("\n");
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/Approved by you[\s\S]*Denied by you[\s\S]*both/);
    expect(stdout).not.toMatch(/\$ rm -f 2/);
    expect(code).toBe(0);
  });

  test("takes the end of input at a terminal as no", async () => {
    const running = start(onTerminal(DECKHAND, "run", "--workspace", place.path, "make it"), { env });
    await running.says(/Run it\? \[y\/N\] /);
    running.type("\x04");
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/Denied by you[\s\S]*Result: Not run/);
    expect(code).toBe(0);
  });
});

describe("interrupted", () => {
  const gone = () => until("the command is gone", () => processesWith(LONG).length === 0);

  test("by SIGINT while a command runs, it ends with 130 and leaves no process", async () => {
    const running = start([DECKHAND, "run", "--json", "--approve", "auto", "--workspace", place.path, "sleep"], { env });
    await running.says(/"run-started"/);
    running.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    expect(processesWith(LONG)).toEqual([]);
    expect(entriesIn(stdout).at(-1)).toMatchObject({ type: "run-ended", how: "interrupted" });
    expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
  });

  test("by Ctrl-C at a terminal while a command runs, likewise", async () => {
    const running = start(onTerminal(DECKHAND, "run", "--approve", "auto", "--workspace", place.path, "sleep"), { env });
    await running.says(/\$ sleep/);
    running.type("\x03");
    const { code, stdout } = await running.ended;
    expect(processesWith(LONG)).toEqual([]);
    expect(stdout).toMatch(/\[interrupted, /);
    expect(code).toBe(130);
  });

  test("by Ctrl-C at the question, it ends with 130 and has run nothing", async () => {
    const running = start(onTerminal(DECKHAND, "run", "--workspace", place.path, "make it"), { env });
    await running.says(/Run it\? \[y\/N\] /);
    running.type("\x03");
    const { code, stdout } = await running.ended;
    expect(stdout).not.toMatch(/\$ rm|Denied|Something went wrong/);
    expect(code).toBe(130);
  });

  test("by SIGKILL, its command goes too", async () => {
    const running = start([DECKHAND, "run", "--json", "--approve", "auto", "--workspace", place.path, "sleep"], { env });
    await until("the command runs", () => processesWith(LONG).length > 0);
    running.kill("SIGKILL");
    await running.ended;
    await gone();
  });
});
