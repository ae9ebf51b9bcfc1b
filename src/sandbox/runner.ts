import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { messageOf } from "../core/errors.ts";
import type { Ended, FromRunner, Job, ToRunner } from "./messages.ts";

/** How long leftovers of a runner that died are waited for; the kernel ends them within milliseconds. */
const LEFTOVERS_MS = 2000;

/** The worker's side of the runner. */
export interface Runner {
  /**
   * Never rejects. Starts the runner when there is none; when it dies meanwhile, what is left of the command is
   * ended and the call ends as `interrupted`. Aborting ends it as `cancelled`.
   */
  run(job: Job, options: { signal: AbortSignal; onChunk: (data: Uint8Array) => void }): Promise<Ended>;
  /** Ends all commands and the runner. */
  close(): Promise<void>;
}

interface Call {
  onChunk: (data: Uint8Array) => void;
  end: (ended: Ended) => void;
  ended: Promise<Ended>;
  pids: number[];
}

interface Started {
  child: ChildProcess;
  folder: string;
  calls: Map<number, Call>;
}

/** `folder`: where the runner may keep its pipes; `path`: where tools are looked up, and all that it knows of our environment. */
export function createRunner(options: { folder: string; path: string }): Runner {
  let current: Started | null = null;
  let ids = 0;

  function start(): Started {
    const folder = mkdtempSync(join(options.folder, "r-"));
    const child = fork(fileURLToPath(new URL("./runner-main.ts", import.meta.url)), [folder], {
      env: { PATH: options.path },
      execArgv: ["--disable-warning=ExperimentalWarning"],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const started: Started = { child, folder, calls: new Map() };
    child.on("message", (message) => hear(started, message as FromRunner));
    // Both mean that it is gone; whichever comes first ends the calls.
    const gone = (why: string) => {
      if (current === started) current = null;
      void bury(started, why);
    };
    child.on("error", (error) => {
      child.kill("SIGKILL");
      gone(error.message);
    });
    child.once("exit", (code, signal) => gone(`exit ${signal ?? code}`));
    return started;
  }

  async function run(job: Job, { signal, onChunk }: Parameters<Runner["run"]>[1]): Promise<Ended> {
    if (signal.aborted) return ended("cancelled", "");
    try {
      current ??= start();
    } catch (thrown) {
      return ended("refused", messageOf(thrown));
    }
    const { child, calls } = current;
    const id = ++ids;
    const abort = () => say(child, { type: "stop", id });
    const { promise, resolve: end } = Promise.withResolvers<Ended>();
    calls.set(id, { onChunk, end, ended: promise, pids: [] });
    signal.addEventListener("abort", abort, { once: true });
    say(child, { type: "run", id, job });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async function close(): Promise<void> {
    const started = current;
    if (started === null) return;
    current = null;
    const exited = once(started.child, "exit");
    for (const id of started.calls.keys()) say(started.child, { type: "stop", id });
    await Promise.all([...started.calls.values()].map((call) => call.ended));
    if (started.child.connected) started.child.disconnect();
    await exited;
  }

  return { run, close };
}

/** A runner that is gone hears nothing; its end also ends its calls. */
function say(child: ChildProcess, message: ToRunner): void {
  if (child.connected) child.send(message);
}

function hear(started: Started, message: FromRunner): void {
  const call = started.calls.get(message.id);
  if (call === undefined) return;
  if (message.type === "alive") call.pids = message.pids;
  else if (message.type === "chunk") call.onChunk(message.data);
  else {
    started.calls.delete(message.id);
    call.end(message.ended);
  }
}

/** Ends what a runner left behind, then its calls. */
async function bury({ folder, calls }: Started, why: string): Promise<void> {
  const left = [...calls.values()];
  calls.clear();
  const pids = left.flatMap((call) => call.pids);
  for (const pid of pids) {
    // A leader's whole group, and the sandbox's first process, which is in none of our groups.
    signalTo(-pid, "SIGKILL");
    signalTo(pid, "SIGKILL");
  }
  for (const until = Date.now() + LEFTOVERS_MS; Date.now() < until && pids.some(isThere); ) await wait(5);
  for (const call of left) call.end(ended("interrupted", why));
  rmSync(folder, { recursive: true, force: true });
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (thrown) {
    // Ended by itself, or the number is somebody else's by now.
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw thrown;
  }
}

/** One that has ended but has not been taken note of yet runs nothing any more. */
function isThere(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    // Without a record there is no process.
    return false;
  }
}

function ended(how: Ended["how"], words: string): Ended {
  return { how, exit: null, printed: { first: new Uint8Array(), last: new Uint8Array(), total: 0 }, ms: 0, words };
}
