import { Buffer } from "node:buffer";
import { join, normalize } from "node:path";
import { asDeckhandError, DeckhandError } from "../core/errors.ts";
import { shape } from "../core/output.ts";
import type { RunResult, RunSpec, Sandbox } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { prepareState } from "./folders.ts";
import { type RunUser, SYSTEM_PATH } from "./launch.ts";
import { liveText } from "./live.ts";
import { type Job, MOVED } from "./messages.ts";
import { createRunner, RUNNER_DIED, type Runner } from "./runner.ts";
import { checkPlace, checkWorkspace, contains, type WorkspaceOptions } from "./workspace.ts";

export interface SandboxOptions extends WorkspaceOptions {
  /** Values that no output may show. */
  secrets?: string[];
}

/** What one provider knows: how a command's words become a job. May throw a DeckhandError. */
export type Plan = (spec: RunSpec, user: RunUser) => Pick<Job, "argv" | "env" | "cwd" | "seccomp" | "workspace">;

/** Everything that the providers share: checks before, the runner, the shape of the result. */
export function createRun(options: SandboxOptions, plan: Plan): Pick<Sandbox, "run" | "close"> {
  const userOf = rememberUsers(options);
  let runner: Runner | null = null;
  let closed = false;

  function started(): Runner {
    if (closed) throw new DeckhandError("SANDBOX_RUNNER", "it was closed");
    if (runner === null) {
      prepareState(options.stateDir);
      runner = createRunner({
        folder: join(options.stateDir, "run"),
        cache: join(options.stateDir, "cache"),
        path: options.path ?? SYSTEM_PATH,
      });
    }
    return runner;
  }

  async function prepare(spec: RunSpec): Promise<{ active: Runner; job: Job }> {
    checkSpec(spec);
    const active = started();
    const user = await userOf(spec.workspace);
    const owner = user.drop ? { uid: user.uid, gid: user.gid } : null;
    return { active, job: { ...plan(spec, user), owner, timeoutMs: Math.min(spec.timeoutMs, LIMITS.commandTimeMax) } };
  }

  async function run(spec: RunSpec, { signal, onChunk }: Parameters<Sandbox["run"]>[1]): Promise<RunResult> {
    const secrets = options.secrets ?? [];
    const live = liveText(secrets, onChunk ?? (() => {}));
    let prepared: Awaited<ReturnType<typeof prepare>>;
    try {
      prepared = await prepare(spec);
    } catch (thrown) {
      return refused(asDeckhandError(thrown));
    }
    const ran = await prepared.active.run(prepared.job, { signal, onChunk: live.add });
    live.end();
    if (ran.how === "refused") return refused(meaning(ran.words, spec));
    return { how: ran.how, exit: ran.exit, ms: Math.round(ran.ms), ...shape(ran.printed, secrets) };
  }

  return {
    run,
    close: async () => {
      closed = true;
      await runner?.close();
    },
  };
}

/** The slow checks are made once for a folder as it is; whoever changes its owner or mode has it checked again. */
function rememberUsers(options: SandboxOptions): (workspace: string) => Promise<RunUser> {
  const users = new Map<string, RunUser>();
  return async (workspace) => {
    const { dev, ino, uid, gid, mode } = checkPlace(workspace, options);
    const key = [workspace, dev, ino, uid, gid, mode].join(" ");
    const known = users.get(key);
    if (known !== undefined) return known;
    const checked = await checkWorkspace(workspace, options);
    if (!checked.ok) throw checked.error;
    users.set(key, checked.user);
    return checked.user;
  };
}

function checkSpec({ command, cwd, workspace }: RunSpec): void {
  const bytes = Buffer.byteLength(command);
  if (bytes > LIMITS.commandBytes)
    throw new DeckhandError(
      "BAD_INPUT",
      `A command of ${bytes} bytes is longer than the ${LIMITS.commandBytes} that are possible; write it to a file and run that`,
    );
  if (command.includes("\0")) throw new DeckhandError("BAD_INPUT", "A command cannot contain a NUL character");
  if (!contains(workspace, normalize(cwd))) throw new DeckhandError("BAD_INPUT", `The folder ${cwd} is outside of the workspace`);
}

function refused(error: DeckhandError): RunResult {
  return { how: "refused", exit: null, output: { text: "", bytes: 0, omitted: 0 }, ms: 0, why: error.line() };
}

/** What kept the command from starting, from what the tools in front of it said. */
function meaning(words: string, spec: RunSpec): DeckhandError {
  const said = words.trim().split("\n").join("; ");
  if (/can(?:'t|not) ch(?:dir|ange directory) to/i.test(said)) return new DeckhandError("BAD_INPUT", `The folder ${spec.cwd} is not there`);
  if (said.startsWith(MOVED)) return new DeckhandError("WORKSPACE_REFUSED", `${spec.workspace} (${said})`);
  if (said.startsWith(RUNNER_DIED)) return new DeckhandError("SANDBOX_RUNNER", said.slice(RUNNER_DIED.length).trim());
  // A folder of the PATH that the run user cannot open, in which it may be, looks like a program that may not be run.
  const tool = /(?:spawn|failed to execute|execvp) ([\w/.-]+):? (?:ENOENT|No such file|EACCES|Permission denied)/.exec(said)?.[1];
  if (tool === "bwrap") return new DeckhandError("SANDBOX_MISSING");
  return tool === undefined ? new DeckhandError("SANDBOX_DENIED", said) : new DeckhandError("SANDBOX_TOOL", tool);
}
