import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DeckhandError, messageOf } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";

/** The group of one run: what its processes may use together. */
export interface Cgroup {
  /** Go before all other words of a command line: whoever starts them enters the group with all that comes of it. */
  words: string[];
  /** Whether the kernel ended something in it because its memory was used up. */
  oomKilled(): boolean;
  /** Ends whatever is left in it and removes it. Never rejects; twice is once. */
  end(): Promise<void>;
}

export interface Cgroups {
  /** Throws SANDBOX_CGROUP when no group can be made any more. */
  fresh(): Cgroup;
}

/** Controller -> its files and what is written into them. */
export type Walls = Record<string, Record<string, string>>;

function walls(): Walls {
  // A wall above what the machine has would be none.
  const memory = Math.min(LIMITS.commandMemoryTotal, Math.floor(totalmem() * 0.75));
  return { memory: { "memory.max": String(memory), "memory.swap.max": "0" }, pids: { "pids.max": String(LIMITS.commandTasks) } };
}

const ROOT = "/sys/fs/cgroup";
const SELF = "/proc/self/cgroup";
/** How long a group that was told to end is waited for; the kernel needs milliseconds. */
const END_MS = 2000;
const UNIT = "start Deckhand from a systemd unit of its own with Delegate=yes";
const JOIN = 'echo 0 >"$0/cgroup.procs" || { echo "cgroup.procs: $0 cannot be entered" >&2; exit 125; }; exec "$@"';

/**
 * Takes the group that we run in, when it was delegated to us, and keeps a group below it for each run. This process
 * moves into one of its own, because a group that hands controllers on may hold no process itself; so it is called before
 * any other process is started. `off` says why that is not possible here.
 */
export function openCgroups(root = ROOT, self = SELF, limits = walls()): Cgroups | { off: string } {
  const found = find(root, self, Object.keys(limits));
  if ("off" in found) return found;
  const { base } = found;
  const leaf = join(base, `worker-${mark(process.pid)}`);
  try {
    mkdirSync(leaf, { recursive: true });
    write(join(leaf, "cgroup.procs"), String(process.pid));
    const wanted = Object.keys(limits).map((controller) => `+${controller}`);
    write(join(base, "cgroup.subtree_control"), wanted.join(" "));
  } catch (thrown) {
    leave(base, leaf);
    return { off: `the group ${base} cannot be used: ${messageOf(thrown)}` };
  }
  for (const name of readdirSync(base)) if (isLeftover(name)) void remove(join(base, name));
  let count = 0;
  return { fresh: () => fresh(join(base, `run-${mark(process.pid)}-${++count}`), limits) };
}

/** Why commands here have no limits for all their memory and processes together; null when they can have. Changes nothing. */
export function cgroupsOff(root = ROOT, self = SELF): string | null {
  const found = find(root, self, Object.keys(walls()));
  return "off" in found ? found.off : null;
}

function find(root: string, self: string, controllers: string[]): { base: string } | { off: string } {
  if (!existsSync(join(root, "cgroup.controllers"))) return { off: `cgroup v2 is not mounted at ${root}` };
  const path = /^0::(\/.*)$/m.exec(existsSync(self) ? readFileSync(self, "utf8") : "")?.[1];
  const own = path === undefined || path.split("/").includes("..") ? null : join(root, path);
  if (own === null || !existsSync(own)) return { off: `the cgroup of this process is not below ${root}` };
  // Opened before in this process.
  const base = basename(own) === `worker-${mark(process.pid)}` ? dirname(own) : own;
  const denied = [".", "cgroup.procs", "cgroup.subtree_control"].flatMap((name) => closed(join(base, name)) ?? [])[0];
  if (denied === "EROFS") return { off: `${root} is read-only here; outside of a container, ${UNIT}` };
  if (denied !== undefined) return { off: `the group ${base} is not delegated to uid ${process.getuid?.() ?? 0}: ${UNIT}` };
  const there = readFileSync(join(base, "cgroup.controllers"), "utf8").trim().split(" ");
  const missing = controllers.filter((controller) => !there.includes(controller));
  if (missing.length > 0) return { off: `the controllers ${missing.join(" and ")} are not enabled in the group ${base}` };
  // Whoever shares it was not told of us, and could not stay where it is.
  const others = members(base).filter((pid) => pid !== process.pid);
  if (others.length > 0) return { off: `other processes share the group ${base} (such as ${others[0]}): ${UNIT}` };
  return { base };
}

function closed(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code;
  }
}

/** Back to where we were: half a group is none. */
function leave(base: string, leaf: string): void {
  try {
    write(join(base, "cgroup.procs"), String(process.pid));
    rmdirSync(leaf);
  } catch {
    // Then we stay in a group without limits, which is as good.
  }
}

function fresh(folder: string, limits: Walls): Cgroup {
  try {
    mkdirSync(folder);
    for (const [file, value] of Object.values(limits).flatMap((files) => Object.entries(files))) limit(join(folder, file), value);
  } catch (thrown) {
    void remove(folder);
    throw new DeckhandError("SANDBOX_CGROUP", messageOf(thrown), { cause: thrown });
  }
  let oom = false;
  let ended: Promise<void> | null = null;
  const oomKilled = (): boolean => (oom ||= oomIn(folder));
  const end = async (): Promise<void> => {
    oomKilled(); // to be remembered: the group takes its figures along
    await remove(folder);
  };
  return { words: ["/bin/sh", "-c", JOIN, folder], oomKilled, end: () => (ended ??= end()) };
}

function limit(file: string, value: string): void {
  // A kernel without swap has no such file and needs none.
  if (basename(file) === "memory.swap.max" && !existsSync(file)) return;
  write(file, value);
}

/** Never creates a file: what is not there is a controller that does not work. */
function write(file: string, text: string): void {
  writeFileSync(file, text, { flag: "r+" });
}

function oomIn(folder: string): boolean {
  const file = join(folder, "memory.events");
  if (!existsSync(file)) return false;
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1] ?? 0) > 0;
}

/** Ends what is in a group and removes it. Never rejects: one that stays is removed by whoever opens the groups next. */
async function remove(folder: string): Promise<void> {
  for (const until = performance.now() + END_MS; performance.now() < until; await wait(5)) {
    try {
      rmdirSync(folder);
      return;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EBUSY") return; // gone, or not ours to remove
    }
    killAll(folder);
  }
}

function killAll(folder: string): void {
  try {
    write(join(folder, "cgroup.kill"), "1");
  } catch {
    // Linux before 5.14 has no such file. Whoever has ended meanwhile is what is wanted.
    for (const pid of members(folder)) if (pid > 0 && pid !== process.pid) killOne(pid);
  }
}

function killOne(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** 0 stands for a process that this one cannot see. */
function members(folder: string): number[] {
  try {
    return [...readFileSync(join(folder, "cgroup.procs"), "utf8").matchAll(/\d+/g)].map(([pid]) => Number(pid));
  } catch {
    return []; // the group is gone, and so are they
  }
}

/** A process by its number and the moment of its start: numbers come back. Empty when there is none. */
function mark(pid: number): string {
  try {
    // The name in the second field may hold blanks; the 22nd is the start, in ticks since the machine's.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return `${pid}-${fields[19] ?? ""}`;
  } catch {
    return ""; // no such process
  }
}

/** Made by a worker that is no more. */
function isLeftover(name: string): boolean {
  const [, owner, pid] = /^(?:worker|run)-((\d+)-\d+)(?:-\d+)?$/.exec(name) ?? [];
  return pid !== undefined && mark(Number(pid)) !== owner;
}
