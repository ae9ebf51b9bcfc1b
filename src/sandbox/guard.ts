import { lines } from "../core/lines.ts";
import { asDeckhandError, DeckhandError } from "../core/errors.ts";
import type { RunOptions, RunResult, RunSpec } from "../core/sandbox.ts";
import { LIMITS } from "../limits.ts";
import { changesThatRun, INSPECT, type Inspection, protectedPaths, readInspection, refusal } from "./inspect.ts";
import { meaning, refused, type Runs } from "./provider.ts";

/** Paths of the workspace that are mounted once more: `pin` as they are, so that they stay; else read-only. */
export interface Guarded {
  protect: { path: string; pin: boolean }[];
}

type Run = Runs<Guarded>["run"];

/**
 * A command that may write is looked at from both sides: what later runs by itself is read-only for one that nobody
 * approved, and what is new of that kind afterwards is told. In this process one at a time, so that what was seen
 * before still holds; a command of another worker may come between the look and the run.
 */
export function guarded(run: Run, raw: Runs<Guarded>["raw"]): (spec: RunSpec, options: RunOptions) => Promise<RunResult> {
  const inLine = lines();
  let runs = 0;

  async function inspect(spec: RunSpec, signal: AbortSignal): Promise<Inspection> {
    const { workspace } = spec;
    const look: RunSpec = {
      ...{ conversation: "inspect", workspace, cwd: workspace, command: INSPECT },
      ...{ timeoutMs: LIMITS.inspectTime, reach: "read" },
    };
    const { printed, how, words } = await raw(look, { signal }, { protect: [] });
    if (how === "refused") throw meaning(words, look);
    if (how === "interrupted") throw new DeckhandError("SANDBOX_RUNNER", "while the workspace was looked through");
    return readInspection(printed.first);
  }

  async function around(spec: RunSpec, options: RunOptions): Promise<RunResult> {
    const { signal } = options;
    let before: Inspection;
    try {
      before = await inspect(spec, signal);
    } catch (thrown) {
      return refused(asDeckhandError(thrown));
    }
    if (signal.aborted) return NOT_BEGUN;
    const contained = spec.reach !== "approved";
    const why = contained ? refusal(before) : null;
    if (why !== null) return refused(new DeckhandError("WORKSPACE_LINKS", why));
    const result = await run(spec, options, { protect: contained ? protectedPaths(before) : [] });
    if (result.how === "refused") return result;
    const noticed = [...(result.noticed ?? []), ...(await lookAfter(spec, before, signal.aborted))];
    return noticed.length === 0 ? result : { ...result, noticed };
  }

  /** In any case; but whoever stopped the command does not wait for others who have the workspace meanwhile. */
  async function lookAfter(spec: RunSpec, before: Inspection, stopped: boolean): Promise<string[]> {
    const limit = stopped ? AbortSignal.timeout(LIMITS.stoppedLook) : new AbortController().signal;
    try {
      const after = await inspect(spec, limit);
      return limit.aborted ? ["what it left that runs by itself later was not looked at: it was stopped"] : changesThatRun(before, after);
    } catch (thrown) {
      return [`what it left that runs by itself later could not be looked at: ${asDeckhandError(thrown).what}`];
    }
  }

  return async (spec, options) => {
    if (spec.reach === "read" || spec.reach === "probe") return await run(spec, options, { protect: [] });
    runs += 1;
    return await inTurn(
      options.signal,
      (act) => inLine(spec.workspace, String(runs), act),
      () => around(spec, options),
    );
  };
}

const NOT_BEGUN: RunResult = { how: "cancelled", exit: null, output: { text: "", bytes: 0, omitted: 0 }, ms: 0 };

/** A stop ends the wait at once, not when its turn comes. */
async function inTurn(
  signal: AbortSignal,
  line: (act: () => Promise<RunResult>) => Promise<RunResult>,
  act: () => Promise<RunResult>,
): Promise<RunResult> {
  const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
  let begun = false;
  const stop = (): void => void (begun || resolve(NOT_BEGUN));
  signal.addEventListener("abort", stop, { once: true });
  line(async () => {
    if (signal.aborted) return NOT_BEGUN;
    begun = true;
    return await act();
  }).then(resolve, reject);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
