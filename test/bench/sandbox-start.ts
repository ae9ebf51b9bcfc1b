import type { Reach } from "../../src/core/sandbox.ts";
import { bare, bareBwrap, BASH_TRUE } from "./bare.ts";
import { type Bench, type Figure, inTurn, median, spread, timed } from "./figure.ts";
import { benchPlace } from "./place.ts";
import { startWorker } from "./workers.ts";

const SAMPLES = 30;
const HEAVY_MB = 1000;

export const sandboxStart: Bench = {
  name: "sandbox-start",
  what: "`true` in the full sandbox, against a bare `bash -c true` plus a bare bubblewrap of the same arguments around it",
  rounds: 5,
  run: async (rounds) => [...(await againstBare(rounds)), ...(await byMemory(rounds))],
};

async function againstBare(rounds: number): Promise<Figure[]> {
  const { place, run, close } = await benchPlace();
  const bwrap = await bareBwrap(run, place);
  const ours = (reach: Reach) => () => timed(() => run("true", { reach }));
  const cases = {
    bash: () => timed(() => bare(BASH_TRUE)),
    bwrap: () => timed(() => bwrap.bare([...bwrap.words, ...BASH_TRUE])),
    read: ours("read"),
    contained: ours("contained"),
    approved: ours("approved"),
  };
  await inTurn(5, cases);
  const measured = { bash: [], bwrap: [], read: [], contained: [], approved: [] } as Record<keyof typeof cases, number[]>;
  for (let round = 0; round < rounds; round++) {
    const one = await inTurn(SAMPLES, cases);
    for (const name of Object.keys(cases) as (keyof typeof cases)[]) measured[name].push(median(one[name]));
  }
  await close();
  const floors = measured.bash.map((ms, round) => ms + (measured.bwrap[round] as number));
  const figure = (reach: "read" | "contained" | "approved"): Figure => {
    const ratios = measured[reach].map((ms, round) => ms / (floors[round] as number));
    const detail = `${spread(measured[reach])} ms against ${spread(measured.bash)} + ${spread(measured.bwrap)} ms; ratios ${spread(ratios, "", 2)}`;
    return { what: `\`true\`, ${reach}`, value: median(ratios), unit: "×", detail };
  };
  return [{ ...figure("read"), goal: { at: "most", value: 1.5 } }, figure("contained"), figure("approved")];
}

async function byMemory(rounds: number): Promise<Figure[]> {
  const { place, close } = await benchPlace();
  const light = await startWorker(place, 0);
  const heavy = await startWorker(place, HEAVY_MB);
  const cases = { light: async () => (await light.run("true")).ms, heavy: async () => (await heavy.run("true")).ms };
  await inTurn(5, cases);
  const measured: Record<"light" | "heavy", number[]> = { light: [], heavy: [] };
  for (let round = 0; round < rounds; round++) {
    const one = await inTurn(SAMPLES, cases);
    for (const name of ["light", "heavy"] as const) measured[name].push(median(one[name]));
  }
  await Promise.all([light.close(), heavy.close()]);
  await close();
  const ratios = measured.heavy.map((ms, round) => ms / (measured.light[round] as number));
  return [
    {
      what: "`true` with 1 GB in use in the worker, against none",
      value: median(ratios),
      unit: "×",
      goal: { at: "most", value: 1.3 },
      detail: `${spread(measured.heavy)} ms against ${spread(measured.light)} ms; ratios ${spread(ratios, "", 2)}`,
    },
  ];
}
