import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { PLATFORMS } from "../support/stage.ts";
import { RUN_UID, isRoot } from "../support/workspace.ts";

describe.each(PLATFORMS)("on %s", (platform) => {
  let deck: Corridor;

  beforeAll(async () => {
    deck = await openCorridor({
      platform,
      rules: [
        { when: /go there/, steps: [() => bash("cd sub"), () => bash("pwd"), ({ lastResult }) => say(`I am in ${lastResult}`)] },
        {
          when: /set it/,
          steps: [
            () => bash("export COLOR=red PATH=/opt/odd:$PATH"),
            () => bash("rm old.txt"),
            ({ lastResult }) => say(`It ended: ${lastResult}`),
          ],
        },
        {
          when: /hook it/,
          steps: [() => bash("git config core.pager ./odd; rm old2.txt"), ({ lastResult }) => say(`It ended: ${lastResult}`)],
        },
      ],
    });
    mkdirSync(join(deck.workspace, "sub"));
    if (isRoot()) chownSync(join(deck.workspace, "sub"), RUN_UID, RUN_UID);
    for (const name of ["old.txt", "old2.txt"]) deck.files.write(name, "old\n");
    deck.files.git();
  });

  afterAll(() => deck.close());

  test("the folder that a command ends in is where the next one starts", async () => {
    const said = await deck.mention("go there", { channel: "C1" });
    await said.shows(/I am in .*\/sub/);
  });

  test("a card tells what earlier commands set, and that a changed PATH is left out", async () => {
    const said = await deck.mention("set it", { channel: "C2" });
    const card = await said.shows(/\[ Approve \]/);
    expect(card.text).toContain("Set by earlier commands: COLOR=red");
    expect(card.text).toContain("Earlier commands changed PATH to /opt/odd:");
    await said.press("approve");
    await said.shows(/^It ended:/);
    expect(deck.files.has("old.txt")).toBe(false);
  });

  test("the thread says what an approved command left that runs by itself later", async () => {
    const said = await deck.mention("hook it", { channel: "C3" });
    await said.press("approve");
    await said.shows(/Noticed afterwards: \.git\/config now runs something: core\.pager/);
    await said.shows(/^It ended:/);
  });
});
