import { setTimeout as sleep } from "node:timers/promises";
import { PLATFORMS, type Platform } from "../support/stage.ts";
import { mentioned, pressed, startBareChat } from "./bare-chats.ts";
import { type Bench, type Figure, median, quantile, ratiosOf, sized, spread } from "./figure.ts";
import { openProduct, type Product } from "./product.ts";
import { allPosted, atRest, refillBudgets } from "./task.ts";

const SAMPLES = sized(15, 4);
const PACE_MS = 40;

/** An approval that waits for its press. */
interface Card {
  name: string;
  root: string;
  ts: string;
  channel: string;
}

/** Milliseconds. */
interface Press {
  acked: number;
  /** The command itself said that it had begun. */
  began: number;
}

export const press: Bench = {
  name: "press",
  what: "from the press on Approve to its acknowledgement and to the first words of the command, the decision durable before both",
  rounds: 5,
  run: async (rounds) => {
    const figures: Figure[] = [];
    for (const platform of PLATFORMS) figures.push(...(await acknowledged(platform, rounds)));
    figures.push(...(await started("none", rounds)), ...(await started("bwrap", rounds)));
    return figures;
  },
};

async function acknowledged(platform: Platform, rounds: number): Promise<Figure[]> {
  const bare = await startBareChat(platform);
  const product = await openProduct({ platform, limits: false });
  await product.start();
  const { root } = await mentioned(bare.stage, "card");
  const [card] = bare.stage.thread("C1", root, "bot");
  const floor = (): Promise<number> => pressed(bare.stage, root, card?.ts ?? "");
  const times = { floor: [] as number[], ours: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    const cards = await askMany(product, `${platform}${round}`, SAMPLES);
    const floors = await measured(SAMPLES, floor);
    const ours = await measured(SAMPLES, async (index) => (await approve(product, cards[index] as Card)).acked);
    // The first time everybody compiles.
    if (round > 0) times.floor.push(median(floors));
    if (round > 0) times.ours.push(median(ours));
  }
  await Promise.all([bare.close(), product.close()]);
  const ratios = ratiosOf(times.ours, times.floor);
  const detail = `${spread(times.ours, " ms", 2)} against ${spread(times.floor, " ms", 2)}; ratios ${spread(ratios, "", 2)}`;
  return [{ what: `press to acknowledgement, ${platform}`, value: median(ratios), unit: "×", goal: { at: "most", value: 2 }, detail }];
}

async function started(sandbox: "none" | "bwrap", rounds: number): Promise<Figure[]> {
  const product = await openProduct({ sandbox, limits: false });
  let app = await product.start();
  const fresh: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const cards = await askMany(product, `fresh${round}`, SAMPLES);
    const times = await measured(SAMPLES, async (index) => (await approve(product, cards[index] as Card)).began);
    if (round > 0) fresh.push(...times);
  }
  const parked = await askMany(product, "parked", SAMPLES * 2);
  await app.stop();
  app = await product.start();
  // What is new in a process is not what is measured.
  for (const card of await askMany(product, "warm", SAMPLES)) await approve(product, card);
  const later = await measured(parked.length, async (index) => (await approve(product, parked[index] as Card)).began);
  const same = parked.filter(({ name }) => product.model.asked(name).at(-1)?.extends === true).length;
  await product.close();
  const where = sandbox === "none" ? "no sandbox" : "full sandbox";
  return [
    ...figures(`press to command started, ${where}`, fresh),
    ...figures(`press to command started, ${where}, parked before a restart`, later),
    {
      what: `requests after a restart and an approval that extend the one before byte for byte, ${where}`,
      value: same / parked.length,
      unit: "×",
      goal: { at: "least", value: 1 },
      detail: `${same} of ${parked.length}`,
    },
  ];
}

function figures(what: string, times: number[]): Figure[] {
  const detail = `${times.length} presses: ${spread(times, " ms")}`;
  return [
    { what, value: median(times), unit: " ms", goal: { at: "most", value: 10 }, detail },
    { what: `${what}, p99`, value: quantile(times, 0.99), unit: " ms", goal: { at: "most", value: 30 }, detail },
  ];
}

async function measured(times: number, act: (index: number) => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let index = 0; index < times; index++) {
    all.push(await act(index));
    await sleep(PACE_MS);
  }
  return all;
}

/** Conversations that wait for an approval, one in each thread. */
async function askMany(product: Product, name: string, count: number): Promise<Card[]> {
  const { stage } = product.deck;
  const cards: Card[] = [];
  for (let index = 0; index < count; index++) {
    const channel = `C${(index % 30) + 1}`;
    await refillBudgets(product);
    const root = await product.mention(`ask #${name}x${index}`, channel);
    const { ts } = await stage.waitFor(() => stage.thread(channel, root, "bot").find(({ text }) => /\[ Approve \]/.test(text)), 60_000);
    cards.push({ name: `${name}x${index}`, root, ts, channel });
  }
  await allPosted(product);
  return cards;
}

async function approve(product: Product, { name, root, ts, channel }: Card): Promise<Press> {
  const { deck, model } = product;
  await refillBudgets(product);
  const pressedAt = performance.timeOrigin + performance.now();
  const acked = await pressed(deck.stage, root, ts, channel);
  await model.done(name);
  await atRest(product);
  const entries = await product.entries(deck.stage.conversation(channel, root));
  const said = entries.findLast((entry) => entry.type === "run-ended");
  const began = Number(/began (\d+\.\d+)/.exec(said?.type === "run-ended" ? said.output.text : "")?.[1]) * 1000;
  if (!(began > 0)) throw new Error(`the command said nothing: ${JSON.stringify(said)}`);
  return { acked, began: began - pressedAt };
}
