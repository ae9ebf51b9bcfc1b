import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, constants, openSync, readlinkSync } from "node:fs";
import { constants as system } from "node:os";
import type { Readable } from "node:stream";
import type { RunEnd } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import { type Capture, capture, liveFeed } from "./capture.ts";
import { READY } from "./launch.ts";
import { type Ended, type Job, MOVED } from "./messages.ts";
import type { OutputPipe } from "./pipes.ts";

/** One command's life in the runner. */
export interface Command {
  /** The first reason wins; later ones and one after the end change nothing. */
  stop(reason: RunEnd): void;
  /** Never rejects. */
  ended: Promise<Ended>;
}

interface Life {
  job: Job;
  child: ChildProcess;
  pipe: OutputPipe;
  captured: Capture;
  alive: (pids: number[]) => void;
  /** Why we ended it, when we did. */
  reason: RunEnd | null;
  ready: boolean;
  /** The first process inside the sandbox; its death takes all others along. */
  inner: number | null;
  /** When the command itself was let go. */
  went: number | null;
  left: boolean;
  /** What bubblewrap has said on its status channel, and the command's exit code from it. */
  said: string;
  status: number | null;
  words: string;
  timers: NodeJS.Timeout[];
}

/** Starts a job. `alive` hears of processes, `live` of output as it comes. Nothing is left when `ended` resolves. */
export function startCommand(
  { job, spool }: { job: Job; spool: string },
  pipe: OutputPipe,
  hear: { alive: (pids: number[]) => void; live: (data: Uint8Array) => void },
): Command {
  let child: ChildProcess;
  try {
    child = begin(job, pipe.write);
  } catch (thrown) {
    closeSync(pipe.write);
    pipe.close();
    return { stop: () => {}, ended: Promise.resolve(refusal(messageOf(thrown))) };
  }
  closeSync(pipe.write);
  const life: Life = {
    ...{ job, child, pipe, captured: capture(spool), alive: hear.alive },
    ...{ reason: null, ready: false, inner: null, went: null, left: false, said: "", status: null, words: "", timers: [] },
  };
  return { stop: (reason) => stop(life, reason), ended: follow(life, hear.live) };
}

/** Opens the seccomp program anew each time: bubblewrap reads it to its end. */
function begin(job: Job, write: number): ChildProcess {
  const [file, ...args] = job.argv as [string, ...string[]];
  const opened: number[] = [];
  const open = (fd: number): number => (opened.push(fd), fd);
  try {
    const stdio: StdioOptions = ["pipe", write, "pipe"];
    if (job.seccomp !== null) stdio.push(open(openSync(job.seccomp, "r")), "pipe");
    if (job.workspace !== null) stdio.push(open(openFolder(job.workspace)));
    return spawn(file, args, { cwd: job.cwd, env: job.env, stdio, detached: true });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** A descriptor cannot be led elsewhere any more: what it says of itself is where it is. */
function openFolder(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const real = readlinkSync(`/proc/self/fd/${fd}`);
  if (real === path) return fd;
  closeSync(fd);
  throw new Error(`${MOVED} ${real}`);
}

async function follow(life: Life, live: (data: Uint8Array) => void): Promise<Ended> {
  const { child, captured } = life;
  const feed = liveFeed(live);
  const drained = new Promise<void>((done) => {
    life.pipe.listen((chunk) => {
      captured.add(chunk);
      feed.add(chunk);
      if (captured.total() > LIMITS.outputFlood) stop(life, "flood");
    }, done);
  });
  if (child.pid !== undefined) life.alive([child.pid]);
  // The supervisor may be gone before it is told to go.
  child.stdin?.on("error", () => {});
  child.stderr?.on("data", (data) => hearWords(life, String(data)));
  (child.stdio[4] as Readable | undefined)?.on("data", (data) => hearStatus(life, String(data)));
  const failed = new Promise<string>((done) => child.once("error", (error) => done(error.message)));
  child.once("exit", () => leave(life));
  const closed = new Promise<null>((done) => child.once("close", () => done(null)));

  const failure = await Promise.race([failed, closed]);
  if (failure !== null) life.pipe.close();
  await drained;
  for (const timer of life.timers) clearTimeout(timer);
  feed.end();
  return failure === null ? verdict(life) : refusal(failure);
}

function hearWords(life: Life, data: string): void {
  if (life.words.length < 4096) life.words += data;
  if (life.words.split("\n").includes(READY)) life.ready = true;
  go(life);
}

function hearStatus(life: Life, data: string): void {
  life.said += data;
  const inner = /"child-pid": (\d+)\D/.exec(life.said)?.[1];
  const status = /"exit-code": (\d+)\D/.exec(life.said)?.[1];
  if (status !== undefined) life.status = Number(status);
  if (inner === undefined || life.inner !== null) return;
  life.inner = Number(inner);
  life.alive([life.child.pid as number, life.inner]);
  if (life.reason !== null) kill(life.inner);
  go(life);
}

/** Everything around the command stands: only now it starts, and only now its time runs. */
function go(life: Life): void {
  const standing = life.ready && (life.job.seccomp === null || life.inner !== null);
  if (!standing || life.went !== null || life.reason !== null) return;
  life.went = performance.now();
  life.child.stdin?.end("\n");
  life.timers.push(setTimeout(() => stop(life, "timeout"), life.job.timeoutMs));
}

function stop(life: Life, reason: RunEnd): void {
  if (life.reason !== null || life.left) return;
  life.reason = reason;
  life.child.stdin?.destroy();
  const leader = life.child.pid;
  if (leader === undefined) return;
  if (life.inner === null) {
    kill(-leader);
    return;
  }
  // From inside out: the lock's holder leaves last, when nothing is left that could write.
  kill(life.inner);
  life.timers.push(setTimeout(() => kill(-leader), LIMITS.stopGrace));
}

/** The leader has gone. What it left in its group goes too; output that a stray holds open is not waited for. */
function leave(life: Life): void {
  life.left = true;
  kill(-(life.child.pid as number));
  life.timers.push(setTimeout(abandon, LIMITS.outputDrain, life, 8));
}

function abandon(life: Life, patience: number): void {
  const before = life.captured.total();
  // Looks once more at what has come in: a busy runner may be late, not the output.
  setImmediate(() => {
    if (patience > 0 && life.captured.total() > before) {
      life.timers.push(setTimeout(abandon, LIMITS.outputDrain, life, patience - 1));
      return;
    }
    life.pipe.close();
    for (const stream of life.child.stdio) stream?.destroy();
  });
}

function verdict(life: Life): Ended {
  const { exitCode, signalCode } = life.child;
  const ended = { ...life.captured.end(), ms: life.went === null ? 0 : performance.now() - life.went, words: "" };
  if (life.reason !== null) return { ...ended, how: life.reason, exit: null };
  if (life.went === null) return refusal(life.words.replace(READY, "").trim() || `ended with ${exitCode ?? signalCode}`);
  const own = exitCode ?? 128 + system.signals[signalCode as NodeJS.Signals];
  const exit = life.job.seccomp === null ? own : life.status;
  // Somebody ended the sandbox itself (the kernel when memory ran out): how the command fared is unknown.
  return exit === null ? { ...ended, how: "interrupted", exit } : { ...ended, how: "exited", exit };
}

/** Nothing was started; why, in the words of what kept it. */
export function refusal(words: string): Ended {
  return { how: "refused", exit: null, last: new Uint8Array(), total: 0, ms: 0, words };
}

/** Ends a process, or a group when negative, if it is still there. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (thrown) {
    // It has ended by itself, which is just what is wanted; EPERM: the number is somebody else's by now.
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw thrown;
  }
}
