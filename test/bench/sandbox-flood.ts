import { bare } from "./bare.ts";
import { type Bench, type Figure, median, spread } from "./figure.ts";
import { benchPlace } from "./place.ts";
import { forgetPeaks, memory, peaks, startWorker } from "./workers.ts";

const BYTES = 2_000_000_000;
const FLOOD = `yes | head -c ${BYTES}`;

export const sandboxFlood: Bench = {
  name: "sandbox-flood",
  what: "2 GB of `yes` in the full sandbox, against counting the same bytes from a bare spawn",
  rounds: 5,
  run: async (rounds) => {
    const { place, close } = await benchPlace();
    const [floors, ours, grown, read]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let round = 0; round < rounds; round++) {
      floors.push(await countBare());
      // A new worker each time: in one whose memory has grown before, a flood would not show.
      const worker = await startWorker(place, 0);
      for (let warm = 0; warm < 5; warm++) await worker.run("true");
      const before = memory(worker.pids());
      forgetPeaks(worker.pids());
      const took = await worker.run(FLOOD);
      if (took.bytes !== BYTES) throw new Error(`counted ${took.bytes} of ${BYTES} bytes`);
      ours.push(BYTES / took.ms / 1000);
      grown.push(peaks(worker.pids()) - before);
      read.push(took.read / 1000);
      await worker.close();
    }
    await close();
    return figures(floors, ours, grown, read);
  },
};

function figures(floors: number[], ours: number[], grown: number[], read: number[]): Figure[] {
  const ratios = ours.map((speed, round) => speed / (floors[round] as number));
  return [
    {
      what: "throughput of 2 GB of output",
      value: median(ratios),
      unit: "×",
      goal: { at: "least", value: 0.8 },
      detail: `${spread(ours, "", 0)} MB/s against ${spread(floors, "", 0)} MB/s; ratios ${spread(ratios, "", 2)}`,
    },
    {
      what: "memory of worker and runner during it, grown by",
      value: Math.max(...grown),
      unit: " MB",
      goal: { at: "most", value: 24 },
      detail: `the most of all rounds; ${spread(grown, " MB")}`,
    },
    {
      what: "text of it for the model",
      value: Math.max(...read),
      unit: " kB",
      goal: { at: "most", value: 32 },
      detail: "the most of all rounds",
    },
  ];
}

/** MB a second. */
async function countBare(): Promise<number> {
  let count = 0;
  const start = performance.now();
  await bare(["bash", "-c", FLOOD], (data) => {
    count += data.length;
  });
  if (count !== BYTES) throw new Error(`the floor counted ${count} of ${BYTES} bytes`);
  return count / (performance.now() - start) / 1000;
}
