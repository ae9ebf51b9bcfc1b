import { type ChildProcess, spawn } from "node:child_process";
import { Buffer } from "node:buffer";
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type { Lock } from "./launch.ts";
import { RUNNER_DIED } from "./messages.ts";
import { startOf } from "./orphans.ts";

/** How long a lock of readers is kept after the last one, for the next; and for how long readers may join it at all. */
const LINGER_MS = 50;
const JOIN_MS = 1000;

/** How long the last command's end is waited for, when its runner died before it; the kernel needs milliseconds. */
const ENDING_MS = 5000;
/**
 * What is written in the file: a process that the next one waits for, and who waits to write. Each begins with a process
 * and its start, and holds while that process is there.
 */
const MARK_BYTES = 40;
const MARK = { left: 0, turn: MARK_BYTES };
/** How often one that waits to write looks whether its name is up, and readers whether it still is. */
const LOOK_MS = 20;

/** A command's part in a lock. */
export interface Claim {
  /** True when the lock is ours, false when it was released before. Rejects when it cannot be taken. */
  held: Promise<boolean>;
  /**
   * Names the process with whose end everything of a command has ended. Should the runner die, the lock is free a moment
   * before that: whoever has it next waits for it.
   */
  mark(pid: number): void;
  /** Gives it back, or up. Twice is once. */
  release(): void;
}

interface Taking {
  held: Promise<boolean>;
  mark(pid: number): void;
  end(): void;
}

/** Readers that came one after the other and share one lock. */
interface Readers {
  taking: Taking;
  count: number;
  /** When they got it. */
  since: number | null;
  timer: NodeJS.Timeout | null;
}

/**
 * The locks of one runner: each is an open file that this process alone holds, so it ends with the process. Readers
 * share one for a short while, because taking it costs a process.
 */
export function lockKeeper(): (lock: Lock) => Claim {
  const readers = new Map<string, Readers>();
  const writers = new Map<string, number>();

  function drop(file: string, group: Readers): void {
    if (readers.get(file) === group) readers.delete(file);
    if (group.timer !== null) clearTimeout(group.timer);
    group.taking.end();
  }

  function join(file: string): Readers {
    const known = readers.get(file);
    // Who waits to write would wait for ever if more and more joined.
    if (known !== undefined && !old(known) && (known.since === null || !writers.has(file))) return known;
    const group: Readers = { taking: take({ file, shared: true }), count: 0, since: null, timer: null };
    group.taking.held.then(
      () => (group.since = performance.now()),
      // Each of them is told; the next one tries anew.
      () => drop(file, group),
    );
    readers.set(file, group);
    return group;
  }

  function leave(file: string, group: Readers): void {
    group.count -= 1;
    if (group.count > 0) return;
    const keep = readers.get(file) === group && group.since !== null && !old(group) && !writers.has(file);
    if (keep) group.timer = setTimeout(() => drop(file, group), LINGER_MS);
    else drop(file, group);
  }

  function read(file: string): Claim {
    const group = join(file);
    group.count += 1;
    if (group.timer !== null) clearTimeout(group.timer);
    group.timer = null;
    // What only reads is in nobody's way.
    return claim(
      group.taking.held,
      () => {},
      () => leave(file, group),
    );
  }

  function write(file: string): Claim {
    const group = readers.get(file);
    if (group?.count === 0) drop(file, group);
    writers.set(file, (writers.get(file) ?? 0) + 1);
    const taking = take({ file, shared: false });
    return claim(taking.held, taking.mark, () => {
      const left = (writers.get(file) ?? 0) - 1;
      if (left === 0) writers.delete(file);
      else writers.set(file, left);
      taking.end();
    });
  }

  return ({ file, shared }) => (shared ? read(file) : write(file));
}

function old({ since }: Readers): boolean {
  return since !== null && performance.now() - since > JOIN_MS;
}

function claim(taken: Promise<boolean>, mark: (pid: number) => void, giveBack: () => void): Claim {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let released = false;
  taken.then((yes) => resolve(yes && !released), reject);
  return {
    held: promise,
    mark,
    release: () => {
      if (released) return;
      released = true;
      resolve(false);
      giveBack();
    },
  };
}

function take({ file, shared }: Lock): Taking {
  const how = shared ? "-s" : "-x";
  let fd: number | null = null;
  const turn = turnstile(() => fd);
  let child: ChildProcess | null = null;

  function tool(words: string[], wait: boolean): Promise<number | null> {
    const started = spawn(words[0] as string, words.slice(1), { stdio: ["ignore", "ignore", wait ? "pipe" : "ignore", fd as number] });
    child = started;
    let said = "";
    (started.stderr as Readable | null)?.on("data", (data) => (said += String(data)));
    return new Promise((done, fail) => {
      started.once("error", fail);
      started.once("close", (code) => (wait && code !== 0 && fd !== null ? fail(new Error(said || `flock: exit ${code}`)) : done(code)));
    });
  }

  async function held(): Promise<boolean> {
    fd = openSync(file, "r+");
    if (shared) await turn.pass();
    if (fd === null) return false;
    // Most of the time nobody is in the way.
    let code = await tool(["flock", "-n", how, "3"], false);
    if (code !== 0 && fd !== null) code = await inLine();
    child = null;
    for (const until = performance.now() + ENDING_MS; fd !== null && holds(read(fd, MARK.left)); await wait(5)) {
      if (performance.now() > until) throw new Error(`${RUNNER_DIED} what an earlier command left does not end`);
    }
    return fd !== null;
  }

  async function inLine(): Promise<number | null> {
    const asking = shared ? undefined : turn.ask();
    try {
      return await tool(waiting(how), true);
    } finally {
      clearInterval(asking);
      turn.takeBack();
    }
  }

  return {
    held: held(),
    mark: (pid) => {
      if (fd !== null) write(fd, MARK.left, `${pid} ${startOf(pid)}`);
    },
    end: () => {
      child?.kill("SIGKILL");
      turn.takeBack();
      if (fd !== null) closeSync(fd);
      fd = null;
    },
  };
}

let names = 0;

/** Who waits to write goes before readers that come later, in whatever worker they are. */
function turnstile(open: () => number | null): { pass(): Promise<void>; ask(): NodeJS.Timeout; takeBack(): void } {
  const name = `${process.pid} ${startOf(process.pid)} ${++names}`;
  const up = (fd: number | null): string => (fd === null ? "" : read(fd, MARK.turn));
  const ask = () => {
    const fd = open();
    if (fd !== null && !holds(up(fd))) write(fd, MARK.turn, name);
  };
  return {
    /** For the one whose name is up now, and no other: so readers have their turn, too. */
    pass: async () => {
      const first = up(open());
      while (holds(first) && up(open()) === first) await wait(LOOK_MS);
    },
    ask: () => {
      ask();
      return setInterval(ask, LOOK_MS);
    },
    takeBack: () => {
      const fd = open();
      if (fd !== null && up(fd) === name) write(fd, MARK.turn, "");
    },
  };
}

function read(fd: number, at: number): string {
  const bytes = Buffer.alloc(MARK_BYTES);
  return bytes.toString("latin1", 0, readSync(fd, bytes, 0, MARK_BYTES, at)).trimEnd();
}

function write(fd: number, at: number, words: string): void {
  writeSync(fd, words.padEnd(MARK_BYTES), at);
}

/** Whether the process of a mark is still there. */
function holds(mark: string): boolean {
  const [, pid, start] = /^(\d+) (\d+)/.exec(mark) ?? [];
  return pid !== undefined && startOf(Number(pid)) === start;
}

/** It must not outlive us: it could wait for a long time, and then hold what nobody needs. */
function waiting(how: string): string[] {
  return ["setpriv", "--pdeathsig", "KILL", "/bin/sh", "-c", `[ "$PPID" = "$0" ] && exec flock ${how} 3`, String(process.pid)];
}
