import { setTimeout as sleep } from "node:timers/promises";
import { KEYS } from "../../src/redis/keys.ts";
import type { Asked } from "./model.ts";
import { until } from "../support/redis.ts";
import type { Product } from "./product.ts";

/** A long task: so many turns with so many steps each, all of one conversation. A turn of the product has a limit. */
export interface Task {
  turns: number;
  perTurn: number;
}

/** What a person says in it, turn by turn. */
export function wordsOf(name: string, { turns, perTurn }: Task): string[] {
  return Array.from({ length: turns }, () => `steps ${perTurn} #${name}`);
}

/** The product does it; gives its requests. */
export async function doTask(product: Product, name: string, task: Task): Promise<Asked[]> {
  const { model } = product;
  let root: string | undefined;
  for (const [turn, words] of wordsOf(name, task).entries()) {
    if (root === undefined) root = await product.mention(words);
    else await product.reply(root, words);
    await model.done(name, turn + 1);
    await atRest(product);
  }
  return model.asked(name);
}

/** No conversation has anything left to be done. */
export async function atRest({ redis }: Product): Promise<void> {
  await until("nothing is left to be done", async () => (await redis.zcard(KEYS.dirty)) === 0, 120_000);
}

/** ... and nothing is left to be posted. */
export async function allPosted({ redis }: Product): Promise<void> {
  await until("everything is posted", async () => (await redis.zcard(KEYS.postsDirty)) === 0, 300_000);
  await sleep(20);
}

/** Of each step the time without the model: from the end of an answer with a call to the last byte of the next request. */
export function stepsOf(asked: Asked[]): number[] {
  return asked.slice(1).flatMap(({ at }, index) => {
    const before = asked[index] as Asked;
    return before.last ? [] : [at - before.answered];
  });
}

/** Every budget of the platform is full again, as if the time had passed. */
export async function refillBudgets({ redis }: Product): Promise<void> {
  const buckets = await redis.keys(KEYS.bucket("*"));
  if (buckets.length > 0) await redis.del(...buckets);
}
