import { chmodSync, existsSync, lstatSync, readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import { bwrapArgs, FIRST_FD, settings } from "./bwrap-args.ts";
import { keptFolders } from "./folders.ts";
import { commandEnv, type RunUser } from "./launch.ts";
import type { SandboxOptions } from "./options.ts";
import type { Planned, Runs } from "./provider.ts";
import { type Attempt, type Inside, quota, type Quota } from "./quota.ts";

/** What every job of bubblewrap has in common. */
export interface Common {
  etc(user: RunUser): string;
  job(): Pick<Planned, "env" | "cwd" | "seccomp">;
}

export interface Keeper extends Quota {
  /** Removes a folder that the run user wrote in. Never rejects. */
  scrub(folder: string, user: RunUser): Promise<void>;
  dispose(conversation: string): Promise<void>;
  tidy(olderThanMs: number): Promise<void>;
}

const INSIDE = "/run/errand";
// Folders without the right to write or enter are the owner's to open.
const EMPTY = "chmod -R u+rwx . 2>/dev/null; find . -xdev -mindepth 1 -delete";

/**
 * Looks after the folders that conversations keep. What the run user wrote is only ever touched inside a sandbox, as
 * that user: links in there lead nowhere.
 */
export function keeper(options: SandboxOptions, inside: Inside): Keeper {
  const attempt = attempts(options);
  async function scrub(folder: string, user: RunUser): Promise<void> {
    await attempt("scrub", async () => {
      // Its owner may have closed it; the folder that holds it is ours, so this is it and no link.
      chmodSync(folder, 0o700);
      if (readdirSync(folder).length > 0) await inside(folder, user, EMPTY);
      rmdirSync(folder);
    });
  }

  async function remove(base: string, user: RunUser): Promise<void> {
    for (const name of readdirSync(base)) await scrub(join(base, name), user);
    await attempt("remove", () => rmdirSync(base));
  }

  return {
    scrub,
    ...quota(inside, attempt, async (folder, user) => void (await inside(folder, user, EMPTY))),
    dispose: async (conversation) => {
      await attempt("dispose", async () => {
        for (const { base, user } of keptFolders(options.stateDir, conversation)) await remove(base, user);
      });
    },
    tidy: async (olderThanMs) => {
      await attempt("tidy", async () => {
        const old = Date.now() - olderThanMs;
        for (const { base, user } of keptFolders(options.stateDir)) {
          if (statSync(base).mtimeMs < old) await remove(base, user);
          else for (const home of staleHomes(base)) await scrub(home, user);
        }
        tidyOwn(options.stateDir);
      });
    },
  };
}

/** What fails is told to the operator and left for the next round. */
function attempts({ warn = () => {} }: SandboxOptions): Attempt {
  return async (what, act) => {
    try {
      await act();
    } catch (thrown) {
      warn(`${what}-failed`, { error: messageOf(thrown) });
    }
  };
}

/** Homes of single runs whose worker died before it could remove them. */
function staleHomes(base: string): string[] {
  const old = Date.now() - LIMITS.spoolTime;
  return readdirSync(base)
    .filter((name) => name.startsWith("home-"))
    .map((name) => join(base, name))
    .filter((home) => statSync(home).mtimeMs < old);
}

/** What workers that are gone left of their own: pipes and sockets, and output that nobody asked for in time. */
function tidyOwn(stateDir: string): void {
  const old = Date.now() - LIMITS.spoolTime;
  for (const name of readdirSync(join(stateDir, "run"))) {
    const pid = /^r-(\d+)-/.exec(name)?.[1];
    const folder = join(stateDir, "run", name);
    // A worker in another container has a number that says nothing here.
    const idle = statSync(folder).mtimeMs < old;
    if (idle && pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(folder, { recursive: true, force: true });
  }
  for (const folder of ["spool", "net"]) {
    for (const name of readdirSync(join(stateDir, folder))) {
      const file = join(stateDir, folder, name);
      const stat = lstatSync(file, { throwIfNoEntry: false });
      if (stat !== undefined && stat.mtimeMs < old) rmSync(file, { force: true });
    }
  }
}

/** `Inside` by bubblewrap. */
export function insideBwrap(errand: Runs<unknown>["errand"], common: Common): Inside {
  return async (folder, user, command, given = {}) => {
    const secretArgs = settings(given);
    const secrets = secretArgs.length > 0 ? FIRST_FD : null;
    const start = bwrapArgs({
      ...{ enter: [], user, etc: common.etc(user), cwd: INSIDE, env: commandEnv("/tmp"), secrets, prelude: "" },
      ...{ binds: [{ from: folder, to: INSIDE, writable: true }], command, carry: null },
    });
    return await done(errand, { ...common.job(), ...start, lock: null, opens: [], secretArgs }, user);
  };
}

/** What an errand printed. Rejects when it did not come to its end. */
export async function done(
  errand: Runs<unknown>["errand"],
  planned: Planned,
  user: RunUser,
  timeoutMs: number = LIMITS.commandTimeMax,
): Promise<string> {
  const { how, words, printed } = await errand({ user, planned, timeoutMs });
  if (how !== "exited") throw new Error(`${how} ${words.trim()}`);
  return new TextDecoder().decode(printed.first);
}
