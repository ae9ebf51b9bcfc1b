import type { Reach, RunResult, Sandbox } from "../../src/core/sandbox.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { makeWorkspace, type TestWorkspace } from "../support/workspace.ts";

/** Runs a command; fails unless it ends as it should: with exit 0, or as cancelled when it is aborted. */
export type Run = (command: string, options?: RunHow) => Promise<RunResult>;

interface RunHow {
  signal?: AbortSignal;
  onChunk?: (text: string) => void;
  reach?: Reach;
  conversation?: string;
}

/** A sandbox in a workspace of its own, warm: its runner is up, with its code compiled, as in any start but the first. */
export interface BenchPlace {
  place: TestWorkspace;
  run: Run;
  close(): Promise<void>;
}

/** Above all that the benches print. */
const NO_FLOOD = 2 ** 40;

export async function benchPlace(): Promise<BenchPlace> {
  const place = makeWorkspace();
  const first = openSandbox(place);
  await first.run("true");
  await first.close();
  const { run, close } = openSandbox(place);
  for (let warm = 0; warm < 5; warm++) await run("true");
  return {
    place,
    run,
    close: async () => {
      await close();
      place.cleanup();
    },
  };
}

export function openSandbox({ stateDir, path }: Pick<TestWorkspace, "stateDir" | "path">): { run: Run; close: Sandbox["close"] } {
  const sandbox = bwrapSandbox({ stateDir, runAs: null, floodBytes: NO_FLOOD });
  const run: Run = async (command, { signal, onChunk, reach = "read", conversation = "bench" } = {}) => {
    const spec = { conversation, workspace: path, cwd: path, command, timeoutMs: 120_000, reach };
    const options = { signal: signal ?? new AbortController().signal, ...(onChunk === undefined ? {} : { onChunk }) };
    const result = await sandbox.run(spec, options);
    if (signal?.aborted === true ? result.how !== "cancelled" : result.exit !== 0) {
      throw new Error(`${command}: ${result.how}, exit ${result.exit}, ${result.why ?? result.output.text.slice(0, 500)}`);
    }
    return result;
  };
  return { run, close: () => sandbox.close() };
}

/** Ends a command and waits for its end, however it came. */
export async function stopped(control: AbortController, running: Promise<RunResult>): Promise<void> {
  control.abort();
  await running.catch(() => {});
}
