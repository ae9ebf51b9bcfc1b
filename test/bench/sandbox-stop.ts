import { processesWith, uniqueSleep, until } from "../support/workspace.ts";
import { type Bench, quantile, spread } from "./figure.ts";
import { benchPlace, type Run } from "./place.ts";

const STOPS_PER_ROUND = 20;

/** Each leaves processes of its own kind behind when only its first process is ended. */
const TREES: ((sleep: string) => string)[] = [
  (sleep) => sleep,
  (sleep) => `setsid ${sleep} & setsid nohup ${sleep} >/dev/null 2>&1 & wait`,
  (sleep) => `trap '' TERM INT HUP; while :; do ${sleep}; done`,
  (sleep) => `bash -c "bash -c '${sleep} & ${sleep}' & ${sleep}"; true`,
  (sleep) => `for i in $(seq 40); do (trap '' TERM; setsid ${sleep} &); done; ${sleep}`,
];

export const sandboxStop: Bench = {
  name: "sandbox-stop",
  what: "from the stop of a command with a tree of processes to all of them gone",
  rounds: 5,
  run: async (rounds) => {
    const { run, close } = await benchPlace();
    const times: number[] = [];
    for (let stop = 0; stop < rounds * STOPS_PER_ROUND; stop++) {
      times.push(await timeOfStop(run, TREES[stop % TREES.length] as (sleep: string) => string));
    }
    await close();
    return [
      {
        what: "stop to all processes gone, p99",
        value: quantile(times, 0.99),
        unit: " ms",
        goal: { at: "most", value: 300 },
        detail: `${times.length} stops: ${spread(times, " ms")}`,
      },
    ];
  },
};

async function timeOfStop(run: Run, tree: (sleep: string) => string): Promise<number> {
  const sleep = uniqueSleep();
  const control = new AbortController();
  const running = run(`${tree(sleep)} # ${sleep}`, { signal: control.signal });
  // Beside the command's own words stands the process itself.
  const sleeps = () => processesWith(sleep).length;
  await until("the command runs", () => sleeps() >= 2);
  const start = performance.now();
  control.abort();
  await running;
  const left = sleeps();
  if (left > 0) throw new Error(`${left} processes left`);
  return performance.now() - start;
}
