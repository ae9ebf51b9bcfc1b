import { flood } from "../support/flood.ts";
import { PLATFORMS, type Platform } from "../support/stage.ts";
import { type Bench, type Figure, spread } from "./figure.ts";

const LOAD = { threads: 6, steps: 6, calls: 8 };

export const posting: Bench = {
  name: "posting",
  what: `a card while ${LOAD.threads} threads of its channel print more than the platform takes, from its entry in the log to the thread`,
  rounds: 2,
  run: async (rounds) => {
    const figures: Figure[] = [];
    for (const platform of PLATFORMS) figures.push(await underLoad(platform, rounds));
    return figures;
  },
};

async function underLoad(platform: Platform, rounds: number): Promise<Figure> {
  const [cards, outputs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const { broken, limited, ...delays } = await flood(platform, LOAD);
    if (broken.length > 0 || limited > 0) throw new Error(`${limited} calls were limited; ${broken.join("; ")}`);
    cards.push(...delays.cards.map((ms) => ms / 1000));
    outputs.push(...delays.outputs.map((ms) => ms / 1000));
  }
  return {
    what: `the slowest card under load, ${platform}`,
    value: Math.max(...cards),
    unit: " s",
    goal: { at: "most", value: 5 },
    detail: `${cards.length} cards: ${spread(cards, " s")}; ${outputs.length} outputs: ${spread(outputs, " s")}; no call limited`,
  };
}
