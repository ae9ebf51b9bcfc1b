import { expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { openCorridor } from "../support/corridor.ts";
import { flood } from "../support/flood.ts";
import { PLATFORMS } from "../support/stage.ts";

/** Without lanes the slowest card of Slack takes 10 s under this load; `script/bench posting` has a bigger one. */
const LOAD = { threads: 3, steps: 4, calls: 4 };

test.concurrent.each(PLATFORMS)(
  "on %s: a card is there soon while three threads of its channel print more than the platform takes; nothing is out of order, and no call is limited",
  async (platform) => {
    const { cards, broken, limited } = await flood(platform, LOAD);
    expect(broken).toEqual([]);
    expect(cards).toHaveLength(LOAD.threads);
    // A busy machine gets some more than the 4 s of `script/bench posting`.
    expect(Math.max(...cards)).toBeLessThan(8_000);
    expect(limited).toBe(0);
  },
  240_000,
);

test("a channel that Slack closes for a while holds up no card in another channel", async () => {
  const rules = [{ when: /remove$/, steps: [() => bash("rm -f old"), () => say("removed")] }];
  const deck = await openCorridor({ rules });
  try {
    deck.twin.fault({ method: "chat.postMessage", within: "C1", status: 429, error: "ratelimited", headers: { "retry-after": "60" } });
    const closed = await deck.mention("remove", { channel: "C1" });
    await deck.stage.waitFor(() => deck.stage.calls().limited === 1);
    const open = await deck.mention("remove", { channel: "C2" });
    await open.press("approve");
    await open.shows(/^removed$/);
    expect(closed.posts()).toEqual([]);
    expect(deck.stage.calls().limited).toBe(1);
  } finally {
    await deck.close();
  }
}, 60_000);
