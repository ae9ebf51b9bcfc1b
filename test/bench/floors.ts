import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ended } from "./models.ts";
import { cpuOf } from "./product.ts";
import { forgetPeaks, memory, peaks } from "./workers.ts";

/** What a bare program took for its conversations. */
export interface FloorRun {
  ms: number;
  /** CPU time with all that it started, in milliseconds. */
  cpu: number;
  /** By how many MB its memory was higher at the most. */
  grown: number;
}

export interface Floor {
  /** Holds conversations at once; each is the words that a person says, one after the other. */
  run(conversations: string[][]): Promise<FloorRun>;
  close(): Promise<void>;
}

const PROGRAMS = { floor: new URL("./floor.ts", import.meta.url), "floor-openai": new URL("./floor-openai.ts", import.meta.url) };

/** A bare program in a process of its own. */
export async function startFloor(program: keyof typeof PROGRAMS, baseUrl: string): Promise<Floor> {
  const child = fork(fileURLToPath(PROGRAMS[program]), [baseUrl]);
  await once(child, "message");
  const pid = child.pid as number;
  return {
    async run(conversations) {
      forgetPeaks([pid]);
      const before = { cpu: cpuOf(pid), memory: memory([pid]) };
      const start = performance.now();
      child.send(conversations);
      await once(child, "message");
      return { ms: performance.now() - start, cpu: cpuOf(pid) - before.cpu, grown: peaks([pid]) - before.memory };
    },
    close: () => ended(child),
  };
}
