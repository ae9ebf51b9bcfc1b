import { processesWith, until, uniqueSleep } from "../support/workspace.ts";
import { type Bench, type Figure, spread } from "./figure.ts";
import { now } from "./model.ts";
import { openProduct } from "./product.ts";

export const recover: Bench = {
  name: "recover",
  what: "a worker is killed while its command runs: until another one has asked the model again, locks as shipped",
  rounds: 2,
  run: async (rounds) => {
    const times: number[] = [];
    let extending = 0;
    for (let round = 0; round < rounds; round++) {
      const { ms, extended } = await recovery();
      times.push(ms / 1000);
      extending += extended ? 1 : 0;
    }
    const figures: Figure[] = [
      {
        what: "kill to the next model request",
        value: Math.max(...times),
        unit: " s",
        goal: { at: "most", value: 15 },
        detail: `the most of all rounds; ${spread(times, " s")}`,
      },
      {
        what: "requests after a kill that extend the one before byte for byte",
        value: extending / times.length,
        unit: "×",
        goal: { at: "least", value: 1 },
        detail: `${extending} of ${times.length}`,
      },
    ];
    return figures;
  },
};

async function recovery(): Promise<{ ms: number; extended: boolean }> {
  const product = await openProduct();
  const { model } = product;
  await product.start("gateway");
  const first = await product.start("worker");
  const seconds = uniqueSleep().replace("sleep ", "");
  await product.mention(`sleep ${seconds} #killed`);
  await until("the command runs", () => processesWith(`sleep ${seconds}`).length > 0);
  await product.start("worker");
  const start = now();
  await first.kill();
  await model.until("another worker goes on", () => model.asked("killed").length > 1, 60_000);
  const next = model.asked("killed")[1];
  await product.close();
  return { ms: (next?.at ?? 0) - start, extended: next?.extends === true };
}
