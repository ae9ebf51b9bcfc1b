import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { KEYS } from "../../src/redis/keys.ts";
import { type Door, openDoor } from "./door.ts";
import { type Bench, type Figure, sized } from "./figure.ts";
import { openProduct, type Product } from "./product.ts";
import { atRest } from "./task.ts";

const CONVERSATIONS = sized(10_000, 300);
/** A worker takes memory for its first ones that it does not take for more. */
const FIRST = CONVERSATIONS / 5;
const AT_ONCE = 100;
const PRESSES = sized(1_000, 100);

export const parked: Bench = {
  name: "parked",
  what: `${CONVERSATIONS} conversations that wait for an approval: what a worker and Redis keep of each, and ${PRESSES} presses at once`,
  rounds: 1,
  run: async () => {
    const product = await openProduct();
    const worker = await product.start("worker");
    const door = await openDoor(product);
    await door.answerPosts();
    await park(product, door, 0, FIRST);
    const before = await worker.standing();
    const redisBefore = await usedBy(product.redis);
    await park(product, door, FIRST, CONVERSATIONS);
    const after = await worker.standing();
    const more = CONVERSATIONS - FIRST;
    const raw = await rawBytes(product, door);
    const each = ((await usedBy(product.redis)) - redisBefore) / more;
    const bells = (await product.redis.keys("{dh}:wake-*")).filter((key) => /:\d+(:|$)|:de:/.test(key)).length;
    const pressed = await pressAll(product, door);
    await door.close();
    await product.close();
    const kept = ((after.heap - before.heap) / more) * 1000;
    const resident = `resident ${before.rss.toFixed(0)} MB before, ${after.rss.toFixed(0)} MB after`;
    return figures(kept, resident, each, raw, bells, pressed);
  },
};

function figures(kept: number, resident: string, each: number, raw: number, bells: number, pressed: number): Figure[] {
  const goal = raw * 1.15 + 2_000;
  return [
    {
      what: "what a worker keeps of each",
      value: kept,
      unit: " kB",
      goal: { at: "most", value: 1 },
      detail: `heap and buffers from the ${FIRST}th on, after a collection; ${resident}`,
    },
    {
      what: "Redis's memory of each, against 1.15 times the raw log and 2 kB",
      value: each / goal,
      unit: "×",
      goal: { at: "most", value: 1 },
      detail: `${(each / 1000).toFixed(2)} kB; the raw log is ${(raw / 1000).toFixed(2)} kB`,
    },
    { what: "BullMQ's keys of all", value: bells, unit: "", goal: { at: "most", value: 0 }, detail: "jobs, locks and deduplications" },
    {
      what: `${PRESSES} presses at once: all go on`,
      value: pressed,
      unit: " s",
      goal: { at: "most", value: 3 },
      detail: "from the first press to the last one's next model request; each is denied, so that no command's time is in it",
    },
  ];
}

async function park(product: Product, door: Door, from: number, to: number): Promise<void> {
  const { redis } = product;
  for (let next = from; next < to; next += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, to - next) }, (_, index) => next + index);
    await Promise.all(some.map((thread) => door.say(thread, `ask #p${thread}`)));
    while ((await redis.zcard(KEYS.approvalsDue)) < next + some.length) await sleep(5);
  }
  await atRest(product);
}

/** Bytes; what its own connections take is no part of it. */
async function usedBy(redis: Redis): Promise<number> {
  const [, bytes] = /used_memory_dataset:(\d+)/.exec(await redis.info("memory")) ?? [];
  return Number(bytes);
}

/** Of one conversation, as its entries were written. */
async function rawBytes({ redis }: Product, door: Door): Promise<number> {
  const rows = await redis.xrange(KEYS.log(door.conversation(CONVERSATIONS - 1)), "-", "+");
  return rows.reduce((sum, [id, fields]) => sum + id.length + fields.join("").length, 0);
}

async function pressAll(product: Product, door: Door): Promise<number> {
  const { model } = product;
  const before = model.asked().length;
  const start = performance.now();
  await Promise.all(Array.from({ length: PRESSES }, (_, thread) => door.deny(thread)));
  await model.until("all go on", () => model.asked().length >= before + PRESSES);
  return (performance.now() - start) / 1000;
}
