import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, conversationScript, say } from "../../src/model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/model/scripted.ts";
import { delta, type FaultServer, finish, startFaultServer } from "../model/fault-server.ts";
import { type TestWorkspace, makeWorkspace, processesWith, uniqueSleep } from "../support/workspace.ts";
import { DECKHAND, deckhand, entriesIn, onTerminal, start } from "./kit.ts";

const LONG = uniqueSleep();
const SECRET = "geheimes-Wort-9s8d7f6g";
const SLOW = "echo one; until [ -e go ]; do sleep 0.1; done; echo two; printf three";
const BURST = "seq 1 3000; sleep 1; echo over";

let place: TestWorkspace;
let model: ScriptedModel;
let env: Record<string, string>;

beforeAll(async () => {
  place = makeWorkspace();
  model = await startScriptedModel(
    conversationScript([
      { when: /slow/, steps: [() => bash(SLOW, "I wait."), () => say("Waited.")] },
      { when: /quick/, steps: [() => bash("echo quick; printf done"), () => say("Was quick.")] },
      { when: /silent/, steps: [() => bash("sleep 1"), () => say("Was silent.")] },
      { when: /burst/, steps: [() => bash(BURST), () => say("Was much.")] },
      { when: /secret/, steps: [() => bash(`printf 'key geheimes-W'; sleep 1; echo 'ort-9s8d7f6g.'; sleep 1`), () => say("Was secret.")] },
      { when: /for ever/, steps: [() => bash(`echo begun; ${LONG}`), () => say("Never said.")] },
    ]),
  );
  env = { OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: "scripted", OPENAI_API_KEY: SECRET, DECKHAND_STATE: place.stateDir };
});

afterAll(async () => {
  await model.close();
  place.cleanup();
});

const atTerminal = (task: string) => start(onTerminal(DECKHAND, "run", "--workspace", place.path, task), { env });
const transcript = async (task: string) => (await atTerminal(task).ended).stdout.replaceAll("\r\n", "\n");

describe("deckhand run at a terminal", () => {
  test("shows what a command prints as it comes, once, and then how it ended", async () => {
    const running = atTerminal("slow");
    await running.says(/\$ echo one; until[^\n]*\n(.*\n)*one\r?\n/);
    expect(running.said()).not.toContain("[exit");
    writeFileSync(join(place.path, "go"), "");
    const { code, stdout } = await running.ended;
    expect(stdout.replaceAll("\r\n", "\n")).toMatch(
      /^I wait\.\n\$ echo one; until .*; printf three\none\ntwo\nthree\n {2}\[exit 0, \d+\.\d s\]\n\nWaited\.\n$/,
    );
    expect(code).toBe(0);
  });

  test("shows a command that ends at once, or prints nothing, as before", async () => {
    expect(await transcript("quick")).toMatch(/\$ echo quick; printf done\nquick\ndone\n {2}\[exit 0, \d+\.\d s\]\n\nWas quick\.\n$/);
    expect(await transcript("silent")).toMatch(/\$ sleep 1\n\(no output\)\n {2}\[exit 0, \d+\.\d s\]\n\nWas silent\.\n$/);
  });

  test("shows what came too fast to be shown when it has ended", async () => {
    const all = await transcript("burst");
    const [live = "", whole = ""] = all.split("[not all of that could be shown as it came; this is what is kept of it:]\n");
    expect(live).toContain("[... left out here; the result has more ...]\n");
    expect(whole).toMatch(/^1\n2\n3\n[\s\S]*\n3000\nover\n {2}\[exit 0, /);
  });

  test("shows no secret, and none in halves", async () => {
    const all = await transcript("secret");
    expect(all.slice(all.indexOf("sleep 1\n"))).toMatch(/key \[secret\]\.\n {2}\[exit 0/);
    expect(
      all
        .split("\n")
        .filter((line) => line.startsWith("key"))
        .join(),
    ).not.toContain("geheimes");
  });

  test("by Ctrl-C, ends with what was shown and says that it was interrupted", async () => {
    const running = atTerminal("for ever");
    await running.says(/\nbegun\r?\n/);
    running.type("\u0003");
    const { code, stdout } = await running.ended;
    expect(processesWith(LONG)).toEqual([]);
    expect(stdout.match(/^begun\r?$/gm)).toHaveLength(1);
    expect(stdout).toMatch(/\[interrupted, /);
    expect(code).toBe(130);
  });
});

describe("an answer at a terminal", () => {
  const pieces = "The fleet is at sea, and all of its ships have told us so this morning by radio.".split(/(?<= )/);
  const slow = [...pieces.flatMap((word) => [delta({ content: word }), { __wait: 60 }]), { __wait: 500 }];
  const whole = pieces.join("");
  let server: FaultServer;
  beforeAll(async () => {
    server = await startFaultServer();
  });
  afterAll(() => server.close());
  const begin = (...args: string[]) =>
    start(onTerminal(DECKHAND, "run", ...args, "--workspace", place.path, "how is the fleet?"), {
      env: { ...env, OPENAI_BASE_URL: server.url },
    });

  test("appears as it is written, and once", async () => {
    let isWhole = false;
    server.next = (asked) => (asked.startsWith("GET") ? { status: 404 } : { frames: [...slow, finish("stop"), "[DONE]"] });
    const running = begin();
    await running.says(/The fleet is at sea/);
    isWhole = running.said().includes("by radio");
    const { stdout, code } = await running.ended;
    expect([isWhole, code, stdout.replaceAll("\r\n", "\n")]).toEqual([false, 0, `\n${whole}\n`]);
  });

  test("that breaks off is no answer: what is asked again says so, and is shown whole", async () => {
    let asked = 0;
    server.next = (request) => {
      if (request.startsWith("GET")) return { status: 404 };
      return asked++ === 0 ? { frames: [...slow, "__reset"] } : { frames: [delta({ content: whole }), finish("stop"), "[DONE]"] };
    };
    const { stdout } = await begin().ended;
    expect(stdout.replaceAll("\r\n", "\n")).toMatch(
      /^\nThe fleet is at sea[^\n]*\n {2}\[that answer does not count: the model is asked again\]\n\nThe fleet .* by radio\.\n$/,
    );
  });
});

describe("deckhand run elsewhere", () => {
  const run = (...args: string[]) => deckhand(["run", "--workspace", place.path, ...args], { env });

  test("gives each output once and whole, when it has ended", async () => {
    const { stdout } = await run("burst");
    expect(stdout).toMatch(/^\$ seq [^\n]*\n1\n2\n[\s\S]*\n3000\nover\n {2}\[exit 0, \d+\.\d s\]\n\nWas much\.\n$/);
    expect(stdout).not.toContain("left out");
  });

  test("gives entries alone with --json, at a terminal too", async () => {
    const { stdout } = await start(onTerminal(DECKHAND, "run", "--json", "--workspace", place.path, "burst"), { env }).ended;
    const types = entriesIn(stdout.replaceAll("\r\n", "\n")).map((entry) => entry.type);
    expect(types).toEqual(["opened", "message", "model", "judged", "run-started", "run-ended", "model", "final"]);
  });
});
