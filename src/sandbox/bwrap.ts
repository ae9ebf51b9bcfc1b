import { join } from "node:path";
import type { RunSpec, Sandbox } from "../core/ports.ts";
import { bwrapArgs } from "./bwrap-args.ts";
import { stageEtc } from "./etc.ts";
import { checkMountPoint, conversationFolders, lockFile, seccompFile } from "./folders.ts";
import { type RunUser, SYSTEM_PATH } from "./launch.ts";
import { probe } from "./probes.ts";
import { createRun, type SandboxOptions } from "./provider.ts";

/** Commands in bubblewrap: no network, no host files but /usr and the workspace, nothing left afterwards. */
export function bwrapSandbox(options: SandboxOptions): Sandbox {
  const etc = new Map<string, string>();
  let seccomp: string | null = null;

  function staged(user: RunUser): string {
    const key = `${user.uid}:${user.gid}`;
    const folder = etc.get(key) ?? stageEtc(join(options.stateDir, "etc"), user);
    etc.set(key, folder);
    return folder;
  }

  function plan(spec: RunSpec, user: RunUser) {
    const folders = conversationFolders(options.stateDir, spec.conversation, user);
    checkMountPoint(spec.workspace, folders);
    seccomp ??= seccompFile(options.stateDir);
    const lock = lockFile(options.stateDir, spec.workspace, user);
    const { workspace, cwd, command } = spec;
    const argv = bwrapArgs({ user, lock, etc: staged(user), ...folders, workspace, cwd, command });
    return { argv, env: { PATH: options.path ?? SYSTEM_PATH }, cwd: "/", seccomp, workspace };
  }

  const sandbox = createRun(options, plan);
  return { name: "bwrap", ...sandbox, selfTest: (workspace) => probe(workspace, options, sandbox.run) };
}
