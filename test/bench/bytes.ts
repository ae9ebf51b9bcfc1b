import { type Bench, sized } from "./figure.ts";
import { startFloor } from "./floors.ts";
import type { Asked } from "./model.ts";
import { openProduct } from "./product.ts";
import { doTask, type Task, wordsOf } from "./task.ts";

const TASK: Task = { turns: 5, perTurn: sized(40, 4) };

export const bytes: Bench = {
  name: "bytes",
  what: `what is sent to the model in a task of ${TASK.turns * TASK.perTurn} steps, against the bare loop`,
  rounds: 1,
  run: async () => {
    const product = await openProduct();
    await product.start();
    const floor = await startFloor("floor", product.model.baseUrl);
    await floor.run([wordsOf("floor", TASK)]);
    await product.model.done("floor", TASK.turns);
    const bare = sum(product.model.asked("floor"));
    const ours = await doTask(product, "ours", TASK);
    await floor.close();
    await product.close();
    const connections = new Set(ours.map(({ connection }) => connection)).size;
    const extending = ours.filter((one) => one.extends !== false).length;
    return [
      {
        what: "the first request of a conversation",
        value: (ours[0]?.bytes ?? 0) / 1000,
        unit: " kB",
        goal: { at: "most", value: 6 },
        detail: "with the instructions and the tools",
      },
      {
        what: "all requests together",
        value: sum(ours) / bare,
        unit: "×",
        goal: { at: "most", value: 1.3 },
        detail: `${(sum(ours) / 1000).toFixed(0)} kB against ${(bare / 1000).toFixed(0)} kB`,
      },
      { what: "connections to the model", value: connections, unit: "", goal: { at: "most", value: 1 }, detail: `${ours.length} requests` },
      {
        what: "requests that extend the one before byte for byte",
        value: extending / ours.length,
        unit: "×",
        goal: { at: "least", value: 1 },
        detail: `${extending} of ${ours.length}`,
      },
    ];
  },
};

function sum(asked: Asked[]): number {
  return asked.reduce((all, { bytes: some }) => all + some, 0);
}
