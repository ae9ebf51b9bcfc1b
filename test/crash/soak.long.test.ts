import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { CHECKPOINTS } from "../../src/core/checkpoint.ts";
import { PLATFORMS } from "../support/stage.ts";
import type { At } from "./keeper.ts";
import { muffle } from "./muffle.ts";
import { converse, MANNERS } from "./play.ts";
import { openScene, type Scene } from "./scene.ts";
import { table } from "./table.ts";

/** Random kills of everything, for minutes: half of them on each platform. `script/crash --minutes N`. */

const MINUTES = Number(process.env["DECKHAND_SOAK_MINUTES"] ?? 1);
const EACH_MS = (MINUTES * 60_000) / PLATFORMS.length;
/** A minute's conversations. */
const PER_MINUTE = 30;
const REST_MS = 120_000;
const VICTIMS = ["gateway", "worker", "worker", "runner", "redis"] as const;
const { random } = Math;
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

/** Every third process dies at some checkpoint. */
function arm(): At | null {
  return random() < 0.33 ? { name: pick(CHECKPOINTS), nth: 1 + Math.floor(random() * 10) } : null;
}

async function killAll({ keeper, people }: Scene): Promise<void> {
  while (!people.quiet.aborted) {
    await sleep(1_500 + random() * 4_000);
    if (!people.quiet.aborted) await keeper.kill(pick(VICTIMS));
  }
}

test.each(PLATFORMS)(
  `on %s: ${MINUTES / PLATFORMS.length} minutes of random kills lose nothing and double nothing`,
  async (platform) => {
    const scene = await openScene(platform, {
      ...{ count: { gateway: 2, worker: 3 }, arm, hit: () => {}, random },
      env: (role, nth) => (role === "worker" && nth === 0 ? { DECKHAND_APPROVAL_HOURS: String(6 / 3600) } : {}),
    });
    const { people, keeper, deck } = scene;
    try {
      const count = Math.round((EACH_MS / 60_000) * PER_MINUTE);
      const killing = killAll(scene);
      const muffling = muffle(deck, people.quiet);
      const talks = Array.from({ length: count }, async (_, index) => {
        await sleep((index * EACH_MS * 0.8) / count);
        await converse(people, scene.channel(index), MANNERS[index % MANNERS.length] ?? "approved");
      });
      await Promise.race([keeper.failed, sleep(EACH_MS)]);
      // A look through all that was said while nobody heard takes more than a second for each thread.
      const found = await scene.rest(REST_MS + count * 2_000);
      await Promise.all([killing, muffling, ...talks]);
      const lost = await muffling;
      const title = `Soak on ${platform}: ${EACH_MS / 1000} s of kills, at rest after ${Math.round(scene.ms() / 1000)} s, ${lost} wakes lost`;
      console.log(table(title, found, keeper.kills));
      expect(found.breaks).toEqual([]);
    } finally {
      await scene.close();
    }
  },
  EACH_MS * 2 + REST_MS * 3,
);
