import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { PLATFORMS, type Platform } from "../support/stage.ts";

const WORDS = ["early", "edits", "plain", "file", "hopeless", "always", "lost", "lostedit"];
const rules = WORDS.map((word) => ({
  when: new RegExp(`do ${word}$`),
  steps: [
    () => bash(`echo ${word} first`),
    () => bash(`rm -f old; echo ${word}-asked >> fx.txt`),
    () => bash(`echo ${word} last`),
    () => say(`${word} is answered`),
  ],
}));

async function isAsPromised(deck: Corridor, said: Said, sent: string): Promise<void> {
  expect(breaks(await settled(() => audit(deck, said, [sent]), 40_000))).toEqual([]);
}

/** Each command and the answer are shown once; what comes at once may share a post. */
function isShownOnce(said: Said, word: string): void {
  const thread = said.posts().map(({ text }) => text);
  for (const words of [`$ echo ${word} first`, `$ rm -f old; echo ${word}-asked`, `$ echo ${word} last`, `${word} is answered`]) {
    expect([words, thread.join("\n").split(words).length - 1]).toEqual([words, 1]);
  }
}

/** What the platform puts off, refuses or leaves unanswered. */
describe.concurrent.each(PLATFORMS)("on %s", (platform) => {
  describe("one trouble at a time", { concurrent: false }, () => {
    troubles(platform);
  });
});

function troubles(platform: Platform): void {
  let deck: Corridor;

  beforeAll(async () => {
    deck = await openCorridor({ platform, rules });
  });

  afterAll(() => deck.close());

  test("posts that come too early are sent later: none is lost, doubled or out of its place", async () => {
    const before = deck.stage.calls().limited;
    deck.stage.trouble({ with: "post", how: "busy", times: 2 });
    const said = await deck.mention("do early", { channel: "C2" });
    await said.shows(/\[ Approve \]/);
    deck.stage.trouble({ with: "post", how: "busy", times: 2 });
    await said.press("approve");
    await isAsPromised(deck, said, "do early");
    expect(deck.stage.calls().limited - before).toBe(4);
  }, 90_000);

  test("edits that come too early are made later", async () => {
    const before = deck.stage.calls().limited;
    const said = await deck.mention("do edits", { channel: "C3" });
    await said.shows(/\[ Approve \]/);
    deck.stage.trouble({ with: "edit", how: "busy", times: 3 });
    await said.press("approve");
    await isAsPromised(deck, said, "do edits");
    expect(deck.stage.calls().limited - before).toBe(3);
  }, 90_000);

  /** The next post is that of the command which has been approved. */
  async function refusedAfterPress(word: string, channel: string, times: number): Promise<Said> {
    const said = await deck.mention(`do ${word}`, { channel });
    await said.shows(/\[ Approve \]/);
    deck.stage.trouble({ with: "post", how: "refused", times });
    await said.press("approve");
    await said.shows(/^Done · /);
    return said;
  }

  test("a post that is refused once is there in bare words", async () => {
    const said = await refusedAfterPress("plain", "C4", 1);
    await said.shows(/^\$ rm -f old; echo plain-asked >> fx\.txt\n\(no output\) · exit 0/);
    isShownOnce(said, "plain");
  });

  test("a post whose words are refused too is there as a file, and says so", async () => {
    const said = await refusedAfterPress("file", "C5", 2);
    await said.shows(/This could only be shown as a file\./);
    const [file] = said.posts().flatMap((post) => post.files);
    expect(deck.stage.file(file?.id ?? "")?.toString()).toMatch(/^\$ rm -f old; echo file-asked >> fx\.txt\n\(no output\) · exit 0/);
    expect(said.posts().filter(({ files }) => files.length > 0)).toHaveLength(1);
  });

  test("a post that is refused in every form leaves a line with the platform's code, and the next ones follow", async () => {
    deck.stage.trouble({ with: "file", how: "refused" });
    const said = await refusedAfterPress("hopeless", "C6", 2);
    await said.shows(/^Something could not be shown here \((invalid_blocks|50035)\)\./);
    await deck.say("do early", { channel: "C6", thread: said.root }).then(() => said.shows(/\| \$ echo early first\n/));
  });

  test.each(["post", "edit"] as const)(
    "what was made by %s although the answer was lost is not made twice",
    async (act) => {
      const word = act === "post" ? "lost" : "lostedit";
      if (act === "post") deck.stage.trouble({ with: act, how: "lost" });
      const said = await deck.mention(`do ${word}`, { channel: "C7" });
      await said.shows(/\[ Approve \]/);
      deck.stage.trouble({ with: act, how: "lost", times: 2 });
      await said.press("approve");
      await isAsPromised(deck, said, `do ${word}`);
      isShownOnce(said, word);
    },
    60_000,
  );

  // The last one: its troubles stay.
  test("where nothing with a code block is ever taken, commands and cards are in bare words and can be decided", async () => {
    for (const act of ["post", "edit"] as const) deck.stage.trouble({ with: act, how: "refused", times: 1_000, showing: "code" });
    const said = await deck.mention("do always", { channel: "C8" });
    const card = await said.shows(/May I run this for Ann\?\nrm -f old; echo always-asked >> fx\.txt\n[^]*\[ Approve \]/);
    await said.press("approve");
    await said.shows(/^\$ rm -f old; echo always-asked >> fx\.txt\n/);
    await said.shows(/^always is answered$/);
    await deck.stage.waitFor(() => /echo always-asked[^]*Approved by Ann/.test(said.text(card)));
    expect(said.text(card)).not.toContain("[ Approve ]");
    isShownOnce(said, "always");
  });
}
