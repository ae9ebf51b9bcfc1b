import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestWorkspace } from "../support/workspace.ts";

/** What one command took and gave. */
export interface Took {
  ms: number;
  bytes: number;
  /** Bytes of it that the model reads. */
  read: number;
}

/** A worker in a process of its own, with so much memory in use. */
export interface Worker {
  run(command: string): Promise<Took>;
  /** Itself and its runner. */
  pids(): number[];
  close(): Promise<void>;
}

export async function startWorker({ stateDir, path }: TestWorkspace, megabytes: number): Promise<Worker> {
  const child = fork(fileURLToPath(new URL("./worker.ts", import.meta.url)), [stateDir, path, String(megabytes)]);
  await answer(child);
  return {
    run: async (command) => {
      child.send(command);
      return (await answer(child)) as Took;
    },
    pids: () => [child.pid as number, ...childrenOf(child.pid as number)],
    close: async () => {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}

async function answer(child: ChildProcess): Promise<object> {
  const ended = new AbortController();
  try {
    const { signal } = ended;
    const gone = once(child, "exit", { signal }).then(() => Promise.reject(new Error("the worker ended")));
    const [message] = (await Promise.race([once(child, "message", { signal }), gone])) as [object];
    if ("failure" in message) throw new Error(String(message.failure));
    return message;
  } finally {
    ended.abort();
  }
}

/** Processes that this one has started and that still run. */
export function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

function parentOf(pid: string): number | null {
  try {
    return Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1]);
  } catch {
    // It ended while we looked.
    return null;
  }
}

/** Memory that these processes hold now, in MB. */
export function memory(pids: number[]): number {
  return sum(pids.map((pid) => kilobytes(pid, "VmRSS"))) / 1000;
}

/** The most that each held since `forgetPeaks`, in MB. */
export function peaks(pids: number[]): number {
  return sum(pids.map((pid) => kilobytes(pid, "VmHWM"))) / 1000;
}

export function forgetPeaks(pids: number[]): void {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function kilobytes(pid: number, what: string): number {
  const [, value] = new RegExp(`^${what}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(value) * 1.024;
}

function sum(values: number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
