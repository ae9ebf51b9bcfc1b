import { expect, test } from "vitest";
import { say } from "../../src/model/script.ts";
import { openCorridor, type Said } from "../support/corridor.ts";
import { startRole } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { PLATFORMS } from "../support/stage.ts";
import { gather } from "./evidence.ts";
import { refill } from "./refill.ts";
import { type Break, verify } from "./verifier.ts";

const THREADS = 5;
const WORDS = 20;

/** Who writes twenty times to a bot that does not hear may be heard in another order. */
const EXPECTED: Break[] = ["reordered"];

test.concurrent.each(PLATFORMS)(
  "on %s: a gateway that dies with a hundred events that it could not keep loses none of them and doubles none",
  async (platform) => {
    let answers = 0;
    const rules = [{ when: /\d$/, steps: [() => say(`answer ${(answers += 1)}`)] }];
    const deck = await openCorridor({ platform, rules, start: false, twin: { retryDelaysMs: [0, 500, 2_000] } });
    deck.env["DECKHAND_CHANNELS"] = deck.stage.channel("C1") + "=api";
    let gateway = await startRole(deck, "gateway");
    const worker = await startRole(deck, "worker");
    const saids: Said[] = [];
    const broken = async (): Promise<unknown[]> => {
      await refill(deck);
      return verify(await gather(deck, saids)).breaks.filter(({ kind }) => !EXPECTED.includes(kind));
    };
    try {
      await deck.stage.waitFor(() => deck.stage.isHeard());
      for (let nth = 0; nth < THREADS; nth += 1) saids.push(await deck.mention(`begin ${nth}`));
      await until("all threads are at rest", async () => (await broken()).length === 0, 60_000);
      await deck.redis.kill();
      for (let nth = 0; nth < WORDS; nth += 1) for (const { root } of saids) await deck.say(`word ${nth}`, { thread: root });
      await gateway.kill();
      await deck.redis.restart();
      gateway = await startRole(deck, "gateway");
      let left: unknown[] = [];
      await until("all is heard and answered", async () => (left = await broken()).length === 0, 90_000).catch(() => {}); // told below
      expect(left).toEqual([]);
      expect(verify(await gather(deck, saids)).counts).toMatchObject({ messages: THREADS * (WORDS + 1) });
    } finally {
      await Promise.all([gateway.kill(), worker.kill()]);
      await deck.close();
    }
  },
  240_000,
);
