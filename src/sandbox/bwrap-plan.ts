import { join } from "node:path";
import type { RunSpec } from "../core/sandbox.ts";
import { type Bind, bwrapArgs, FIRST_FD, HOME, settings, shielded } from "./bwrap-args.ts";
import { carrying, SESS } from "./carry.ts";
import type { Cgroup, Cgroups } from "./cgroup.ts";
import { stageEtc } from "./etc.ts";
import { checkMountPoint, conversationFolders, freshHome, lockFile, seccompFile } from "./folders.ts";
import { isGranted, openGrants } from "./grants.ts";
import type { Guarded } from "./guard.ts";
import type { Common, Keeper } from "./keeper.ts";
import { commandEnv, type Lock, type RunUser, SYSTEM_PATH } from "./launch.ts";
import type { SandboxOptions } from "./options.ts";
import type { Plan, Told } from "./provider.ts";

const OUT_OF_MEMORY = "the machine ended a process of it, because all of it together used too much memory";

/** How a command of a conversation becomes a job: its folders, what it may see and reach, what is done afterwards. */
export function planner(options: SandboxOptions, common: Common, keep: Keeper, groups: Cgroups | null): Plan<Guarded> {
  return async (spec, user, { protect: asked }) => {
    const folders = conversationFolders(options.stateDir, spec.conversation, user);
    const { base, tmp, sess } = folders;
    const { workspace, reach } = spec;
    const fresh = isGranted(reach);
    // What could not be looked through is read-only as a whole.
    const whole = asked.some(({ path }) => path === ".");
    const protect = whole ? [] : asked;
    checkMountPoint(workspace, folders);
    const ends: (() => Promise<Told>)[] = [];
    try {
      const home = fresh ? freshHome(base, user) : folders.home;
      if (fresh) ends.push(async () => (await keep.scrub(home, user), {}));
      const group = groups?.fresh();
      if (group) ends.push(() => leaveGroup(group));
      const emptied = await keep.makeRoom(base, user);
      if (emptied.length > 0) ends.push(async () => ({ noticed: emptied }));
      const extra = await openGrants(spec, user, options);
      ends.push(extra.close);
      const secretArgs = [...settings(carriedEnv(spec)), ...extra.secretArgs];
      const opens = [workspace, ...protect.map(({ path }) => join(workspace, path)), ...extra.opens.map(({ path }) => path)];
      const fd = (path: string, writable: boolean): Bind => ({ from: FIRST_FD + opens.indexOf(path), to: path, writable });
      const binds = [
        ...[own(tmp, "/tmp"), own(home, HOME), own(sess, SESS)],
        ...shielded([fd(workspace, reach !== "read" && !whole), ...extra.opens.map(({ path, writable }) => fd(path, writable))]),
        ...protect.map(({ path, pin }) => fd(join(workspace, path), pin)),
        ...extra.binds,
      ];
      const start = bwrapArgs({
        ...{ enter: group?.words ?? [], user, etc: common.etc(user), binds, cwd: spec.cwd, prelude: extra.prelude },
        env: { ...commandEnv(HOME, fresh, extra.git), ...extra.env },
        secrets: secretArgs.length > 0 ? FIRST_FD + opens.length : null,
        command: spec.command,
        // A command with a credential could export it for the next one, which nobody gave it to.
        carry: reach === "probe" ? null : carrying(sess, extra.secretArgs.length === 0),
      });
      if (reach !== "probe") ends.push(async () => (keep.measure(base, user), {}));
      // Where nothing of the workspace is mounted twice, and nothing is opened for this run alone.
      const isPlain = reach === "read" && !group && extra.prelude === "" && extra.opens.length + extra.binds.length === 0;
      const lock = lockFor(spec, user, options);
      return { ...common.job(), ...start, lock, opens, secretArgs, spare: isPlain ? spec.cwd : null, finish: () => finish(ends) };
    } catch (thrown) {
      await finish(ends);
      throw thrown;
    }
  };
}

async function finish(ends: (() => Promise<Told>)[]): Promise<Told> {
  const noticed: string[] = [];
  let told: Told = {};
  for (const end of ends) {
    const one = await end();
    noticed.push(...(one.noticed ?? []));
    told = { ...told, ...one };
  }
  return noticed.length > 0 ? { ...told, noticed } : told;
}

async function leaveGroup(group: Cgroup): Promise<Told> {
  const told = group.oomKilled() ? { noticed: [OUT_OF_MEMORY] } : {};
  await group.end();
  return told;
}

function own(from: string, to: string): Bind {
  return { from, to, writable: true };
}

/** A probe holds a lock like every command, but one that nobody has to wait for. */
function lockFor({ workspace, reach }: RunSpec, user: RunUser, { stateDir }: SandboxOptions): Lock {
  return { file: lockFile(stateDir, reach === "probe" ? reach : workspace, user), shared: reach === "read" || reach === "probe" };
}

/** An approved command gets the default PATH, whatever earlier ones made of it. */
function carriedEnv({ env = {}, reach }: RunSpec): Record<string, string> {
  const { PATH, ...others } = env;
  return isGranted(reach) || PATH === undefined ? others : { ...others, PATH };
}

/** What is made once and then shared by every job. */
export function commonParts(options: SandboxOptions): Common {
  const etc = new Map<string, string>();
  let seccomp: string | null = null;
  return {
    etc: (user) => {
      const key = `${user.uid}:${user.gid}`;
      const folder = etc.get(key) ?? stageEtc(join(options.stateDir, "etc"), user);
      etc.set(key, folder);
      return folder;
    },
    job: () => {
      seccomp ??= seccompFile(options.stateDir);
      return { env: { PATH: options.path ?? SYSTEM_PATH }, cwd: "/", seccomp };
    },
  };
}
