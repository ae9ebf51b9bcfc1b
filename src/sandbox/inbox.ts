import { chmodSync, chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asDeckhandError } from "../core/errors.ts";
import type { Sandbox } from "../core/sandbox.ts";
import { LIMITS } from "../limits.ts";
import { bwrapArgs, FIRST_FD } from "./bwrap-args.ts";
import { quoted } from "./fingerprint.ts";
import { conversationFolders, freshHome } from "./folders.ts";
import { type Common, done, type Keeper } from "./keeper.ts";
import { commandEnv, type RunUser } from "./launch.ts";
import type { SandboxOptions } from "./options.ts";
import type { Runs } from "./provider.ts";

/** Runs a command in a workspace, with a folder of ours beside it; gives what it printed. Rejects when it did not come to its end. */
export type Beside = (workspace: string, staged: string, user: RunUser, command: (staged: string) => string) => Promise<string>;

interface Parts {
  options: SandboxOptions;
  check: (workspace: string) => Promise<RunUser>;
  keep: Pick<Keeper, "scrub">;
  beside: Beside;
}

/**
 * `Sandbox.put`: the files are laid beside the workspace and copied by the run user inside the sandbox, so that links in the
 * workspace lead nowhere that its commands could not write to, and never out of its own `inbox`.
 */
export function inbox({ options, check, keep, beside }: Parts): Sandbox["put"] {
  return async (workspace, files) => {
    try {
      const user = await check(workspace);
      const { base } = conversationFolders(options.stateDir, "inbox", user);
      const staged = freshHome(base, user);
      try {
        files.forEach(({ data }, at) => stage(join(staged, String(at)), data, user));
        const names = files.map(({ name }) => name);
        const paths = (await beside(workspace, staged, user, (folder) => copying(folder, names))).split("\n").filter((line) => line !== "");
        const problem = paths.find((path) => path.startsWith("/"))?.slice(1);
        if (problem !== undefined || paths.length !== files.length) return { problem: problem ?? "they could not be copied" };
        return { paths: paths.map((path) => `inbox/${path}`) };
      } finally {
        await keep.scrub(staged, user);
      }
    } catch (thrown) {
      return { problem: asDeckhandError(thrown).what };
    }
  };
}

function stage(path: string, data: Uint8Array, user: RunUser): void {
  writeFileSync(path, data, { flag: "wx" });
  if (user.drop) chownSync(path, user.uid, user.gid);
  chmodSync(path, 0o400);
}

/** Says the name under which each file is there now, or after a slash, which no name has, what is wrong. A folder that we make is left out of the repository. */
function copying(staged: string, names: string[]): string {
  return [
    `from=${quoted(staged)} root=$(pwd -P)`,
    COPYING,
    ...names.map((name, at) => `put ${at} ${quoted(stemOf(name))} ${quoted(name.slice(stemOf(name).length))}`),
  ].join("\n");
}

const COPYING = `
die() { echo "/$1"; exit 0; }
if mkdir inbox 2>/dev/null; then (set -C; echo '*' >inbox/.gitignore); fi
cd -P inbox 2>/dev/null && [ "$(pwd -P)" = "$root/inbox" ] || die "inbox is not a folder of the workspace"
put() {
  for nth in '' -{2..99}; do
    to=./$2$nth$3
    if [ -f "$to" ] && [ ! -L "$to" ] && cmp -s "$from/$1" "$to"; then echo "$2$nth$3"; return; fi
    if [ -e "$to" ] || [ -L "$to" ]; then continue; fi
    if (set -C; cat "$from/$1" >"$to") 2>/dev/null; then echo "$2$nth$3"; return; fi
    die "it cannot be written there"
  done
  die "there are too many files of this name"
}`;

/** `Beside` by bubblewrap. */
export function besideBwrap(errand: Runs<unknown>["errand"], common: Common): Beside {
  return async (workspace, staged, user, command) => {
    const start = bwrapArgs({
      ...{ enter: [], user, etc: common.etc(user), cwd: PLACE, env: commandEnv("/tmp"), secrets: null, prelude: "", carry: null },
      binds: [
        { from: FIRST_FD, to: PLACE, writable: true },
        { from: staged, to: STAGED, writable: false },
      ],
      command: command(STAGED),
    });
    const planned = { ...common.job(), ...start, lock: null, opens: [workspace], secretArgs: [] };
    return await done(errand, planned, user, LIMITS.inspectTime);
  };
}

const PLACE = "/run/workspace";
const STAGED = "/run/files";

function stemOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}
