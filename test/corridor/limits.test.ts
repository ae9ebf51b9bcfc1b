import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { openCorridor } from "../support/corridor.ts";
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
        expect(said.posts().at(-1)?.text).toMatch(/^the flood big is over$|is answered$/);
      }
      expect(deck.stage.calls().limited).toBeLessThanOrEqual(2);
    } finally {
      await deck.close();
    }
  },
  120_000,
);
