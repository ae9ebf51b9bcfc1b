import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isEntry } from "../../src/core/entry.ts";
import { bash, say, type Step } from "../../src/model/script.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { PLATFORMS, type Stage } from "../support/stage.ts";

/** The result of the last call is said, so that the thread shows it. */
function runs(when: RegExp, ...steps: Step[]) {
  const last = ({ results }: { results: string[] }): Step => say(`Results: ${results.join(" | ")}`);
  return { when, steps: [...steps.map((step) => () => step), last] };
}

/** Several commands in one answer. */
function together(...commands: string[]): Step {
  return { calls: commands.map((command) => ({ name: "bash", args: { command } })) };
}

const SCRIPT = [
  runs(/look at the page, and the other/, bash("git ls-remote http://y.example/b")),
  runs(/look at the page/, bash("git ls-remote http://x.example/a")),
  runs(/remove it twice/, together("rm -f twice", "rm -f twice")),
  runs(/first the file, then the page/, together("rm -f first", "rm -f then")),
  runs(/remove then/, bash("rm -f then")),
  runs(/clean/, bash("rm -f clean")),
  runs(/list/, bash("ls -d list")),
  runs(/deploy/, bash("touch deployed")),
];

/** A file that the gate lets nobody forget: one rule a channel and person, one for all. */
function yaml(stage: Stage): string {
  return `
rules:
  - {name: clean in C20, pattern: [rm, -f, clean], decision: auto, scope: {channel: '${stage.channel("C20")}', person: '${stage.person("U1")}'}, match: [rm -f clean]}
  - {name: no listing, pattern: [ls, -d], decision: ask, reason: lists are private, match: [ls -d x], not_match: [ls]}
  - {name: no deploy, pattern: [touch, deployed], decision: deny, reason: only CI deploys, match: [touch deployed]}
`;
}

describe.each(PLATFORMS)("standing rules on %s", (platform) => {
  const folder = mkdtempSync(join(tmpdir(), "deckhand-yaml-"));
  let deck: Corridor;

  beforeAll(async () => {
    const file = join(folder, "deckhand.yaml");
    deck = await openCorridor({
      platform,
      rules: SCRIPT,
      env: { DECKHAND_CONFIG: file },
      prepare: (stage) => writeFileSync(file, yaml(stage)),
    });
  });
  afterAll(async () => {
    await deck.close();
    rmSync(folder, { recursive: true });
  });

  async function store(said: Said): Promise<void> {
    const { ts } = await said.shows(/\[ Always … \]/);
    const press = (action: string) => deck.stage.press({ channel: said.channel, root: said.root, ts, action, user: "U1" });
    await press("always");
    await said.shows(/\[ Store and run \]/);
    await press("store");
  }
  const all = async <T extends "judged" | "approval-asked" | "run-started">(said: Said, type: T) =>
    (await said.entries()).filter((entry) => isEntry(entry, type));

  test("of the file hold where and for whom they say, with their reasons", async () => {
    const own = await deck.mention("clean up", { channel: "C20" });
    await own.shows(/Results: \(no output\)/);
    expect(await all(own, "judged")).toMatchObject([{ verdict: "auto", rule: "clean in C20" }]);
    const elsewhere = await deck.mention("clean up", { channel: "C1" });
    await elsewhere.press("deny");
    const other = await deck.mention("clean up", { channel: "C20", user: "U2" });
    await other.press("deny");
    const list = await deck.mention("list it", { channel: "C2" });
    await list.shows(/Why I ask: lists are private[\s\S]*\[ Approve \]/);
    expect(list.posts().at(-1)?.text).not.toContain("Always");
    await list.press("deny");
    const deploy = await deck.mention("deploy", { channel: "C3" });
    await deploy.shows(/Results: Not run: this is never allowed here \(only CI deploys\)/);
    expect(await all(deploy, "judged")).toMatchObject([{ verdict: "deny", rule: "no deploy" }]);
  });

  test("give each run what their card said, and ask for anything beyond", async () => {
    const first = await deck.mention("look at the page", { channel: "C4" });
    const shown = first.shows(/Each time it may connect to x\.example:80\./);
    await store(first);
    await shown;
    await first.shows(/Network: x\.example:80 \(refused: /);
    const again = await deck.mention("look at the page", { channel: "C5" });
    await again.shows(/Network: x\.example:80 \(refused: /);
    expect(await all(again, "approval-asked")).toEqual([]);
    expect(await all(again, "run-started")).toMatchObject([{ grants: ["network=x.example:80"] }]);
    const more = await deck.mention("look at the page, and the other", { channel: "C6" });
    await more.shows(
      /Why I ask: .*it needs network=y\.example:80, which the rule "api: git ls-remote.*" does not give[\s\S]*\[ Approve \]/,
    );
    await more.press("deny");
  });

  test("stored for one command of a step let the next one of its kind run by itself", async () => {
    const said = await deck.mention("remove it twice", { channel: "C7" });
    await store(said);
    await said.shows(/Results: \(no output\) \| \(no output\)/);
    expect([await all(said, "approval-asked"), await all(said, "run-started")]).toMatchObject([{ length: 1 }, { length: 2 }]);
  });

  test("that are revoked while an earlier command waits let nothing more run", async () => {
    await store(await deck.mention("remove then", { channel: "C8" }));
    const said = await deck.mention("first the file, then the page", { channel: "C9" });
    await said.shows(/rm -f first[\s\S]*\[ Approve \]/);
    expect(await all(said, "judged")).toMatchObject([{ verdict: "ask" }, { verdict: "auto", rule: "api: rm -f then" }]);
    await deck.log.rules.revoke("api: rm -f then");
    await said.press("deny");
    await said.shows(/Results: Not run: Ann denied it.* \| Not run: the circumstances changed/);
  });
});
