import { readdirSync, readFileSync } from "node:fs";

/**
 * When worker and runner are killed in the very millisecond in which bubblewrap starts, its first child waits for
 * ever, before it has set anything up. Gives those of this state folder; a healthy one has a runner or bwrap as parent.
 */
export function orphans(stateDir: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isOrphan(name, stateDir))
    .map(Number);
}

function isOrphan(pid: string, stateDir: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    if (words[0] !== "bwrap" || !words.some((word) => word.startsWith(`${stateDir}/c/`))) return false;
    const parent = /\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];
    const [starter, ...rest] = readFileSync(`/proc/${parent}/cmdline`, "utf8").split("\0");
    return starter !== "bwrap" && !rest.some((word) => word.endsWith("/runner-main.ts"));
  } catch {
    // It ended while we looked.
    return false;
  }
}
