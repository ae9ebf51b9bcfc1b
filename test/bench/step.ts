import { BASH_TRUE, bareBwrap } from "./bare.ts";
import { type Bench, type Figure, inTurn, median, ratiosOf, sized, spread, timed } from "./figure.ts";
import { type Floor, startFloor } from "./floors.ts";
import type { Asked } from "./model.ts";
import { benchPlace } from "./place.ts";
import { type AppProcess, openProduct, type Product } from "./product.ts";
import { doTask, stepsOf, type Task, wordsOf } from "./task.ts";

const TASK: Task = { turns: 5, perTurn: sized(40, 8) };
const STEPS = TASK.turns * TASK.perTurn;
const BWRAPS = sized(60, 10);

/** What the rounds gave, in milliseconds. */
interface Measured {
  /** The median step, a round. */
  step: number[];
  /** The last ten steps against that. */
  last: number[];
  cpu: number[];
}

interface Runner {
  once(name: string): Promise<{ asked: Asked[]; cpu: number }>;
  close(): Promise<void>;
}

export const step: Bench = {
  name: "step",
  what: `a task of ${STEPS} steps of \`true\`, the model's time taken out, against a loop of fetch and spawn`,
  rounds: 5,
  run: async (rounds) => {
    const bwraps = await bareBwraps();
    const model = { floor: await ofFloor("floor"), openai: await ofFloor("floor-openai") };
    const runners = { ...model, none: await ofProduct("none"), bwrap: await ofProduct("bwrap") };
    const names = Object.keys(runners) as (keyof typeof runners)[];
    const all = Object.fromEntries(names.map((name) => [name, { step: [], last: [], cpu: [] }])) as unknown as Record<
      keyof typeof runners,
      Measured
    >;
    const bwrap: number[] = [];
    // The first time everybody compiles.
    for (let round = 0; round <= rounds; round++) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const { asked, cpu } = await runners[name].once(`${name}${round}`);
        if (round > 0) keep(all[name], stepsOf(asked), cpu);
      }
      if (round > 0) bwrap.push(await bwraps.round());
    }
    await Promise.all([bwraps.close(), ...names.map((name) => runners[name].close())]);
    return figures(all, bwrap);
  },
};

function keep(measured: Measured, steps: number[], cpu: number): void {
  if (steps.length !== STEPS) throw new Error(`${steps.length} steps instead of ${STEPS}`);
  measured.step.push(median(steps));
  measured.last.push(median(steps.slice(-10)) / median(steps));
  measured.cpu.push(cpu / STEPS);
}

function figures({ floor, openai, none, bwrap }: Record<"floor" | "openai" | "none" | "bwrap", Measured>, bare: number[]): Figure[] {
  const withBwrap = floor.step.map((ms, round) => ms + (bare[round] as number));
  const ratio = (what: string, goal: number | null, ours: number[], floors: number[], against: string): Figure => ({
    what,
    value: median(ratiosOf(ours, floors)),
    unit: "×",
    ...(goal === null ? {} : { goal: { at: "most" as const, value: goal } }),
    detail: `${spread(ours, " ms")} against ${spread(floors, " ms")} ${against}; ratios ${spread(ratiosOf(ours, floors), "", 2)}`,
  });
  const last = (what: string, { last: values }: Measured): Figure => {
    return { what, value: median(values), unit: "×", goal: { at: "most", value: 1.15 }, detail: spread(values, "", 2) };
  };
  return [
    ratio("a step, no sandbox", 1.7, none.step, floor.step, "of fetch and spawn"),
    ratio("a step, full sandbox", 1.5, bwrap.step, withBwrap, "of fetch and spawn and a bare bubblewrap"),
    last("the last 10 steps against the median, no sandbox", none),
    last("the last 10 steps against the median, full sandbox", bwrap),
    ratio("CPU of a step, no sandbox", 1.2, none.cpu, openai.cpu, "of openai and execa"),
    ratio("CPU of a step, full sandbox", null, bwrap.cpu, openai.cpu, "of openai and execa"),
    ratio("a step of openai and execa", null, openai.step, floor.step, "of fetch and spawn"),
  ];
}

async function ofFloor(program: "floor" | "floor-openai"): Promise<Runner> {
  const product = await openProduct();
  const floor: Floor = await startFloor(program, product.model.baseUrl);
  return {
    async once(name) {
      const { cpu } = await floor.run([wordsOf(name, TASK)]);
      await product.model.done(name, TASK.turns);
      return { asked: product.model.asked(name), cpu };
    },
    close: async () => void (await Promise.all([floor.close(), product.close()])),
  };
}

async function ofProduct(sandbox: "none" | "bwrap"): Promise<Runner> {
  const product: Product = await openProduct({ sandbox });
  const app: AppProcess = await product.start();
  return {
    async once(name) {
      const before = app.cpu();
      const asked = await doTask(product, name, TASK);
      return { asked, cpu: app.cpu() - before };
    },
    close: () => product.close(),
  };
}

/** A bare bubblewrap of the arguments that the sandbox gives it, with `true` inside. */
async function bareBwraps(): Promise<{ round(): Promise<number>; close(): Promise<void> }> {
  const { place, run, close } = await benchPlace();
  const bwrap = await bareBwrap(run, place);
  const cases = { bwrap: () => timed(() => bwrap.bare([...bwrap.words, ...BASH_TRUE])) };
  return { round: async () => median((await inTurn(BWRAPS, cases)).bwrap), close };
}
