import { availableParallelism } from "node:os";
import { bareBwrap, BASH_TRUE } from "./bare.ts";
import { type Bench, inTurn, median, spread, timed } from "./figure.ts";
import { benchPlace } from "./place.ts";

const AT_ONCE = 16;
const SAMPLES = 4;

export const sandboxParallel: Bench = {
  name: "sandbox-parallel",
  what: `${AT_ONCE} commands at once, against ${AT_ONCE} bare bubblewraps of the same arguments at once`,
  rounds: 7,
  run: async (rounds) => {
    const { place, run, close } = await benchPlace();
    const bwrap = await bareBwrap(run, place);
    const all = (act: (index: number) => Promise<unknown>) =>
      timed(() => Promise.all(Array.from({ length: AT_ONCE }, (_, index) => act(index))));
    const cases = {
      floor: () => all(() => bwrap.bare([...bwrap.words, ...BASH_TRUE])),
      ours: () => all((index) => run("true", { conversation: `bench ${index}` })),
    };
    await inTurn(1, cases);
    const perSecond: Record<"floor" | "ours", number[]> = { floor: [], ours: [] };
    for (let round = 0; round < rounds; round++) {
      const one = await inTurn(SAMPLES, cases);
      for (const name of ["floor", "ours"] as const) perSecond[name].push((1000 * AT_ONCE) / median(one[name]));
    }
    await close();
    const ratios = perSecond.ours.map((rate, round) => rate / (perSecond.floor[round] as number));
    return [
      {
        what: `${AT_ONCE} commands at once on ${availableParallelism()} cores`,
        value: median(ratios),
        unit: "×",
        goal: { at: "least", value: 0.8 },
        detail: `${spread(perSecond.ours, "", 0)} commands/s against ${spread(perSecond.floor, "", 0)}; ratios ${spread(ratios, "", 2)}`,
      },
    ];
  },
};
