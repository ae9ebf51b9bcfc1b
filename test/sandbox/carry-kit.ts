import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Carried } from "../../src/core/sandbox.ts";
import { carrying, RUN_CARRYING, readCarried, SESS } from "../../src/sandbox/carry.ts";
import { commandEnv } from "../../src/sandbox/launch.ts";

/** What a command's bash is started with. */
export const GIVEN: Readonly<Record<string, string>> = commandEnv("/home/agent");

/** A conversation of commands, in a mount namespace that has its folder where commands look for it. */
export interface Talk {
  workspace: string;
  sess: string;
  /** Runs a command where the last one ended, with what it exported. `plain`: as a bash that carries nothing. */
  run(command: string, how?: { plain?: boolean; variables?: boolean; readOnly?: boolean }): { exit: number | null; output: string };
  carried(): Carried;
  end(): void;
}

export function talk(): Talk {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "deckhand-carry-")));
  const workspace = join(root, "ws");
  const sess = join(root, "sess");
  for (const folder of [workspace, sess, join(workspace, "sub")]) mkdirSync(folder);
  const carried = () => readCarried(sess, workspace, GIVEN);
  return {
    workspace,
    sess,
    carried,
    run: (command, { plain = false, variables = true, readOnly = false } = {}) => {
      const { cwd, env } = carried();
      const line = plain ? `exec /bin/bash --norc --noprofile -c "$1" bash 2>&1` : RUN_CARRYING;
      const words = [
        ...["bwrap", "--dev-bind", "/", "/", "--tmpfs", "/run", readOnly ? "--ro-bind" : "--bind", sess, SESS],
        ...["--unshare-pid", "--proc", "/proc", "--as-pid-1", "--die-with-parent", "--chdir", cwd, "--clearenv"],
        ...Object.entries({ ...GIVEN, ...env }).flatMap(([name, value]) => ["--setenv", name, value]),
        ...["--", "/bin/sh", "-c", `exec </dev/null 2>/dev/null\n(${line})\nexit $?`],
        ...["supervisor", command, carrying(sess, variables)],
      ];
      const { status, stdout, stderr } = spawnSync(words[0] as string, words.slice(1), { encoding: "utf8", timeout: 30_000 });
      if (stderr !== "") throw new Error(stderr);
      return { exit: status, output: stdout };
    },
    end: () => rmSync(root, { recursive: true, force: true }),
  };
}
