import { setTimeout as sleep } from "node:timers/promises";
import { Queue as Bell } from "bullmq";
import type { Corridor } from "../support/corridor.ts";

const QUEUES = ["wake-api", "post"];
/** So long in every second nobody hears a ring: about 5 % of them are lost. */
const DEAF_MS = 50;

/** Loses rings at random until the signal aborts: what waits in the doorbell's queues is thrown away. Gives how many were lost. */
export async function muffle(deck: Corridor, done: AbortSignal): Promise<number> {
  const connection = { url: deck.redis.url, maxRetriesPerRequest: 1 };
  const bells = QUEUES.map((name) => new Bell(name, { prefix: "{dh}", connection, skipVersionCheck: true }));
  for (const bell of bells) bell.on("error", () => {}); // Redis is killed now and then
  let lost = 0;
  const once = async (bell: Bell): Promise<void> => {
    await bell.pause();
    await sleep(DEAF_MS);
    lost += await bell.getWaitingCount();
    await bell.drain();
  };
  while (!done.aborted) {
    await sleep(Math.random() * 2_000);
    for (const bell of bells) await once(bell).catch(() => {}); // the next time
    for (const bell of bells) await hearAgain(bell);
  }
  for (const bell of bells) await hearAgain(bell);
  await Promise.all(bells.map((bell) => bell.close()));
  return lost;
}

/** As long as it takes: a queue that stays paused would be no lost ring, but a dead bell. */
async function hearAgain(bell: Bell): Promise<void> {
  for (;;) {
    try {
      return await bell.resume();
    } catch {
      await sleep(100); // Redis is away
    }
  }
}
