import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, conversationScript, say } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";
import { freePort } from "../support/redis.ts";
import { RUN_UID, type TestWorkspace, isRoot, makeWorkspace } from "../support/workspace.ts";
import { DECKHAND, ROOT, deckhand, entriesIn, onTerminal, start, startStub } from "./kit.ts";

const PAGE = "<!doctype html><title>Welcome</title><p>Not a model.";
let place: TestWorkspace;
let model: ScriptedModel;
let env: Record<string, string>;

beforeAll(async () => {
  place = makeWorkspace();
  model = await startScriptedModel(
    conversationScript([
      { when: /list/, steps: [() => bash("ls -A"), () => say("listed")] },
      { when: /forever/, steps: Array.from({ length: 60 }, () => () => bash("ls -A")) },
    ]),
  );
  env = { OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: "scripted", DECKHAND_STATE: place.stateDir };
});

afterAll(async () => {
  await model.close();
  place.cleanup();
});

const runIn = (workspace: string, more: Record<string, string> = {}) =>
  deckhand(["run", "--json", "--workspace", workspace, "list the files"], { env: { ...env, ...more } });

function folder(name: string, mode = 0o755): string {
  const path = join(place.root, name);
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}

describe("a workspace that commands cannot use", () => {
  test("because it belongs to root (or is closed to us): exit 3, the mend, and no entry", async () => {
    const path = folder("closed", 0o555);
    const { code, stdout, stderr } = await runIn(path);
    if (isRoot()) expect(stderr).toMatch(new RegExp(`^Commands must not run as root: .*\`chown -R \\S+ ${path}\`.*\\(RUN_AS\\)\n$`));
    else expect(stderr).toMatch(new RegExp(`\`chmod u\\+rwx ${path}\`.*\\(WORKSPACE_UNUSABLE\\)\n$`));
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  });

  test("because the user of DECKHAND_RUN_AS may not write there: exit 3 and the mend", async () => {
    const path = folder("foreign", 0o755);
    const { code, stderr } = await runIn(path, { DECKHAND_RUN_AS: isRoot() ? String(RUN_UID) : "nosuchuser" });
    const mend = isRoot() ? `\`chown -R ${RUN_UID}:${RUN_UID} ${path}\`.*\\(WORKSPACE_UNUSABLE\\)` : "there is no such user.*\\(CONFIG\\)";
    expect(stderr).toMatch(new RegExp(mend));
    expect(code).toBe(3);
  });

  test("because its own owner may not write there: exit 3 and the chmod that mends it", async () => {
    const path = folder("locked", 0o555);
    if (isRoot()) chownSync(path, RUN_UID, RUN_UID);
    const { code, stderr } = await runIn(path);
    expect(stderr).toMatch(new RegExp(`\`chmod u\\+rwx ${path}\`.*\\(WORKSPACE_UNUSABLE\\)`));
    expect(code).toBe(3);
  });

  test("because it is not there, is a file or a folder of the system: exit 3 and why", async () => {
    const file = join(place.root, "file");
    writeFileSync(file, "");
    const wrong = await Promise.all([join(place.root, "nowhere"), file, "/etc"].map((path) => runIn(path)));
    expect(wrong.map(({ code }) => code)).toEqual([3, 3, 3]);
    expect(wrong[0]?.stderr).toMatch(/nowhere is not there.*\(WORKSPACE_MISSING\)/);
    expect(wrong[1]?.stderr).toMatch(/not a folder.*\(WORKSPACE_REFUSED\)/);
    expect(wrong[2]?.stderr).toMatch(/a system folder.*\(WORKSPACE_REFUSED\)/);
  });

  test("because Deckhand itself lies in it: exit 3 and why", async () => {
    const { code, stderr } = await runIn(ROOT);
    expect(stderr).toMatch(/\(it contains \S+\) cannot be a workspace.*\(WORKSPACE_REFUSED\)\n$/);
    expect(code).toBe(3);
  });

  test("but a link to a good one is followed: whoever typed it meant that", async () => {
    const link = join(place.root, "link");
    symlinkSync(place.path, link);
    const { code, stdout } = await runIn(link);
    expect(entriesIn(stdout).find((e) => e.type === "run-started")).toMatchObject({ cwd: place.path });
    expect(code).toBe(0);
  });
});

describe("a model that does not answer as one", () => {
  const cases: [string, number, string, string, RegExp][] = [
    ["401", 401, '{"error":{"message":"bad key"}}', "application/json", /refuses our key.*OPENAI_API_KEY.*\(MODEL_AUTH\)/],
    ["404", 404, '{"error":{"message":"no such route"}}', "application/json", /OPENAI_BASE_URL.*\(MODEL_URL\)/],
    ["HTML", 200, PAGE, "text/html", /web page.*OPENAI_BASE_URL.*\(MODEL_HTML\)/],
  ];

  test.each(cases)("%s: exit 1, and the answer is a line with the code and the mend", async (_name, status, body, type, line) => {
    const stub = await startStub(status, body, type);
    try {
      const { code, stdout, stderr } = await deckhand(["run", "--workspace", place.path, "list"], {
        env: { ...env, OPENAI_BASE_URL: stub.baseUrl },
      });
      expect(stdout).toMatch(line);
      expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    } finally {
      await stub.close();
    }
  });

  test("nothing listens there: exit 1 after a few tries, the last entry is `failed`", async () => {
    const { code, stdout } = await runIn(place.path, { OPENAI_BASE_URL: `http://127.0.0.1:${await freePort()}/v1` });
    expect(entriesIn(stdout).at(-1)).toMatchObject({ type: "failed", code: "MODEL_DOWN" });
    expect(code).toBe(1);
  });

  test("goes in circles with nobody at the keyboard to let it go on: exit 1", async () => {
    const { code, stdout } = await deckhand(["run", "--json", "--approve", "auto", "--workspace", place.path, "forever"], { env });
    const entries = entriesIn(stdout);
    expect(entries.find(({ type }) => type === "paused")).toMatchObject({
      text: expect.stringMatching(/^I have paused: .* Shall I go on/),
    });
    expect(entries.at(-1)).toMatchObject({ type: "final", reason: "stopped" });
    expect(code).toBe(1);
  });

  test("goes in circles before somebody at the keyboard: it goes on as often as they say yes", async () => {
    const running = start(onTerminal(DECKHAND, "run", "--workspace", place.path, "forever"), { env });
    await running.says(/\? I have paused: it did the same 5 times in a row[\s\S]*Go on\? \[y\/N\] /);
    running.type("y\n");
    await running.says(/Go on\? \[y\/N\] [\s\S]*Go on\? \[y\/N\] /);
    running.type("\n");
    const { code, stdout } = await running.ended;
    expect(stdout.match(/\$ ls -A/g)).toHaveLength(10);
    expect(stdout).toMatch(/Stopped by you\. No command was running\.\s+$/);
    expect(code).toBe(1);
  });
});

describe("wrong use", () => {
  test.each([
    [["run"], /needs a task in words/],
    [["run", "  "], /needs a task in words/],
    [["run", "--frobnicate", "list"], /Unknown option '--frobnicate'[\s\S]*Use: deckhand run /],
    [["run", "--workspace"], /--workspace <value>' argument missing[\s\S]*Use: deckhand run /],
    [["run", "--approve", "maybe", "list"], /--approve takes ask, never, auto, not "maybe"/],
  ])("%j: exit 2 and how it is used", async (args, says) => {
    const { code, stdout, stderr } = await deckhand(args, { env });
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  test("a setting that cannot be read: exit 3, each with its name and mend", async () => {
    const { code, stderr } = await runIn(place.path, { DECKHAND_POSTURE: "brave", OPENAI_BASE_URL: "nonsense" });
    expect(stderr).toMatch(
      /OPENAI_BASE_URL: must be an address .*\(CONFIG\)\nDECKHAND_POSTURE: must be one of careful, contained.*\(CONFIG\)\n/,
    );
    expect(code).toBe(3);
  });

  test("a state folder that cannot be made: exit 3 and the setting", async () => {
    const file = join(place.root, "in-the-way");
    writeFileSync(file, "");
    const { code, stderr } = await runIn(place.path, { DECKHAND_STATE: join(file, "state") });
    expect(stderr).toMatch(/^Deckhand's state folder cannot be used: .*DECKHAND_STATE.*\(STATE_UNUSABLE\)\n$/);
    expect(code).toBe(3);
  });
});

test("a program of the workspace never stands in for one around the sandbox, though the PATH leads there", {
  timeout: 90_000,
}, async () => {
  const bin = join(place.path, "bin");
  mkdirSync(bin);
  for (const name of ["setpriv", "flock", "bwrap"]) {
    writeFileSync(join(bin, name), `#!/bin/sh\ntouch ${place.path}/fooled\n`, { mode: 0o755 });
  }
  const { code } = await runIn(place.path, { PATH: `${bin}:${process.env["PATH"]}` });
  expect(() => readFileSync(join(place.path, "fooled"))).toThrow(/ENOENT/);
  expect(code).toBe(0);
  rmSync(bin, { recursive: true });
});

test("without a sandbox it says so before anything else", async () => {
  const { code, stderr, stdout } = await runIn(place.path, { DECKHAND_SANDBOX: "none" });
  expect(stderr).toBe("Commands here run WITHOUT a sandbox (DECKHAND_SANDBOX=none).\n");
  expect(entriesIn(stdout).find((e) => e.type === "run-started")).toMatchObject({ sandbox: "NOT SANDBOXED" });
  expect(code).toBe(0);
});

test("a rule of deckhand.yaml for the workspace holds in the terminal too", async () => {
  const file = join(place.root, "deckhand.yaml");
  const rule = "{name: no lists, pattern: [ls], decision: deny, reason: secret, scope: {workspace: own}, match: [ls]}";
  writeFileSync(file, `workspaces: {own: {path: ${place.path}}}\nrules:\n  - ${rule}\n`);
  const { code, stdout } = await runIn(place.path, { DECKHAND_CONFIG: file });
  const entries = entriesIn(stdout);
  expect(entries[0]).toMatchObject({ type: "opened", workspace: "own" });
  expect(entries.find((e) => e.type === "judged")).toMatchObject({ verdict: "deny", rule: "no lists", reasons: [{ text: "secret" }] });
  expect(entries.map((e) => e.type)).not.toContain("run-started");
  expect(code).toBe(0);
});

test("`use` with a model that is not in the list: exit 1 and the list, and nothing is asked", async () => {
  const file = join(place.root, "models.yaml");
  writeFileSync(file, "models: [small]\n");
  const before = model.requests.length;
  const args = ["run", "--json", "--workspace", place.path, "use other: list the files"];
  const { code, stdout, stderr } = await deckhand(args, { env: { ...env, DECKHAND_CONFIG: file } });
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: 'There is no model "other" to choose here. You can use: scripted, small.\n',
  });
  expect(model.requests).toHaveLength(before);
});
