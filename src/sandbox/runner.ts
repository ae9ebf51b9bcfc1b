import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { armedAt } from "../core/checkpoint.ts";
import { messageOf } from "../core/errors.ts";
import type { Printed } from "../core/output.ts";
import { kill, orphans } from "./orphans.ts";
import { AGAIN, type Ended, type FromRunner, type Job, RUNNER_DIED, type ToRunner } from "./messages.ts";
import { beatEvery } from "./watchdog.ts";

/** How long leftovers of a runner that died are waited for; the kernel ends them within milliseconds. */
const LEFTOVERS_MS = 2000;
/** A runner that has not ended a command so long after it was told to does not work: longer than the runner waits for what a command left. */
const STOP_MS = 10_000;

/** The worker's side of the runner. */
export interface Runner {
  /**
   * Never rejects. Starts the runner when there is none; when it dies meanwhile, what is left of the command is
   * ended and the call ends as `interrupted`. Aborting ends it as `cancelled`. `spool` is the file for the beginning
   * of the output; a job that waits asks `ready` and is ended as `cancelled` when that is not true.
   */
  run(job: Job, options: RunnerRun): Promise<Ran>;
  /** Starts the runner before the first command. Throws when that fails. */
  warm(): void;
  /** Ends all commands and the runner; later ones end as `cancelled` before they begin. */
  close(): Promise<void>;
}

export interface RunnerRun {
  signal: AbortSignal;
  onChunk: (data: Uint8Array) => void;
  ready: () => Promise<boolean>;
  spool: string;
}

/** How it went, with the output that was kept. */
export interface Ran extends Pick<Ended, "how" | "exit" | "ms" | "words"> {
  printed: Printed;
}

interface Call {
  onChunk: (data: Uint8Array) => void;
  ready: () => Promise<boolean>;
  end: (ran: Ran) => void;
  ended: Promise<Ran>;
  spool: string;
  pids: number[];
}

interface Started {
  child: ChildProcess;
  folder: string;
  calls: Map<number, Call>;
  /** It has said that it listens; what was said to it before waits. */
  up: boolean;
  waiting: ToRunner[];
  onGone: () => void;
  /** It is wanted no more. */
  closing: boolean;
}

interface RunnerOptions {
  /** Where the runner may keep its pipes. */
  folder: string;
  /** Where tools are looked up, and all that it knows of our environment. */
  path: string;
  /** Where Node keeps its compiled code: with it the runner does without the compiler, a third of its memory. */
  cache: string;
  /** Its commands are ended when this process shows no life for so many milliseconds; null: never. */
  quietMs: number | null;
}

export function createRunner(options: RunnerOptions): Runner {
  let current: Started | null = null;
  let closed = false;
  let ids = 0;
  const beat =
    options.quietMs === null ? undefined : setInterval(() => current?.up && say(current, { type: "beat" }), beatEvery(options.quietMs));
  beat?.unref();

  function started(): Started {
    if (current !== null) return current;
    const fresh = start(options, () => {
      if (current === fresh) current = null;
    });
    current = fresh;
    return fresh;
  }

  async function run(job: Job, { signal, onChunk, ready, spool }: RunnerRun): Promise<Ran> {
    if (signal.aborted || closed) return unknown("cancelled", "", new Uint8Array());
    let runner: Started;
    try {
      runner = started();
    } catch (thrown) {
      return unknown("refused", `${RUNNER_DIED} ${messageOf(thrown)}`, new Uint8Array());
    }
    const { calls } = runner;
    const id = ++ids;
    const abort = () => stop(runner, id);
    const { promise, resolve: end } = Promise.withResolvers<Ran>();
    calls.set(id, { onChunk, ready, end, ended: promise, spool, pids: [] });
    signal.addEventListener("abort", abort, { once: true });
    say(runner, { type: "run", id, job, spool });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  function warm(): void {
    if (!closed) started();
  }

  async function close(): Promise<void> {
    closed = true;
    clearInterval(beat);
    const runner = current;
    if (runner === null) return;
    current = null;
    const exited = new Promise<void>((done) => (runner.onGone = done));
    for (const id of runner.calls.keys()) stop(runner, id);
    await Promise.all([...runner.calls.values()].map((call) => call.ended));
    runner.closing = true;
    if (runner.child.connected) runner.child.disconnect();
    await exited;
  }

  return { run, warm, close };
}

function start(options: RunnerOptions, onGone: () => void): Started {
  const folder = mkdtempSync(join(options.folder, `r-${process.pid}-`));
  const started: Started = { child: forked(options, folder), folder, calls: new Map(), up: false, waiting: [], onGone, closing: false };
  attach(started, () => {
    try {
      // It had to compile itself, which took a lot of memory. The next one finds the work done.
      started.child = forked(options, folder, AGAIN.word);
      attach(started, null);
    } catch (thrown) {
      started.onGone();
      void bury(started, messageOf(thrown));
    }
  });
  return started;
}

function forked({ path, cache, quietMs }: RunnerOptions, folder: string, ...words: string[]): ChildProcess {
  const args = [folder, String(quietMs ?? ""), armedAt() ?? "", ...words];
  return fork(fileURLToPath(new URL("./runner-main.ts", import.meta.url)), args, {
    env: { PATH: path, NODE_COMPILE_CACHE: cache },
    execArgv: ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=1"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

function attach(started: Started, again: (() => void) | null): void {
  const { child } = started;
  child.on("message", (message) => hear(started, message as FromRunner));
  child.once("exit", (code, signal) => {
    if (again !== null && code === AGAIN.exit && !started.closing) return again();
    started.onGone();
    const why = `exit ${signal ?? code}`;
    // What it had said before is heard first.
    if (child.connected) child.once("disconnect", () => void bury(started, why));
    else void bury(started, why);
  });
  child.on("error", (error) => {
    started.onGone();
    child.kill("SIGKILL");
    void bury(started, error.message);
  });
}

/** A runner that is gone hears nothing; its end also ends its calls. */
function say({ child, up, waiting }: Started, message: ToRunner): void {
  if (!up) waiting.push(message);
  else if (child.connected) child.send(message, () => {});
}

function hear(started: Started, message: FromRunner): void {
  if (message.type === "up") {
    started.up = true;
    for (const one of started.waiting.splice(0)) say(started, one);
    return;
  }
  const call = started.calls.get(message.id);
  if (call === undefined) return;
  if (message.type === "ready") void answer(started, message.id, call);
  else if (message.type === "alive") call.pids = message.pids;
  else if (message.type === "chunk") call.onChunk(message.data);
  else {
    started.calls.delete(message.id);
    const { last, total, ...ended } = message.ended;
    call.end({ ...ended, printed: { first: total === 0 ? new Uint8Array() : takeSpool(call.spool), last, total } });
  }
}

async function answer(runner: Started, id: number, call: Call): Promise<void> {
  const yes = await call.ready().catch(() => false);
  if (yes) say(runner, { type: "go", id });
  else stop(runner, id);
}

/** With the runner all that it started goes, too. */
function stop(runner: Started, id: number): void {
  say(runner, { type: "stop", id });
  const late = () => void (runner.calls.has(id) && runner.child.kill("SIGKILL"));
  setTimeout(late, STOP_MS).unref();
}

/** Ends what a runner left behind, then its calls. */
async function bury({ folder, calls, up }: Started, why: string): Promise<void> {
  const left = [...calls.values()];
  calls.clear();
  const pids = left.flatMap((call) => call.pids);
  for (const pid of pids) {
    // A leader's whole group, and the sandbox's first process, which is in none of our groups.
    kill(-pid);
    kill(pid);
  }
  for (const until = Date.now() + LEFTOVERS_MS; pids.length > 0 && Date.now() < until && someRun(pids); ) await wait(5);
  await endOrphans(folder);
  // One that never came up has started nothing.
  for (const call of left) call.end(unknown(up ? "interrupted" : "refused", `${RUNNER_DIED} ${why}`, takeSpool(call.spool)));
  rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 10 });
}

/** What it had just started, and not told of. */
async function endOrphans(folder: string): Promise<void> {
  const until = Date.now() + LEFTOVERS_MS;
  for (let quiet = 0; quiet < 3; quiet += 1) {
    const found = orphans(dirname(dirname(folder)), folder);
    for (const pid of found) kill(pid);
    // One that cannot be ended is not waited for any longer.
    if (found.length > 0 && Date.now() > until) return;
    if (found.length > 0) quiet = 0;
    await wait(5);
  }
}

/** Whether one of these processes or groups still runs; one that waits to be taken note of does not. */
function someRun(pids: number[]): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const [, state, group] = /\) (\S) \d+ (\d+) /.exec(readFileSync(`/proc/${name}/stat`, "latin1")) ?? [];
      return state !== "Z" && state !== "X" && (pids.includes(Number(name)) || pids.includes(Number(group)));
    } catch {
      // It ended while we looked.
      return false;
    }
  });
}

/** What a command printed, up to the cap; empty when it printed nothing or its file cannot be read. */
export function takeSpool(spool: string): Uint8Array {
  try {
    const bytes = readFileSync(spool);
    rmSync(spool);
    return bytes;
  } catch {
    // The count of bytes still tells that there was more.
    return new Uint8Array();
  }
}

/** A call of which only its spool tells. */
function unknown(how: Ran["how"], words: string, first: Uint8Array): Ran {
  return { how, exit: null, ms: 0, words, printed: { first, last: new Uint8Array(), total: first.length } };
}
