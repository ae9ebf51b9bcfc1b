import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const SECRET = "geheimes-Wort-9s8d7f6g";
const COUNT = "for i in 1 2 3 4 5 6; do echo line $i; cat note; sleep 1; done";
const rules = [
  { when: /count/, steps: [() => bash(COUNT), () => say("Counted.")] },
  { when: /quick/, steps: [() => bash("seq 1 20; sleep 0.3; echo over"), () => say("Was quick.")] },
  { when: /stop me/, steps: [() => bash("echo begun; sleep 60"), () => say("Never said.")] },
];

/** Every form in which the thread's first post of the bot was seen, until `end`. */
function watch(said: Said): { forms: string[]; end(): void } {
  const forms: string[] = [];
  const timer = setInterval(() => {
    const text = said.posts()[0]?.text ?? "";
    if (text !== forms.at(-1)) forms.push(text);
  }, 20);
  return { forms, end: () => clearInterval(timer) };
}

describe.each(PLATFORMS)("a command that takes its time, on %s", (platform) => {
  let deck: Corridor;
  beforeAll(async () => {
    deck = await openCorridor({ platform, rules, env: { OPENAI_API_KEY: SECRET } });
    deck.files.write("note", `key ${SECRET}\n`);
  });
  afterAll(() => deck.close());

  test("shows its newest lines in the status while it runs, without secrets, and leaves no trace of them", async () => {
    const before = deck.stage.calls();
    const said = await deck.mention("count", { channel: "C1" });
    const seen = watch(said);
    const early = await said.shows(/^Running: for i in[^\n]*\n {2}\| (key|line)[\s\S]*line \d/);
    expect((await said.entries()).map((entry) => entry.type)).not.toContain("run-ended");
    expect(early.text).toContain("[ Stop ]");
    await said.shows(/Counted\./);
    const status = await said.shows(/^Done · 1 command/);
    seen.end();
    const shown = seen.forms.filter((form) => form.includes("  | "));
    expect(shown.length).toBeGreaterThanOrEqual(1);
    expect(seen.forms.join("\n")).not.toContain(SECRET.slice(0, 8));
    expect(shown.join("\n")).toContain("key [secret]");
    for (const form of shown) expect(form.split("\n").filter((line) => line.startsWith("  | ")).length).toBeLessThanOrEqual(6);
    expect(said.text(status)).not.toContain("line");
    const after = deck.stage.calls();
    // Status, output and answer; the status becomes Running, shows lines every three seconds or so, is Thinking and Done.
    expect(after.posts - before.posts).toBe(3);
    expect(after.edits - before.edits).toBeLessThanOrEqual(7);
  });

  test("that ends soon shows none, and costs no edit", async () => {
    const said = await deck.mention("quick", { channel: "C2" });
    const seen = watch(said);
    await said.shows(/Was quick\./);
    await said.shows(/^Done · 1 command/);
    seen.end();
    expect(seen.forms.filter((form) => form.includes("  | "))).toEqual([]);
  });

  test("can be stopped from the status that shows its lines, which then go", async () => {
    const said = await deck.mention("stop me", { channel: "C3" });
    const status = await said.shows(/^Running: .*\n {2}\| begun\n[\s\S]*\[ Stop \]/);
    await deck.stage.press({ channel: "C3", root: said.root, ts: status.ts, action: "stop", user: "U1" });
    const over = await said.shows(/^Stopped · 1 command/);
    expect(over.text).not.toContain("begun");
  });
});

describe.each(PLATFORMS)("with two gateways, on %s", (platform) => {
  let deck: Corridor;
  const processes: RoleProcess[] = [];
  const add = async (role: "gateway" | "worker"): Promise<void> => void processes.push(await startRole(deck, role));
  beforeAll(async () => {
    deck = await openCorridor({ platform, rules, start: false });
    deck.files.write("note", "");
    await Promise.all([add("gateway"), add("gateway")]);
  });
  afterAll(async () => {
    await Promise.all(processes.map((each) => each.end()));
    await deck.close();
  });

  test("what no worker can do now says so; once one is there, its lines are seen, and posts and edits stay few", async () => {
    await deck.stage.waitFor(deck.stage.isHeard);
    const before = deck.stage.calls();
    const said = await deck.mention("count", { channel: "C1" });
    await said.shows(/^No worker serves the workspace "api" now\. This starts by itself as soon as one does\.[\s\S]*\[ Stop \]/);
    await add("worker");
    await said.shows(/^Running: for i in[^\n]*\n {2}\| line[\s\S]*line \d/);
    await said.shows(/Counted\./);
    const status = await said.shows(/^Done · 1 command/);
    expect(said.text(status)).not.toContain("line");
    const after = deck.stage.calls();
    expect(after.posts - before.posts).toBe(3);
    expect(after.edits - before.edits).toBeLessThanOrEqual(8);
  });
});
