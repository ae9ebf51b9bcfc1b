import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { PLATFORMS } from "../support/stage.ts";

describe.each(PLATFORMS)("on %s", (platform) => {
  let deck: Corridor;
  const unseen = "\u200b".repeat(300);
  const hiding = `echo begin; ${unseen} rm -rf precious; ${unseen} echo end`;
  const slowly = (command: string) => ({ ...bash(command), delayMs: 4_000 });

  beforeAll(async () => {
    deck = await openCorridor({
      platform,
      // An event that was not acknowledged comes again within the test, not after a minute.
      twin: { retryDelaysMs: [0, 1_000, 5_000] },
      rules: [
        { when: /hide it/, steps: [() => bash(hiding), ({ lastResult }) => say(lastResult)] },
        {
          when: /think long/,
          steps: [() => slowly("rm -f old; echo ran >> effect.txt"), ({ lastResult }) => say(`Result: ${lastResult}`)],
        },
        { when: /no, just greet/, steps: [() => say("hello instead")] },
      ],
    });
  });

  afterAll(() => deck.close());

  const thinking = () =>
    deck.stage.waitFor(() => deck.model.requests.some((r) => JSON.stringify(r.body.messages.at(-1)).includes("think long")));
  const effect = () => existsSync(join(deck.workspace, "effect.txt"));

  test("a short command that is long with its hidden letters written out comes with a file that shows all of it", async () => {
    const said = await deck.mention("hide it", { channel: "C1" });
    await said.shows(/characters left out, see the file/);
    await said.shows(/\[ Approve \]/);
    const file = await deck.stage.waitFor(() => said.posts().flatMap((m) => m.files)[0]);
    expect(deck.stage.file(file.id)?.toString()).toMatch(/^echo begin; (⟨U\+200B⟩)+ rm -rf precious; (⟨U\+200B⟩)+ echo end$/);
    await said.press("deny");
    await said.shows(/Ann denied it/);
  });

  describe("while the model thinks", () => {
    test("a message that is removed comes to nothing, and its status says so", async () => {
      const said = await deck.mention("think long", { channel: "C2" });
      await thinking();
      // With a message that nobody has answered yet, Slack removes the thread itself.
      await said.shows(/Thinking/);
      await deck.stage.remove(said);
      await said.shows(/^Nothing more is done: the message was removed\.$/);
      await expect.poll(async () => (await said.entries()).at(-1)?.type, { timeout: 10_000 }).toBe("judged");
      await deck.mention("no, just greet", { channel: "C3" }).then((other) => other.shows(/hello instead/));
      expect(said.posts()).toHaveLength(1);
      expect(effect()).toBe(false);
    });

    test("new words of the requester are read before anybody is asked about a command", async () => {
      deck.model.requests.length = 0;
      const said = await deck.mention("think long", { channel: "C4" });
      await thinking();
      await deck.say("no, just greet", { channel: "C4", thread: said.root });
      await said.shows(/hello instead/);
      expect(
        said
          .posts()
          .map((m) => m.text)
          .join("\n"),
      ).not.toContain("May I run this");
      expect((await said.entries()).map((e) => e.type)).not.toContain("approval-asked");
      expect(effect()).toBe(false);
    });
  });
});
