import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Door } from "./doors.ts";
import { childrenOf, noZombies, processesWith, sparesOf, uniqueSleep, until, zombies } from "./workspace.ts";

interface Left {
  runners: number;
  /** Beside the workspace and the state folder. */
  outside: string[];
  workspace: string[];
  /** Files and folders of the state folder, and the bytes in them. */
  state: { count: number; bytes: number };
}

/** Runs so many commands of every kind and end, and looks whether anything is left that was not there after the first. */
export async function manyRuns(door: Door, count: number): Promise<void> {
  const marks = uniqueSleep();
  const kinds = [...kindsOf(door, marks)];
  for (const kind of kinds) await kind();
  const before = await settled(door, marks);
  const known = zombies("bwrap");
  const open = descriptors(door);
  for (let run = 0; run < count; run++) await kinds[run % kinds.length]?.();
  await noZombies("bwrap", known);
  // The lock of those that read is kept for a moment.
  await until("no descriptor is left", () => descriptors(door).every((count, at) => count <= (open[at] ?? 0)));
  const after = await settled(door, marks);
  expect({ ...after, state: null }).toEqual({ ...before, state: null });
  // A few files more or less: pipes are made ahead.
  expect(after.state.count).toBeLessThan(before.state.count + 20);
  expect(after.state.bytes).toBeLessThan(before.state.bytes + 100_000);
}

function kindsOf({ sh }: Door, mark: string): (() => Promise<unknown>)[] {
  const ends = async (how: string, running: ReturnType<Door["sh"]>) => expect(await running).toMatchObject({ how });
  const aborted = () => AbortSignal.timeout(60);
  return [
    () => ends("exited", sh("true", { reach: "read" })),
    () => ends("exited", sh(`${mark} & echo done`)),
    () => ends("exited", sh("exit 3", { reach: "approved" })),
    () => ends("timeout", sh(mark, { reach: "read", timeoutMs: 50 })),
    () => ends("cancelled", sh(`echo; ${mark}`, { reach: "read", signal: aborted() })),
    () => ends("exited", sh("echo x >/tmp/x; echo x >~/x; head -c 300000 /dev/zero", { reach: "approved" })),
    () => ends("refused", sh("true", { cwd: "/nowhere" })),
    () => ends("exited", sh("kill -9 $$", { reach: "read", conversation: "another" })),
    () => ends("exited", sh("setsid sleep 5 & exec true", { reach: "read" })),
    () => ends("cancelled", sh("true", { reach: "read", signal: AbortSignal.abort() })),
  ];
}

async function settled({ place, worker }: Door, mark: string): Promise<Left> {
  await until("no process of a command is left", () => processesWith(mark).length === 0);
  const runners = runnersOf(worker.pid);
  await until(
    "the worker and its runner have no other children than sandboxes that wait",
    () => [worker.pid, ...runners].flatMap(childrenOf).length === runners.length + sparesOf(place.stateDir).length,
  );
  // A few conversations have read something.
  expect(sparesOf(place.stateDir).length).toBeLessThan(5);
  const state = walk(place.stateDir);
  return {
    runners: runners.length,
    outside: walk(place.root).filter((path) => !path.startsWith(place.stateDir) && !path.startsWith(place.path)),
    workspace: walk(place.path),
    state: { count: state.length, bytes: state.reduce((sum, path) => sum + sizeOf(path), 0) },
  };
}

/** How many are open in the worker, and in its runner beside those of sandboxes that wait: input, two outputs and the status. */
function descriptors({ worker, place }: Door): number[] {
  const open = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
  return [open(worker.pid), ...runnersOf(worker.pid).map((pid) => open(pid) - 4 * sparesOf(place.stateDir).length)];
}

function runnersOf(worker: number): number[] {
  const runners = processesWith("runner-main.ts");
  return childrenOf(worker).filter((pid) => runners.includes(pid));
}

function walk(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
