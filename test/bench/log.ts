import { History } from "../../src/core/history.ts";
import { openSession } from "../../src/core/session.ts";
import { KEYS } from "../../src/redis/keys.ts";
import { systemClock } from "../../src/system.ts";
import { openDoor } from "./door.ts";
import { type Bench, type Figure, inTurn, median, ratiosOf, sized, spread, timed } from "./figure.ts";
import { fillLog, lockOf } from "./long-log.ts";
import { openProduct, type Product } from "./product.ts";
import { atRest, refillBudgets, stepsOf } from "./task.ts";

const ENTRIES = 1000;
const BYTES = 1300;
const SAMPLES = sized(20, 5);
const LONG = sized(5000, 1000);
const STEPS = 30;

export const log: Bench = {
  name: "log",
  what: `taking over a log of ${ENTRIES} entries against reading and parsing it; a step of a conversation with ${LONG} entries against one of a new one`,
  rounds: 5,
  run: async (rounds) => {
    const product = await openProduct();
    const figures = [await takeover(product, rounds), await longStep(product, rounds)];
    await product.close();
    return figures;
  },
};

async function takeover(product: Product, rounds: number): Promise<Figure> {
  const door = await openDoor(product);
  const { redis } = product;
  await door.say(1, "hello");
  const conversation = door.conversation(1);
  await fillLog(door.log, redis, conversation, ENTRIES, BYTES);
  let size = 0;
  async function bare(): Promise<void> {
    const rows = await redis.xrange(KEYS.log(conversation), "-", "+");
    size = rows.reduce((sum, [, fields]) => sum + JSON.stringify(JSON.parse(fields[fields.indexOf("b") + 1] as string)).length, 0);
  }
  async function ours(): Promise<void> {
    const taken = await door.log.takeover(conversation, await lockOf(redis));
    if (taken.kind !== "taken") throw new Error("the log was not to be had");
    await openSession(conversation, taken, {
      ...{ log: door.log, clock: systemClock, signal: new AbortController().signal, appended: () => {} },
      tells: () => new History("You run commands.", (text) => text),
    });
  }
  const times = { bare: [] as number[], ours: [] as number[] };
  const cases = { bare: () => timed(bare), ours: () => timed(ours) };
  await inTurn(5, cases);
  for (let round = 0; round < rounds; round++) {
    const one = await inTurn(SAMPLES, cases);
    times.bare.push(median(one.bare));
    times.ours.push(median(one.ours));
  }
  await door.close();
  const ratios = ratiosOf(times.ours, times.bare);
  return {
    what: `takeover and fold of ${ENTRIES} entries`,
    value: median(ratios),
    unit: "×",
    goal: { at: "most", value: 2 },
    detail: `${spread(times.ours, " ms")} against ${spread(times.bare, " ms")} of XRANGE and JSON.parse; ${(size / 1e6).toFixed(2)} MB; ratios ${spread(ratios, "", 2)}`,
  };
}

/** Gateway and worker in one process: what the poster does with a long log is part of it. */
async function longStep(product: Product, rounds: number): Promise<Figure> {
  const { deck, model, redis } = product;
  const door = await openDoor(product);
  await product.start();
  const root = await product.mention("hello #long");
  const conversation = deck.stage.conversation("C1", root);
  await model.done("long");
  await atRest(product);
  await fillLog(door.log, redis, conversation, LONG, 350);
  const times = { fresh: [] as number[], long: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    await refillBudgets(product);
    await product.mention(`steps ${STEPS} #fresh${round}`, `C${round + 2}`);
    await model.done(`fresh${round}`);
    await atRest(product);
    await product.reply(root, `steps ${STEPS} #long${round}`);
    await model.done(`long${round}`);
    await atRest(product);
    if (round === 0) continue;
    times.fresh.push(median(stepsOf(model.asked(`fresh${round}`))));
    times.long.push(median(stepsOf(model.asked(`long${round}`))));
  }
  await door.close();
  const ratios = ratiosOf(times.long, times.fresh);
  return {
    what: `a step at entry ${LONG}`,
    value: median(ratios),
    unit: "×",
    goal: { at: "most", value: 2 },
    detail: `${spread(times.long, " ms")} against ${spread(times.fresh, " ms")} in a new conversation; ratios ${spread(ratios, "", 2)}`,
  };
}
