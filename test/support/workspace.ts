import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { RunResult, RunSpec, Sandbox } from "../../src/core/sandbox.ts";

/** Whom commands run as when root runs the tests: nobody's account, so nothing on this machine is its own. */
export const RUN_UID = 64_001;

/** A workspace and a state folder of a test's own, usable by an unprivileged run user also when root runs the tests. */
export interface TestWorkspace {
  /** Holds both; put what must not be seen by commands here. */
  root: string;
  path: string;
  stateDir: string;
  /** Gives a file or folder to the run user. */
  give(path: string): void;
  cleanup(): void;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

export function makeWorkspace(): TestWorkspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "deckhand-")));
  chmodSync(root, 0o755);
  const give = (path: string) => {
    if (isRoot()) chownSync(path, RUN_UID, RUN_UID);
  };
  const path = join(root, "ws");
  const stateDir = join(root, "state");
  mkdirSync(path);
  mkdirSync(stateDir);
  give(path);
  return { root, path, stateDir, give, cleanup: () => rmSync(root, { recursive: true, force: true }) };
}

/** Runs commands of one conversation in a workspace. */
export type Shell = (
  command: string,
  options?: Partial<RunSpec> & { signal?: AbortSignal; onChunk?: (text: string) => void },
) => Promise<RunResult>;

export function shellIn(sandbox: Sandbox, workspace: string): Shell {
  return (command, { signal, onChunk, ...spec } = {}) =>
    sandbox.run(
      { conversation: "slack:T1:C1:1.1", workspace, cwd: workspace, timeoutMs: 30_000, reach: "contained", ...spec, command },
      { signal: signal ?? new AbortController().signal, ...(onChunk === undefined ? {} : { onChunk }) },
    );
}

/** Waits until something holds; fails with its description when it does not within 15 seconds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 15_000; !holds(); ) {
    if (Date.now() > end) throw new Error(`still not so: ${what}`);
    await setTimeout(20);
  }
}

/** Processes of this machine, in whatever namespace, whose words contain this: `sleep 60` and whatever started it. */
export function processesWith(words: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && read(`/proc/${name}/cmdline`).replaceAll("\0", " ").includes(words))
    .map(Number);
}

/** Ended processes of this name that nobody has taken note of. */
export function zombies(name: string): number[] {
  const pids = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid));
  return pids.filter((pid) => read(`/proc/${pid}/stat`).includes(`(${name}) Z`)).map(Number);
}

/** The processes that this one has started and that are still there. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && new RegExp(`\\) \\S ${pid} `).test(read(`/proc/${name}/stat`)))
    .map(Number);
}

/** The first processes of the sandboxes that wait for a command, of the workers that share a state folder. */
export function sparesOf(stateDir: string): number[] {
  return processesWith(`${stateDir}/c/`)
    .flatMap(childrenOf)
    .filter((pid) => read(`/proc/${pid}/cmdline`) === "/bin/sh\0-s\0" && childrenOf(pid).length === 0);
}

/** Waits until every process of this name that has ended by now is taken note of; others end all the time. */
export async function noZombies(name: string, known: number[]): Promise<void> {
  const fresh = zombies(name).filter((pid) => !known.includes(pid));
  await until("no new zombie stays", () => !zombies(name).some((pid) => fresh.includes(pid)));
}

/** A length of sleep that no other test uses: its process can be found by it. */
export function uniqueSleep(): string {
  return `sleep 1${Math.random().toFixed(9).slice(2)}`;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process has ended meanwhile.
    return "";
  }
}
