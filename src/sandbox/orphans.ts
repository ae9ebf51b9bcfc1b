import { readdirSync, readFileSync } from "node:fs";

/**
 * When a runner is killed in the very millisecond in which bubblewrap starts, bubblewrap's first child waits for ever,
 * before it has set anything up. Gives those of this state folder, and what is on the way to become one: a healthy one
 * comes from a runner. `dead`: the folder of a runner that is gone; whatever still goes by its words is a copy of it, made
 * to become something else.
 */
export function orphans(stateDir: string, dead?: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isOrphan(name, stateDir, dead))
    .map(Number);
}

function isOrphan(pid: string, stateDir: string, dead: string | undefined): boolean {
  try {
    const words = wordsOf(pid);
    if (dead !== undefined && words.includes(dead)) return true;
    if (words[0] !== "bwrap" || !words.some((word) => word.startsWith(`${stateDir}/c/`))) return false;
    let from = parentOf(pid);
    while (wordsOf(from)[0] === "bwrap") from = parentOf(from);
    return !wordsOf(from).some((word) => word.endsWith("/runner-main.ts"));
  } catch {
    // It ended while we looked.
    return false;
  }
}

/** When a process was started, in ticks since the machine's start; null when it has ended. */
export function startOf(pid: number): string | null {
  try {
    // The name in the second field may hold blanks; the 3rd is the state, the 22nd the start.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return /[ZX]/.test(fields[0] ?? "X") ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function wordsOf(pid: string): string[] {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
}

function parentOf(pid: string): string {
  return /\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1] ?? "";
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
