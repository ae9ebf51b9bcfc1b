import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVENTS, SCOPES } from "../../src/chat/slack/manifest.ts";
import { COMMAND_NAMES } from "../../src/cli/cli.ts";
import { type TestRedis, freePort, startRedis, until } from "../support/redis.ts";
import { type TestWorkspace, makeWorkspace, processesWith, uniqueSleep } from "../support/workspace.ts";
import { DECKHAND, deckhand, shell, start } from "./kit.ts";

let place: TestWorkspace;
let env: Record<string, string>;

beforeAll(() => {
  place = makeWorkspace();
  env = { DECKHAND_STATE: place.stateDir };
});

afterAll(() => place.cleanup());

describe("deckhand judge", () => {
  const judge = (input: string, ...args: string[]) => deckhand(["judge", ...args], { env, input });
  const verdicts = (stdout: string) =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { verdict?: string; error?: string }).verdict ?? "error");

  test("prints auto, deny, ask for a command of each kind", async () => {
    const { code, stdout, stderr } = await judge('{"command":"ls"}\n{"command":"sudo reboot"}\n{"command":"curl http://x.example"}\n');
    expect(verdicts(stdout)).toEqual(["auto", "deny", "ask"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("names a line that is broken, goes on after it and ends with 2", async () => {
    const { code, stdout } = await judge('{"command":"ls"}\nnonsense\n{"command":"ls"}\n');
    expect(verdicts(stdout)).toEqual(["auto", "error", "auto"]);
    expect(stdout).toContain('{"error":"is not JSON","line":2}\n');
    expect(code).toBe(2);
  });

  test("ends with 0 and prints nothing when there is nothing to judge", async () => {
    expect(await judge("")).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("sees paths from the workspace that is named, also through its links", async () => {
    mkdirSync(join(place.path, "sub"));
    symlinkSync("/etc", join(place.path, "out"));
    const input = '{"command":"cat sub/x"}\n{"command":"cat out/passwd"}\n';
    const { stdout } = await deckhand(["judge", "--workspace", "ws"], { env, cwd: place.root, input });
    expect(verdicts(stdout)).toEqual(["auto", "ask"]);
  });

  test("refuses a posture that there is not", async () => {
    const { code, stderr } = await judge("", "--posture", "brave");
    expect(stderr).toMatch(/--posture takes careful, contained, not "brave"/);
    expect(code).toBe(2);
  });

  test("stops without a word when nobody reads on", async () => {
    writeFileSync(join(place.root, "many"), '{"command":"ls"}\n'.repeat(50_000));
    const { stdout, stderr } = await shell(`"$DECKHAND" judge < '${place.root}/many' | head -n 1`, { env });
    expect(verdicts(stdout)).toEqual(["auto"]);
    expect(stderr).toBe("");
  });
});

describe("deckhand sandbox", () => {
  let redis: TestRedis;
  const sandbox = async (command: string, more: Record<string, string> = {}) => {
    const ended = await deckhand(["sandbox", "--workspace", place.path, "--", command], { env: { ...env, ...more } });
    return { ...ended, line: JSON.parse(ended.stdout || "{}") as Record<string, unknown> };
  };

  beforeAll(async () => {
    redis = await startRedis();
  });

  afterAll(() => redis.stop());

  test("runs a command and prints one line of JSON with how it went", async () => {
    const { code, stdout, stderr, line } = await sandbox("echo hi; exit 7");
    expect(stdout.split("\n")).toHaveLength(2);
    expect(line).toEqual({
      exit: 7,
      status: "exited",
      output: "hi\n",
      bytes: 3,
      ms: expect.any(Number) as number,
      sandbox: "sandboxed: no network, workspace only",
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("keeps a command from the host's secrets, files and ports, and leaves no process", async () => {
    const long = uniqueSleep();
    const tries = `cat /etc/shadow; touch /etc/x; (exec 3<>/dev/tcp/127.0.0.1/${redis.port}) && echo OPEN; ${long} & echo done`;
    const { code, line } = await sandbox(tries);
    expect(line["output"]).toMatch(/shadow: No such file|shadow: Permission denied/);
    expect(line["output"]).toMatch(/touch: .*\/etc\/x.*(Read-only file system|Permission denied)/);
    expect(line["output"]).toMatch(/\ndone\n$/);
    expect(line["output"]).not.toContain("OPEN");
    expect(processesWith(long)).toEqual([]);
    expect(code).toBe(0);
  });

  test("hands none of its own environment on", async () => {
    const { line } = await sandbox("env", { OPENAI_API_KEY: "sk-verysecret123", SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1" });
    expect(line["output"]).not.toMatch(/verysecret|xoxb|DECKHAND|OPENAI/);
  });

  test("works in the current folder, and takes several words as one command", async () => {
    const { code, stdout } = await deckhand(["sandbox", "--", "pwd", "-P"], { env, cwd: place.path });
    expect(JSON.parse(stdout)).toMatchObject({ exit: 0, output: `${place.path}\n` });
    expect(code).toBe(0);
  });

  test("without a command: exit 2; in a folder that is not there: exit 3", async () => {
    const [none, nowhere] = await Promise.all([
      deckhand(["sandbox", "--workspace", place.path], { env }),
      deckhand(["sandbox", "--workspace", "/nowhere", "--", "ls"], { env }),
    ]);
    expect(none.stderr).toMatch(/needs a command after --/);
    expect(nowhere.stderr).toMatch(/\(WORKSPACE_MISSING\)/);
    expect([none.code, nowhere.code]).toEqual([2, 3]);
  });

  test("interrupted, it says what it got so far, ends with 130 and leaves no process", async () => {
    const long = uniqueSleep();
    const running = start([DECKHAND, "sandbox", "--workspace", place.path, "--", `echo begun; touch begun; ${long}; :`], { env });
    await until("the command runs", () => existsSync(join(place.path, "begun")));
    running.kill("SIGINT");
    const { code, stdout } = await running.ended;
    expect(JSON.parse(stdout)).toMatchObject({ status: "cancelled", exit: null, output: "begun\n" });
    expect(processesWith(long)).toEqual([]);
    expect(code).toBe(130);
  });
});

describe("deckhand manifest slack", () => {
  test("prints JSON with the scopes and events that the code uses", async () => {
    const { code, stdout } = await deckhand(["manifest", "slack"], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      oauth_config: { scopes: { bot: SCOPES } },
      settings: { event_subscriptions: { bot_events: EVENTS }, socket_mode_enabled: true, interactivity: { is_enabled: true } },
    });
    expect(code).toBe(0);
  });

  test("knows no other platform", async () => {
    expect(await deckhand(["manifest", "teams"], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining("slack") as string });
  });
});

describe("help", () => {
  test("an unknown command ends with 2 and the list of those that there are", async () => {
    const { code, stdout, stderr } = await deckhand(["frobnicate"], { env });
    expect(stderr).toMatch(/^There is no command "frobnicate"\.\n/);
    for (const name of COMMAND_NAMES) expect(stderr).toContain(`deckhand ${name}`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  test("no command at all ends with 2 and the list", async () => {
    const { code, stderr } = await deckhand([], { env });
    for (const name of COMMAND_NAMES) expect(stderr).toContain(`deckhand ${name}`);
    expect(code).toBe(2);
  });

  test("names of things that every object has are no commands", async () => {
    expect(await deckhand(["constructor"], { env })).toMatchObject({ code: 2 });
  });

  test.each(["--help", "-h", "help"])("%s prints the list and ends with 0", async (word) => {
    const { code, stdout, stderr } = await deckhand([word], { env });
    for (const name of COMMAND_NAMES) expect(stdout).toContain(`deckhand ${name}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test.each(COMMAND_NAMES)("%s --help says how it is used and does nothing", async (name) => {
    const { code, stdout, stderr } = await deckhand([name, "--help"], { env });
    expect(stdout).toMatch(new RegExp(`^deckhand ${name}[^\n]*\n {2}\\S`));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("stands anywhere among the options, but not in a command for the sandbox", async () => {
    const [after, inside] = await Promise.all([
      deckhand(["run", "--json", "--help"], { env }),
      deckhand(["sandbox", "--workspace", place.path, "--", "ls --help"], { env }),
    ]);
    expect(after).toMatchObject({ code: 0, stdout: expect.stringMatching(/^deckhand run /) as string });
    expect(inside.stdout).toContain("Usage: ls");
  });

  test.each(["demo", "doctor"])("%s takes no arguments", async (name) => {
    expect(await deckhand([name, "more"], { env })).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("takes no arguments") as string,
    });
  });
});

test("a failure of Redis is a line with its code, never a stack", async () => {
  const { code, stderr } = await deckhand(["trace", "slack:T1:C1:1.1"], {
    env: { ...env, REDIS_URL: `redis://127.0.0.1:${await freePort()}` },
  });
  expect(stderr).toMatch(/Redis does not answer: .*ECONNREFUSED.*\(REDIS_DOWN\)\n$/);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(code).toBe(3);
});
