import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { openCorridor } from "../support/corridor.ts";
import { until } from "../support/redis.ts";
import { PLATFORMS } from "../support/stage.ts";

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

/** Twelve commands at once, one that asks, one more, the answer. */
const flood = (word: string): Rule => ({
  when: new RegExp(`flood ${word}$`),
  steps: [
    () => ({ calls: range(12).map((n) => ({ name: "bash", args: { command: `echo ${word} no ${n}` } })) }),
    () => bash(`rm -f old; echo ${word}-asked >> fx.txt`),
    () => bash(`echo ${word} last`),
    () => say(`the flood ${word} is over`),
  ],
});

const short = (word: string): Rule => ({
  when: new RegExp(`short ${word}$`),
  steps: [() => bash(`rm -f old; echo ${word}-asked >> fx.txt`), () => bash(`echo ${word} last`), () => say(`${word} is answered`)],
});

const rules = [flood("big"), short("one"), short("two")];

test.concurrent.each(PLATFORMS)(
  "on %s: a flood of commands beside two more conversations in the channel: all is shown in order, and hardly a 429",
  async (platform) => {
    const deck = await openCorridor({ platform, rules, twin: { limits: true } });
    try {
      const sent = ["flood big", "short one", "short two"];
      const saids = await Promise.all(sent.map((text) => deck.mention(text)));
      await Promise.all(saids.map((said) => said.press("approve")));
      for (const [index, said] of saids.entries()) {
        expect(breaks(await settled(() => audit(deck, said, [sent[index] ?? ""]), 60_000))).toEqual([]);
        expect(said.posts().at(-1)?.text).toMatch(/^(the flood big is over|\w+ is answered)$/m);
      }
      expect(deck.stage.calls().limited).toBeLessThanOrEqual(2);
    } finally {
      await deck.close();
    }
  },
  120_000,
);

const circles: Rule = {
  when: /go round$/,
  steps: [...range(5).map(() => () => bash("echo round")), () => bash("echo out"), () => say("I am out of it")],
};

test.concurrent.each(PLATFORMS)(
  "on %s: a turn that goes in circles asks; only who may approve lets it go on, and the buttons go",
  async (platform) => {
    const deck = await openCorridor({ platform, rules: [circles] });
    try {
      const said = await deck.mention("go round", { user: "U3" });
      const post = await said.shows(/\[ Continue \] {2}\[ Stop \]/, 60_000);
      expect(post.text).toMatch(/^I have paused: it did the same 5 times in a row, and the same came of it\. Shall I go on\?\n/m);
      // It waits like a request: no worker and no job has anything to do with it.
      await until("nothing is left to do", async () => (await deck.log.dirtySince(Date.now() + 60_000)).length === 0);
      const { channel, root } = said;
      const press = (action: string, user: string) => deck.stage.press({ channel, root, ts: post.ts, action, user });
      const heard = (user: string, words: RegExp) => deck.stage.waitFor(() => deck.stage.whispers(user).some((text) => words.test(text)));
      await press("stop", "U3");
      await heard("U3", /not on the list of people who may decide this/);
      await press("continue", "U2");
      await heard("U2", /It goes on\./);
      await said.shows(/^I am out of it$/, 60_000);
      await deck.stage.waitFor(() => /Bob chose: Continue · .* UTC$/.test(said.text(post)));
      await deck.stage.waitFor(() => said.posts().every(({ text }) => !text.includes("[ ")));
      const entries = await said.entries();
      expect(entries.filter(({ type }) => type === "choice")).toMatchObject([{ choice: "continue", by: { name: "Bob" } }]);
    } finally {
      await deck.close();
    }
  },
  120_000,
);
