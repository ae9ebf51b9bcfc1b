import { asDeckhandError } from "../core/errors.ts";
import type { RunSpec, Sandbox, SandboxReport } from "../core/sandbox.ts";
import { LIMITS } from "../limits.ts";
import { fingerprint } from "./fingerprint.ts";
import { conversationFolders, lockFile } from "./folders.ts";
import { becomes, commandEnv, FED_SHELL, fedIn, notRoot, type RunUser, type Walls } from "./launch.ts";
import type { SandboxOptions } from "./options.ts";
import { inbox } from "./inbox.ts";
import { keeping } from "./keep.ts";
import { done, keeper } from "./keeper.ts";
import { notesReader } from "./notes.ts";
import { createRun, type Planned } from "./provider.ts";
import type { Inside } from "./quota.ts";
import { checkWorkspace } from "./workspace.ts";

/** What every thread shows when there is no wall around commands. */
const BADGE = "NOT SANDBOXED";

const WALLS: Walls = { files: LIMITS.commandFiles, processes: null, fileSize: null, memory: null, cpu: null };

const BARE = { cwd: "/", seccomp: null, opens: [], secretArgs: [] };

/** A shell in a folder. One that waits when the runner dies reads the end of its input, and ends. */
function shell(command: string, folder: string, user: RunUser): Pick<Planned, "argv" | "as" | "fed"> {
  return { argv: FED_SHELL, as: becomes(notRoot(user)), fed: fedIn(folder, command, WALLS) };
}

/**
 * Commands with the run user's rights on the host and nothing else between: never as root, with a bare environment,
 * ended as a process group. A process that leaves its group on purpose is not caught. Nothing carries over from one
 * command to the next, and nothing is granted: there is nothing to widen.
 */
export function noneSandbox(options: SandboxOptions): Sandbox {
  function plan(spec: RunSpec, user: RunUser): Planned {
    const { home } = conversationFolders(options.stateDir, spec.conversation, user);
    const lock = { file: lockFile(options.stateDir, spec.workspace, user), shared: spec.reach === "read" };
    return {
      ...BARE,
      ...shell(spec.command, spec.cwd, user),
      spare: spec.cwd,
      lock: spec.reach === "probe" ? null : lock,
      env: commandEnv(home, spec.reach === "approved"),
    };
  }

  async function selfTest(workspace: string, waiting?: () => void): Promise<SandboxReport> {
    const checked = await checkWorkspace(workspace, options);
    if (!checked.ok) return { ok: false, badge: BADGE, problems: [checked.error.line()] };
    const spec = { conversation: "self-test", workspace, cwd: workspace, command: "[ $UID -ne 0 ]", timeoutMs: LIMITS.commandTime };
    const testing = runs.run({ ...spec, reach: "probe" }, { signal: new AbortController().signal }, null);
    waiting?.();
    const { exit, why } = await testing;
    const problem = exit === 0 ? [] : [why ?? asDeckhandError("a command without a sandbox does not run").line()];
    return { ok: exit === 0, badge: BADGE, problems: problem };
  }

  const runs = createRun<null>(options, plan);
  const inside: Inside = async (folder, user, command, given = {}) => {
    return await done(
      runs.errand,
      { ...BARE, ...shell(command, folder, user), lock: null, env: { ...commandEnv(folder), ...given } },
      user,
    );
  };
  const keep = keeper(options, inside);
  return {
    name: "none",
    run: (spec, how) => runs.run(spec, how, null),
    selfTest,
    carried: (_, workspace) => ({ cwd: workspace, env: {}, notes: [] }),
    // There is nothing that a command could not reach anyway.
    lacks: () => null,
    fingerprint: (workspace, files) => fingerprint((spec, how) => runs.run(spec, how, null), workspace, files),
    notes: notesReader((spec, how) => runs.run(spec, how, null)),
    keep: keeping(options, inside, runs.userOf, (tmp) => tmp),
    put: inbox({
      options,
      check: runs.check,
      keep,
      beside: (workspace, staged, user, copying) => inside(workspace, user, copying(staged)),
    }),
    left: runs.left,
    dispose: keep.dispose,
    tidy: keep.tidy,
    close: runs.close,
  };
}
