import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { getCompileCacheDir } from "node:module";
import { dirname, join, normalize } from "node:path";
import { asDeckhandError, DeckhandError } from "../core/errors.ts";
import { within } from "../core/gate/paths.ts";
import { shape } from "../core/output.ts";
import type { RunOptions, RunResult, RunSpec, Sandbox } from "../core/sandbox.ts";
import { redactor } from "../core/redactor.ts";
import { LIMITS } from "../limits.ts";
import { prepareState, spoolFile } from "./folders.ts";
import { diagnose } from "./host.ts";
import { becomes, type RunUser, SYSTEM_PATH } from "./launch.ts";
import { liveText } from "./live.ts";
import { type Job, MOVED, RUNNER_DIED } from "./messages.ts";
import type { SandboxOptions } from "./options.ts";
import { createRunner, type Ran, type Runner, takeSpool } from "./runner.ts";
import { checkPlace, checkWorkspace } from "./workspace.ts";

export type Told = Pick<RunResult, "network" | "noticed">;

/** What one provider makes of a command: a job for the runner, and what is to be done when it is over. */
export interface Planned extends Pick<Job, "argv" | "as" | "lock" | "env" | "cwd" | "seccomp" | "opens" | "secretArgs" | "fed"> {
  spare?: Job["spare"];
  /** Never rejects. Gives what there is to tell beside the output. */
  finish?: () => Promise<Told>;
}

/** Something that is run like a command of a conversation, whoever asked for it. */
export interface Errand {
  user: RunUser;
  planned: Planned;
  timeoutMs: number;
}

/** May throw a DeckhandError: then nothing is started. */
export type Plan<Extra> = (spec: RunSpec, user: RunUser, extra: Extra) => Planned | Promise<Planned>;

export interface Runs<Extra> {
  run(spec: RunSpec, options: RunOptions, extra: Extra): Promise<RunResult>;
  /** The same with the bytes as they came, at most LIMITS.outputFile from the beginning. May reject with a DeckhandError. */
  raw(spec: RunSpec, options: RunOptions, extra: Extra): Promise<Ran>;
  errand(errand: Errand): Promise<Ran>;
  left: Sandbox["left"];
  /** Whom commands of a workspace run as; `again`: whatever was found before. Rejects when it is none, or none any more. */
  check(workspace: string, again?: boolean): Promise<RunUser>;
  /** The user of a workspace that was checked before. */
  userOf(workspace: string): RunUser | null;
  /** Lets the runner start meanwhile: a command will come. */
  warm(): void;
  close(): Promise<void>;
}

/** Everything that the providers share: checks before, the runner, the shape of the result. */
export function createRun<Extra>(options: SandboxOptions, plan: Plan<Extra>): Runs<Extra> {
  const users = rememberUsers(options);
  const redact = redactor(options.secrets ?? []);
  const { started, warm, close } = lazyRunner(options);

  async function raw(spec: RunSpec, { signal, onChunk, ready }: RunOptions, extra: Extra): Promise<Ran & Told> {
    checkSpec(spec);
    const active = started();
    const user = await users.check(spec.workspace);
    const { finish, ...planned } = await plan(spec, user, extra);
    const live = liveText(redact, onChunk ?? (() => {}));
    const watched = onChunk !== undefined;
    const job = jobOf({ user, planned, timeoutMs: spec.timeoutMs }, options, { waits: ready !== undefined, watched });
    const spool = spoolFile(options.stateDir, spec.conversation, spec.call ?? randomUUID());
    const ran = await active.run(job, { signal, onChunk: live.add, ready: ready ?? (async () => true), spool });
    live.end();
    return { ...ran, ...(await finish?.()) };
  }

  async function run(spec: RunSpec, runOptions: RunOptions, extra: Extra): Promise<RunResult> {
    try {
      const { printed, words, ...ran } = await raw(spec, runOptions, extra);
      if (ran.how === "refused") return refused(meaning(words, spec));
      return { ...ran, ms: Math.round(ran.ms), ...shape({ ...printed, broken: ran.how !== "exited" }, redact) };
    } catch (thrown) {
      return refused(asDeckhandError(thrown));
    }
  }

  return {
    run,
    raw,
    errand: async (errand) => {
      const spool = spoolFile(options.stateDir, "errand", randomUUID());
      const { signal } = new AbortController();
      return await started().run(jobOf(errand, options, { waits: false, watched: false }), {
        signal,
        onChunk: () => {},
        ready: async () => true,
        spool,
      });
    },
    left: (conversation, call) => {
      const first = takeSpool(spoolFile(options.stateDir, conversation, call));
      // The file holds the beginning only: how much more there was, nobody has counted.
      return first.length === 0 ? null : shape({ first, last: new Uint8Array(), total: first.length, broken: true }, redact).output;
    },
    check: users.check,
    userOf: users.known,
    warm,
    close,
  };
}

/** The runner starts with the first command. After `close` there is none, and asking for it throws. */
function lazyRunner(options: SandboxOptions): { started(): Runner; warm(): void; close(): Promise<void> } {
  let runner: Runner | null = null;
  let closed = false;
  function started(): Runner {
    if (closed) throw new DeckhandError("SANDBOX_RUNNER", "it was closed");
    if (runner !== null) return runner;
    prepareState(options.stateDir);
    const folder = (name: string): string => join(options.stateDir, name);
    const ours = getCompileCacheDir();
    const { path = SYSTEM_PATH, quietMs = null } = options;
    runner = createRunner({ folder: folder("run"), cache: ours ? dirname(ours) : folder("cache"), path, quietMs });
    return runner;
  }
  return {
    started,
    warm: () => {
      try {
        started().warm();
      } catch {
        // The first command tells it.
      }
    },
    close: async () => {
      closed = true;
      await runner?.close();
    },
  };
}

function jobOf({ user, planned, timeoutMs }: Errand, options: SandboxOptions, manner: Pick<Job, "waits" | "watched">): Job {
  const floodBytes = options.floodBytes ?? LIMITS.outputFlood;
  return { spare: null, ...planned, owner: becomes(user), timeoutMs: Math.min(timeoutMs, LIMITS.commandTimeMax), floodBytes, ...manner };
}

interface Users {
  check(workspace: string, again?: boolean): Promise<RunUser>;
  known(workspace: string): RunUser | null;
}

/** The slow checks are made once for a folder as it is; whoever changes its owner or mode has it checked again. */
function rememberUsers(options: SandboxOptions): Users {
  const users = new Map<string, RunUser>();
  const byPath = new Map<string, RunUser>();
  const keyOf = (workspace: string): string => {
    const { dev, ino, uid, gid, mode } = checkPlace(workspace, options);
    return [workspace, dev, ino, uid, gid, mode].join(" ");
  };
  return {
    check: async (workspace, again = false) => {
      const key = keyOf(workspace);
      const known = again ? undefined : users.get(key);
      if (known !== undefined) return known;
      const checked = await checkWorkspace(workspace, options);
      if (!checked.ok) throw checked.error;
      users.set(key, checked.user);
      byPath.set(workspace, checked.user);
      return checked.user;
    },
    known: (workspace) => byPath.get(workspace) ?? null,
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
  if (!within(normalize(cwd), workspace)) throw new DeckhandError("BAD_INPUT", `The folder ${cwd} is outside of the workspace`);
}

/** Nothing was started, and why. */
export function refused(error: DeckhandError): RunResult {
  return { how: "refused", exit: null, output: { text: "", bytes: 0, omitted: 0 }, ms: 0, why: error.line() };
}

/** What kept the command from starting, from what the tools in front of it said. */
export function meaning(words: string, spec: Pick<RunSpec, "cwd" | "workspace">): DeckhandError {
  const said = words.trim().split("\n").join("; ");
  if (/can(?:'t|not) (?:cd|chdir|change directory) to/i.test(said))
    return new DeckhandError("BAD_INPUT", `The folder ${spec.cwd} is not there`);
  if (said.startsWith(MOVED)) return new DeckhandError("WORKSPACE_REFUSED", `${spec.workspace} (${said})`);
  if (said.startsWith(RUNNER_DIED)) return new DeckhandError("SANDBOX_RUNNER", said.slice(RUNNER_DIED.length).trim());
  return diagnose(words);
}
