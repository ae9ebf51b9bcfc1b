import { join } from "node:path";
import { LIMITS } from "../limits.ts";
import type { RunUser } from "./launch.ts";

/** Runs a command in a folder of ours, inside a sandbox that has nothing else, as the user who wrote there. Gives what it printed. `given`: variables. */
export type Inside = (folder: string, user: RunUser, command: string, given?: Record<string, string>) => Promise<string>;

export type Attempt = (what: string, act: () => Promise<void> | void) => Promise<void>;

export interface Quota {
  /** Looks, now and then and on the side, how much a conversation keeps. */
  measure(base: string, user: RunUser): void;
  /** Empties /tmp and home of one that was found to keep too much, and says so. Never rejects. */
  makeRoom(base: string, user: RunUser): Promise<string[]>;
}

/** How much a conversation may keep in /tmp and its home. It is weighed after commands, so that none waits for it. */
export function quota(inside: Inside, attempt: Attempt, empty: (folder: string, user: RunUser) => Promise<void>): Quota {
  const measured = new Map<string, number>();
  const tooMuch = new Set<string>();

  async function weigh(base: string, user: RunUser): Promise<void> {
    const kilobytes = Number((await inside(base, user, "du -skx .")).split("\t")[0]);
    if (kilobytes * 1024 > LIMITS.stateQuota) tooMuch.add(base);
  }

  return {
    measure: (base, user) => {
      const now = Date.now();
      if (now - (measured.get(base) ?? 0) < LIMITS.stateMeasure) return;
      for (const [known, at] of measured) if (now - at > LIMITS.stateMeasure) measured.delete(known);
      measured.set(base, now);
      void attempt("weigh", () => weigh(base, user));
    },
    makeRoom: async (base, user) => {
      if (!tooMuch.delete(base)) return [];
      for (const name of ["tmp", "home"]) await attempt("make-room", () => empty(join(base, name), user));
      return [`/tmp and the home folder held more than ${Math.round(LIMITS.stateQuota / 1e9)} GB and were emptied before this command`];
    },
  };
}
