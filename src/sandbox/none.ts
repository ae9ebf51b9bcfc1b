import { asDeckhandError } from "../core/errors.ts";
import type { RunSpec, Sandbox, SandboxReport } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { conversationFolders, lockFile } from "./folders.ts";
import { commandEnv, launcher, type RunUser, supervised } from "./launch.ts";
import { createRun, type SandboxOptions } from "./provider.ts";
import { checkWorkspace } from "./workspace.ts";

/** What every thread shows when there is no wall around commands. */
const BADGE = "NOT SANDBOXED";

/**
 * Commands with the run user's rights on the host and nothing else between: never as root, with a bare environment,
 * ended as a process group. A process that leaves its group on purpose is not caught.
 */
export function noneSandbox(options: SandboxOptions): Sandbox {
  function plan(spec: RunSpec, user: RunUser) {
    const { home } = conversationFolders(options.stateDir, spec.conversation, user);
    const limits = ["prlimit", "--core=0:0", `--nofile=${LIMITS.commandFiles}:${LIMITS.commandFiles}`, "--"];
    const lock = lockFile(options.stateDir, spec.workspace, user);
    const argv = [...launcher(user, lock), ...limits, "env", "-C", spec.cwd, ...supervised(spec.command)];
    return { argv, env: commandEnv(home), cwd: "/", seccomp: null, workspace: null };
  }

  async function selfTest(workspace: string): Promise<SandboxReport> {
    const checked = await checkWorkspace(workspace, options);
    if (!checked.ok) return { ok: false, badge: BADGE, problems: [checked.error.line()] };
    const spec = { conversation: "self-test", workspace, cwd: workspace, command: "[ $UID -ne 0 ]", timeoutMs: LIMITS.commandTime };
    const { exit, why } = await sandbox.run(spec, { signal: new AbortController().signal });
    const problem = exit === 0 ? [] : [why ?? asDeckhandError("a command without a sandbox does not run").line()];
    return { ok: exit === 0, badge: BADGE, problems: problem };
  }

  const sandbox = createRun(options, plan);
  return { name: "none", ...sandbox, selfTest };
}
