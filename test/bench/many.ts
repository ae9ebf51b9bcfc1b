import { openDoor } from "./door.ts";
import { type Bench, median, ratiosOf, sized, spread } from "./figure.ts";
import { startFloor } from "./floors.ts";
import { openProduct } from "./product.ts";
import { atRest } from "./task.ts";
import { forgetPeaks, memory, peaks } from "./workers.ts";

const CONVERSATIONS = sized(200, 40);
const STEPS = 5;
const MODEL_MS = 500;

export const many: Bench = {
  name: "many",
  what: `${CONVERSATIONS} conversations of ${STEPS} steps at once on one worker, the model takes ${MODEL_MS} ms, no sandbox, against the bare loop`,
  rounds: 5,
  run: async (rounds) => {
    const product = await openProduct();
    const { model } = product;
    const floor = await startFloor("floor", model.baseUrl);
    const worker = await product.start("worker");
    const door = await openDoor(product);
    await door.answerPosts();
    const [floors, ours, grown, floorGrown]: [number[], number[], number[], number[]] = [[], [], [], []];
    const wordsOf = (name: string): string => `steps ${STEPS} delay ${MODEL_MS} #${name}`;
    const all = Array.from({ length: CONVERSATIONS }, (_, index) => index);
    // The first time everybody compiles.
    for (let round = 0; round <= rounds; round++) {
      const bare = await floor.run(all.map((index) => [wordsOf(`f${round}x${index}`)]));
      forgetPeaks([worker.pid]);
      const before = memory([worker.pid]);
      const start = performance.now();
      await Promise.all(all.map((index) => door.say(round * CONVERSATIONS + index, wordsOf(`o${round}x${index}`))));
      await Promise.all(all.map((index) => model.done(`o${round}x${index}`)));
      const ms = performance.now() - start;
      await atRest(product);
      if (round === 0) continue;
      floors.push(bare.ms);
      ours.push(ms);
      grown.push((peaks([worker.pid]) - before) / CONVERSATIONS);
      floorGrown.push(bare.grown / CONVERSATIONS);
    }
    await Promise.all([floor.close(), door.close()]);
    await product.close();
    const ratios = ratiosOf(ours, floors);
    return [
      {
        what: `wall time of ${CONVERSATIONS} conversations at once`,
        value: median(ratios),
        unit: "×",
        goal: { at: "most", value: 1.1 },
        detail: `${spread(ours, " ms", 0)} against ${spread(floors, " ms", 0)}; ${(STEPS + 1) * MODEL_MS} ms are the model's; ratios ${spread(ratios, "", 2)}`,
      },
      {
        what: "memory of each, the worker's peak",
        value: median(grown),
        unit: " MB",
        goal: { at: "most", value: 1 },
        detail: `${spread(grown, " MB", 2)}; of the bare loop ${spread(floorGrown, " MB", 2)}`,
      },
    ];
  },
};
