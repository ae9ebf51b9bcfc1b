import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, constants, openSync, readlinkSync } from "node:fs";
import type { Writable } from "node:stream";
import { messageOf } from "../core/errors.ts";
import { type Job, MOVED } from "./messages.ts";
import type { OutputPipe } from "./pipes.ts";

/** Starts a job up to where it waits for the word to go; nothing was heard of it yet. Throws when it cannot be started. */
export function begin(job: Job, pipe: OutputPipe): { child: ChildProcess; pipe: OutputPipe; words: string; said: string } {
  try {
    const child = startJob(job, pipe.write);
    // The shell may be gone before it is told anything.
    child.stdin?.on("error", () => {});
    child.stdin?.write(job.fed.first);
    return { child, pipe, words: "", said: "" };
  } catch (thrown) {
    pipe.close();
    throw thrown;
  } finally {
    closeSync(pipe.write);
  }
}

/** The first process inside, from what bubblewrap has said on its status channel; null before it has said so. */
export function innerOf(said: string): number | null {
  const inner = /"child-pid": (\d+)\D/.exec(said)?.[1];
  return inner === undefined ? null : Number(inner);
}

/**
 * Starts a job with its output into a descriptor. Throws when it cannot be started. The seccomp program is opened anew
 * each time: bubblewrap reads it to its end.
 */
function startJob(job: Job, output: number): ChildProcess {
  const [file, ...args] = job.argv as [string, ...string[]];
  const opened: number[] = [];
  const open = (fd: number): number => (opened.push(fd), fd);
  try {
    const stdio: StdioOptions = ["pipe", output, "pipe"];
    if (job.seccomp !== null) stdio.push(open(openSync(job.seccomp, "r")), "pipe");
    for (const path of job.opens) stdio.push(open(openPlace(path)));
    if (job.secretArgs.length > 0) stdio.push("pipe");
    const child = spawn(file, args, { cwd: job.cwd, env: job.env, stdio, detached: true, ...identity(job) });
    if (job.secretArgs.length > 0) handOver(child.stdio.at(-1) as Writable, job.secretArgs);
    return child;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

let alone = false;

/** Node gives up all other groups on the way, but does not say when that fails: so we have none ourselves. */
function identity({ as }: Job): { uid?: number; gid?: number } {
  if (as === null) return {};
  if (as.uid === 0) throw new Error("the user is root");
  if (!alone) process.setgroups?.([]);
  alone = true;
  return as;
}

function handOver(to: Writable, words: string[]): void {
  // One that could not start reads nothing; its end tells.
  to.on("error", () => {});
  to.end(words.map((word) => `${word}\0`).join(""));
}

/** Only a name for the place: nothing is read through it, so a pipe or a device does no harm. Node does not list it. */
const O_PATH = 0o10000000;

/** A descriptor cannot be led elsewhere any more: what it says of itself is where it is. */
export function openPlace(path: string): number {
  const fd = openOrMoved(path);
  const real = readlinkSync(`/proc/self/fd/${fd}`);
  if (real === path) return fd;
  closeSync(fd);
  throw new Error(`${MOVED} ${real}`);
}

function openOrMoved(path: string): number {
  try {
    return openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch (thrown) {
    const { code = "" } = thrown as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES"].includes(code))
      throw new Error(`${MOVED} nothing: ${messageOf(thrown)}`, { cause: thrown });
    throw thrown;
  }
}
