import { setTimeout as sleep } from "node:timers/promises";
import { PLATFORMS, type Platform } from "../support/stage.ts";
import { mentioned, startBareChat } from "./bare-chats.ts";
import { type Bench, type Figure, median, quantile, ratiosOf, sized, spread } from "./figure.ts";
import { now } from "./model.ts";
import { openProduct } from "./product.ts";
import { allPosted, atRest, refillBudgets } from "./task.ts";

const SAMPLES = sized(20, 8);
const WARM_UP = sized(20, 4);
/** discord.js holds itself to 50 requests a second. */
const PACE_MS = 40;

export const mention: Bench = {
  name: "mention",
  what: "from a mention to the first post and to the first model request, the mention durable in the log before both",
  rounds: 5,
  run: async (rounds) => {
    const figures: Figure[] = [];
    for (const platform of PLATFORMS) figures.push(...(await onPlatform(platform, rounds)));
    return figures;
  },
};

async function onPlatform(platform: Platform, rounds: number): Promise<Figure[]> {
  const bare = await startBareChat(platform);
  const product = await openProduct({ platform, limits: false });
  await product.start();
  const asked: number[] = [];
  let count = 0;
  // On Discord ours answers in a thread, which has to be begun: then the floor begins one too.
  const words = platform === "discord" ? "card" : "hello";
  const floor = async (): Promise<number> => (await mentioned(bare.stage, words, channel(count++))).ms;
  async function ours(): Promise<number> {
    const name = `m${(count += 1)}`;
    await refillBudgets(product);
    const start = now();
    const { ms } = await mentioned(product.deck.stage, `hello #${name}`, channel(count));
    const { at } = await product.model.done(name);
    asked.push(at - start);
    await atRest(product);
    await allPosted(product);
    return ms;
  }
  const times = { floor: [] as number[][], ours: [] as number[][] };
  for (const [cases, keep] of [
    [floor, times.floor],
    [ours, times.ours],
  ] as const) {
    keep.push(await measured(WARM_UP, cases));
  }
  asked.length = 0;
  for (let round = 0; round < rounds; round++) {
    times.floor.push(await measured(SAMPLES, floor));
    times.ours.push(await measured(SAMPLES, ours));
  }
  await Promise.all([bare.close(), product.close()]);
  return figures(platform, times.floor.slice(1), times.ours.slice(1), asked);
}

/** Each in another channel than the one before: the budget of one is no part of this. */
function channel(count: number): string {
  return `C${(count % 30) + 1}`;
}

async function measured(times: number, act: () => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let time = 0; time < times; time++) {
    all.push(await act());
    await sleep(PACE_MS);
  }
  return all;
}

function figures(platform: Platform, floors: number[][], ours: number[][], asked: number[]): Figure[] {
  const [medians, floor, all] = [ours.map(median), floors.map(median), ours.flat()];
  const ratios = ratiosOf(medians, floor);
  const client = platform === "slack" ? "a bare Bolt" : "a bare discord.js";
  const p99 = (times: number[]): number => quantile(times, 0.99);
  return [
    {
      what: `mention to first post, ${platform}`,
      value: median(ratios),
      unit: "×",
      goal: { at: "most", value: 2 },
      detail: `${spread(medians, " ms", 2)} against ${spread(floor, " ms", 2)} of ${client}; ratios ${spread(ratios, "", 2)}`,
    },
    {
      what: `mention to first post, ${platform}, p99`,
      value: p99(all),
      unit: " ms",
      goal: { at: "most", value: 15 },
      detail: `${all.length} mentions: ${spread(all, " ms")}; ${client} ${p99(floors.flat()).toFixed(1)} ms`,
    },
    {
      what: `mention to first model request, ${platform}`,
      value: median(asked),
      unit: " ms",
      goal: { at: "most", value: 10 },
      detail: `${asked.length} mentions: ${spread(asked, " ms")}`,
    },
    {
      what: `mention to first model request, ${platform}, p99`,
      value: p99(asked),
      unit: " ms",
      goal: { at: "most", value: 30 },
      detail: `${asked.length} mentions: ${spread(asked, " ms")}`,
    },
  ];
}
