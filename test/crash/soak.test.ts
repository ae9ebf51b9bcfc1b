import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { CHECKPOINTS } from "../../src/core/checkpoint.ts";
import type { At } from "./keeper.ts";
import { muffle } from "./muffle.ts";
import { converse, MANNERS } from "./play.ts";
import { openScene, type Scene } from "./scene.ts";
import { table } from "./table.ts";

/** Random kills of everything, for minutes, on both platforms at once. `script/crash --minutes N`. */

const MINUTES = Number(process.env["DECKHAND_SOAK_MINUTES"] ?? 1);
const MS = MINUTES * 60_000;
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

test(
  `${MINUTES} minutes of random kills lose nothing and double nothing`,
  async () => {
    const scene = await openScene({
      ...{ count: { gateway: 2, worker: 3 }, arm, hit: () => {}, random },
      env: (role, nth) => (role === "worker" && nth === 0 ? { DECKHAND_APPROVAL_HOURS: String(6 / 3600) } : {}),
    });
    const { people, keeper, deck } = scene;
    try {
      const count = Math.round(MINUTES * PER_MINUTE);
      const killing = killAll(scene);
      const muffling = muffle(deck, people.quiet);
      const talks = Array.from({ length: count }, async (_, index) => {
        await sleep((index * MS * 0.8) / count);
        await converse(people, scene.where(index), MANNERS[index % MANNERS.length] ?? "approved");
      });
      await Promise.race([keeper.failed, sleep(MS)]);
      // A look through all that was said while nobody heard takes more than a second for each thread.
      const found = await scene.rest(REST_MS + count * 2_000);
      await Promise.all([killing, muffling, ...talks]);
      const lost = await muffling;
      const title = `Soak: ${MS / 1000} s of kills, at rest after ${Math.round(scene.ms() / 1000)} s, ${lost} wakes lost`;
      console.log(table(title, found, keeper.kills));
      expect(found.breaks).toEqual([]);
    } finally {
      await scene.close();
    }
  },
  MS * 2 + REST_MS * 3,
);
