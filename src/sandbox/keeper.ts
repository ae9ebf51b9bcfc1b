import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import { bwrapArgs } from "./bwrap-args.ts";
import { keptFolders } from "./folders.ts";
import { commandEnv, type RunUser } from "./launch.ts";
import type { Planned, Runs, SandboxOptions } from "./provider.ts";

/** What every job of bubblewrap has in common. */
export interface Common {
  etc(user: RunUser): string;
  job(): Pick<Planned, "env" | "cwd" | "seccomp">;
}

export interface Keeper {
  /** Removes a folder that the run user wrote in. Never rejects. */
  scrub(folder: string, user: RunUser): Promise<void>;
  /** Looks, now and then and on the side, how much a conversation keeps. */
  measure(base: string, user: RunUser): void;
  /** Empties /tmp and home of one that was found to keep too much, and says so. Never rejects. */
  makeRoom(base: string, user: RunUser): Promise<string[]>;
  dispose(conversation: string): Promise<void>;
  tidy(olderThanMs: number): Promise<void>;
}

const INSIDE = "/run/errand";

/**
 * Looks after the folders that conversations keep. What the run user wrote is only ever touched inside a sandbox, as
 * that user: links in there lead nowhere.
 */
export function keeper(options: SandboxOptions, errand: Runs<unknown>["errand"], common: Common): Keeper {
  const warn = options.warn ?? (() => {});

  async function inside(folder: string, user: RunUser, command: string): Promise<string> {
    const start = bwrapArgs({
      ...{
        enter: [],
        user,
        etc: common.etc(user),
        cwd: INSIDE,
        env: commandEnv("/tmp"),
        secrets: null,
        prelude: "",
        command,
        carry: null,
      },
      binds: [{ from: folder, to: INSIDE, writable: true }],
    });
    const planned = { ...common.job(), ...start, lock: null, opens: [], secretArgs: [] };
    const { printed } = await errand({ user, planned, timeoutMs: LIMITS.commandTimeMax });
    return new TextDecoder().decode(printed.first);
  }

  async function empty(folder: string, user: RunUser): Promise<void> {
    // Folders without the right to write or enter are the owner's to open.
    await inside(folder, user, "chmod -R u+rwx . 2>/dev/null; find . -xdev -mindepth 1 -delete");
  }

  /** What fails is left for the next round. */
  async function attempt(what: string, act: () => Promise<void> | void): Promise<void> {
    try {
      await act();
    } catch (thrown) {
      warn(`${what}-failed`, { error: messageOf(thrown) });
    }
  }

  async function scrub(folder: string, user: RunUser): Promise<void> {
    await attempt("scrub", async () => {
      if (readdirSync(folder).length > 0) await empty(folder, user);
      rmdirSync(folder);
    });
  }

  async function remove(base: string, user: RunUser): Promise<void> {
    for (const name of readdirSync(base)) await scrub(join(base, name), user);
    await attempt("remove", () => rmdirSync(base));
  }

  const measured = new Map<string, number>();
  const tooMuch = new Set<string>();

  async function weigh(base: string, user: RunUser): Promise<void> {
    const kilobytes = Number((await inside(base, user, "du -skx .")).split("\t")[0]);
    if (kilobytes * 1024 > LIMITS.stateQuota) tooMuch.add(base);
  }

  return {
    scrub,
    measure: (base, user) => {
      const now = Date.now();
      if (now - (measured.get(base) ?? 0) < LIMITS.stateMeasure) return;
      measured.set(base, now);
      for (const [known, at] of measured) if (now - at > LIMITS.stateMeasure) measured.delete(known);
      weigh(base, user).catch((thrown: unknown) => warn("state-not-measured", { folder: base, error: messageOf(thrown) }));
    },
    makeRoom: async (base, user) => {
      if (!tooMuch.delete(base)) return [];
      for (const name of ["tmp", "home"]) await attempt("make-room", () => empty(join(base, name), user));
      return [`/tmp and the home folder held more than ${Math.round(LIMITS.stateQuota / 1e9)} GB and were emptied before this command`];
    },
    dispose: async (conversation) => {
      await attempt("dispose", async () => {
        for (const { base, user } of keptFolders(options.stateDir, conversation)) await remove(base, user);
      });
    },
    tidy: async (olderThanMs) => {
      await attempt("tidy", async () => {
        const old = Date.now() - olderThanMs;
        for (const { base, user } of keptFolders(options.stateDir)) if (statSync(base).mtimeMs < old) await remove(base, user);
        tidyOwn(options.stateDir);
      });
    },
  };
}

/** What workers that are gone left of their own: pipes and sockets, and output that nobody asked for in time. */
function tidyOwn(stateDir: string): void {
  for (const name of readdirSync(join(stateDir, "run"))) {
    const pid = /^r-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(stateDir, "run", name), { recursive: true, force: true });
  }
  const old = Date.now() - LIMITS.spoolTime;
  for (const folder of ["spool", "net"]) {
    for (const name of readdirSync(join(stateDir, folder))) {
      const file = join(stateDir, folder, name);
      const stat = lstatSync(file, { throwIfNoEntry: false });
      if (stat !== undefined && stat.mtimeMs < old) rmSync(file, { force: true });
    }
  }
}
