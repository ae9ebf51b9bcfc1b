import type { ChildProcess } from "node:child_process";
import { closeSync, fstatSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { LIMITS } from "../limits.ts";
import { READY } from "./launch.ts";
import type { Job } from "./messages.ts";
import { kill, startOf } from "./orphans.ts";
import type { OutputPipe } from "./pipes.ts";
import { begin, innerOf, openPlace } from "./start.ts";

/** A sandbox around a shell of ours that waits to be told its command, and what it has said so far. */
export interface Standing {
  child: ChildProcess;
  pipe: OutputPipe;
  /** On stderr, and on bubblewrap's status channel. */
  words: string;
  said: string;
}

/**
 * Sandboxes that are set up ahead, each for one command: it has namespaces that no other command was in, as if it were
 * started now. One is given out only when that is sure; else it is ended.
 */
export interface Spares {
  /** A sandbox that is in all what starting the job would make now; null: start it. */
  take(job: Job): Promise<Standing | null>;
  /** Sets one up for the next job that is started like this one. `mounts`: what mountsOf gave for this one when it was let go. */
  add(job: Job, mounts: string): void;
  /** Ends all of them, and is done when they have ended. */
  end(): Promise<void>;
}

interface Spare extends Standing {
  /** What placesOf gave before it was started. */
  places: string;
  /** What it must see mounted. */
  mounts: string;
  /** It stands, or has ended. */
  settled: Promise<void>;
  born: string | null;
  /** When it was started. */
  since: number;
  timer: NodeJS.Timeout | undefined;
}

/** The spares of one runner. `newPipe` makes a job's output pipe. */
export function spareKeeper(newPipe: (job: Job) => OutputPipe): Spares {
  // By their keys; the oldest first.
  const spares = new Map<string, Spare>();

  function drop(key: string, spare: Spare): void {
    if (spares.get(key) !== spare) return;
    spares.delete(key);
    clearTimeout(spare.timer);
    endStanding(spare);
  }

  function isRoom(): boolean {
    const [oldest] = spares;
    if (!oldest || spares.size < LIMITS.spareSandboxes) return true;
    // Of many that work at once each goes on soon: to end theirs would be work for nothing.
    if (performance.now() - oldest[1].since < LIMITS.spareSettled) return false;
    drop(...oldest);
    return true;
  }

  async function take(job: Job): Promise<Standing | null> {
    if (!job.spare || spares.size === 0) return null;
    const key = keyOf(job);
    const spare = spares.get(key);
    if (spare === undefined) return null;
    spares.delete(key);
    clearTimeout(spare.timer);
    await spare.settled;
    if (isAsStarted(spare, job)) return spare;
    endStanding(spare);
    return null;
  }

  function add(job: Job, mounts: string): void {
    const key = keyOf(job);
    const places = placesOf(job);
    if (places === null || spares.has(key) || !isRoom()) return;
    try {
      const spare = setUp(job, { places, mounts: withoutNumbers(mounts) }, newPipe(job));
      const over = (): void => drop(key, spare);
      spare.timer = setTimeout(over, LIMITS.spareTime).unref();
      for (const event of ["exit", "error"]) spare.child.once(event, over);
      spares.set(key, spare);
    } catch {
      // Whatever it was, the next one meets it when it starts, and tells.
    }
  }

  async function end(): Promise<void> {
    const gone = [...spares].map(async ([key, spare]) => {
      const closed = new Promise((done) => spare.child.once("close", done));
      drop(key, spare);
      await closed;
    });
    await Promise.all(gone);
  }

  return { take, add, end };
}

/** Throws when it cannot be started. */
function setUp(job: Job, seen: Pick<Spare, "places" | "mounts">, pipe: OutputPipe): Spare {
  const spare: Spare = { ...begin(job, pipe), ...seen, born: null, since: performance.now(), timer: undefined, settled: Promise.resolve() };
  spare.settled = settled(spare, job);
  return spare;
}

/** Listens for as long as it is there: who takes it goes on with what was heard until then. */
function settled(spare: Spare, job: Job): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    const shell = shellOf(job, spare);
    if (shell !== null) spare.born ??= startOf(shell);
    if (shell !== null && spare.words.split("\n").includes(READY)) resolve();
  };
  spare.child.stderr?.on("data", (data) => {
    if (spare.words.length < 4096) spare.words += String(data);
    look();
  });
  spare.child.stdio[4]?.on("data", (data) => {
    if (spare.said.length < 4096) spare.said += String(data);
    look();
  });
  for (const over of ["exit", "error"]) spare.child.once(over, resolve);
  const late = setTimeout(resolve, LIMITS.spareStands).unref();
  return promise.finally(() => clearTimeout(late));
}

export function endStanding({ child, pipe, said }: Standing): void {
  const inner = innerOf(said);
  if (inner !== null) kill(inner);
  if (child.pid !== undefined) kill(-child.pid);
  pipe.close();
  for (const stream of child.stdio) stream?.destroy();
}

/**
 * It is what starting the job now would make: of the same places, each mount where it was for the command before, from the
 * same place and with the same rights, and the shell in the folder of that name. What was moved, replaced or removed
 * meanwhile shows in these paths.
 */
function isAsStarted(spare: Spare, job: Job): boolean {
  const { child, words, born, places, mounts } = spare;
  const shell = shellOf(job, spare);
  if (shell === null || born === null || startOf(shell) !== born || child.exitCode !== null || child.signalCode !== null) return false;
  if (words !== `${READY}\n` || folderOf(shell) !== job.spare) return false;
  return placesOf(job) === places && withoutNumbers(mountsOf(job, shell) ?? "") === mounts;
}

/** The shell that waits, or the first process of the sandbox that it is; null before that is known. */
function shellOf({ seccomp }: Job, { child, said }: Standing): number | null {
  return seccomp === null ? (child.pid ?? null) : innerOf(said);
}

function folderOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null; // gone, or not ours to see
  }
}

/** What a spare is found by: all that it was started with. What its shell is told at the word to go comes later. */
function keyOf({ argv, secretArgs, as, owner, env, cwd, opens, seccomp, fed }: Job): string {
  return JSON.stringify([argv, secretArgs, as, owner, env, cwd, opens, seccomp, fed.first]);
}

/**
 * The places that a job mounts, as they are now, by their numbers, with all that is mounted outside. Null when one of them
 * is not there as it should be, which starting the job tells. Without a sandbox nothing is mounted.
 */
function placesOf({ argv, opens, seccomp }: Job): string | null {
  if (seccomp === null) return "";
  try {
    const named = argv.filter((_, at) => argv[at - 1] === "--bind" || argv[at - 1] === "--ro-bind");
    const places = [...named, seccomp].map((path) => numberOf(lstatSync(path, { bigint: true })));
    return [...opens.map(numberOfOpened), ...places, readFileSync("/proc/self/mountinfo", "utf8")].join("\n");
  } catch {
    return null;
  }
}

function numberOfOpened(path: string): string {
  const fd = openPlace(path);
  try {
    return numberOf(fstatSync(fd, { bigint: true }));
  } finally {
    closeSync(fd);
  }
}

function numberOf({ dev, ino }: { dev: bigint; ino: bigint }): string {
  return `${dev}:${ino}`;
}

/** What a process in a job's sandbox sees mounted, as the kernel tells it; nothing without a sandbox; null when it has ended. */
export function mountsOf({ seccomp }: Job, pid: number | null): string | null {
  if (seccomp === null) return "";
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, "utf8");
  } catch {
    return null;
  }
}

/** In order: what on, which part of it, where, and with what rights; not the numbers that each sandbox has of its own. */
function withoutNumbers(mounts: string): string {
  const lines = mounts.split("\n").map((line) => line.split(" "));
  const nth = new Map(lines.map(([id], at) => [id, at]));
  return lines.map(([, on, , ...rest]) => [nth.get(on), ...rest].join(" ")).join("\n");
}
