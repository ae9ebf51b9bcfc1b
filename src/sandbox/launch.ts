import { DeckhandError } from "../core/errors.ts";
import { RUN_CARRYING } from "./carry.ts";
import { quoted } from "./fingerprint.ts";

/** Whom commands run as. `drop`: we are root and become this user on the way. */
export interface RunUser {
  uid: number;
  gid: number;
  drop: boolean;
}

/** Where the tools around a command are looked up; all of our environment that they get. */
export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What the supervisor says on stderr when everything around the command stands. */
export const READY = "deckhand-ready";

/** What the supervisor does before it waits. READY is said by it and nobody else: anything else on stderr comes from the tools in front of it. */
function standing(limits: string, prelude: string): string[] {
  return [
    limits,
    // When the machine runs out of memory, a command goes before the worker and Redis.
    "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null",
    // A command may signal us, too; it does not say how it ends by that.
    "trap : HUP INT QUIT TERM",
    ...(prelude === "" ? [] : [prelude]),
    `echo ${READY} >&2`,
  ];
}

/** The shell would tell on its own stderr that the command was killed, which the exit code says already. */
const ALONE = "exec </dev/null 2>/dev/null";

const RUN = `exec /bin/bash --norc --noprofile -c -- "$1" bash 2>&1`;

/** What each process of a command may have at most; null: as much as we. */
export interface Walls {
  files: number;
  processes: number | null;
  /** Bytes of one file, and of memory. */
  fileSize: number | null;
  memory: number | null;
  /** Seconds. */
  cpu: number | null;
}

/** Hard and soft. A limit that cannot be set is said on stderr, and nothing starts. */
function limits({ files, processes, fileSize, memory, cpu }: Walls): string {
  const set = [
    "ulimit -c 0",
    `ulimit -n ${files}`,
    ...(fileSize === null ? [] : [`ulimit -f ${fileSize / 512}`]),
    ...(memory === null ? [] : [`ulimit -d ${memory / 1024}`]),
    ...(cpu === null ? [] : [`ulimit -t ${cpu}`]),
    // Dash calls it by another letter.
    ...(processes === null ? [] : [`{ ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null`]),
  ];
  return `${set.join(" && ")} || { echo "the limits cannot be set" >&2; exit 125; }`;
}

/** What a command waits for: `shared` with others that only read. */
export interface Lock {
  file: string;
  shared: boolean;
}

/** Words that make one command out of another: never run as root, ended when the runner ends. */
export function launcher(user: RunUser): string[] {
  const { uid, gid } = notRoot(user);
  return ["setpriv", ...(user.drop ? [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"] : []), "--pdeathsig", "KILL"];
}

/** Throws RUN_AS. */
export function notRoot(user: RunUser): RunUser {
  if (user.uid === 0) throw new DeckhandError("RUN_AS", "the user is root");
  return user;
}

/** The user alone, where we become it; null: as we are. */
export function becomes({ uid, gid, drop }: RunUser): { uid: number; gid: number } | null {
  return drop ? { uid, gid } : null;
}

/** What a shell is told on its input. When the runner dies before it has said all of it, nothing runs. */
export interface Fed {
  /** At once. */
  first: string;
  /** The word to go. */
  go: string;
}

/** The shell that is fed. It knows nothing of a command before the word to go, so it may be there before the command is. */
export const FED_SHELL = ["/bin/sh", "-s"];

/**
 * What makes FED_SHELL a supervisor, which runs the command with its output merged and its input closed, and stays until
 * then. `prelude` is done before; `carry` is the script of carry.ts, null where nothing carries over.
 */
export function fed(command: string, walls: Walls, prelude = "", carry: string | null = null): Fed {
  const words = [command, ...(carry === null ? [] : [carry])].map(quoted).join(" ");
  // Without a process of its own for it, dash would keep descriptors open while the command runs.
  const run = `(${carry === null ? RUN : RUN_CARRYING})`;
  return {
    first: [...standing(limits(walls), prelude), ""].join("\n"),
    // In braces, so that no part of it is done before all of it is there.
    go: ["{", `set -- ${words}`, ALONE, run, "exit $?", "}", ""].join("\n"),
  };
}

/**
 * The same in a folder, as whoever the shell runs as. It goes there twice: the folder may have been moved, and another one made,
 * while the shell waited.
 */
export function fedIn(folder: string, command: string, walls: Walls): Fed {
  const goTo = (otherwise: string) => `cd -P -- ${quoted(folder)} 2>/dev/null || { echo ${otherwise}; exit 125; }\nunset OLDPWD`;
  const { first, go } = fed(command, walls, goTo('"cannot cd to it" >&2'));
  return { first, go: `{\n${goTo('"Not run: its folder is not there any more."')}\n${go}}\n` };
}

/** Git's settings by environment: they count more than those of the repository. */
const GIT = {
  // A folder that only looks like a bare repository, as any clone may bring one, does not say what git starts.
  "safe.bareRepository": "explicit",
  "core.fsmonitor": "false",
};
/** Beside them for what a person approved: nothing of the repository runs that the card does not show. */
const GIT_APPROVED = { ...GIT, "core.hooksPath": "/dev/null" };

/** The whole environment of a command that nobody carried anything into. */
export function commandEnv(home: string, approved = false, gitExtra: Record<string, string> = {}): Record<string, string> {
  const git = Object.entries({ ...(approved ? GIT_APPROVED : GIT), ...gitExtra });
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: home,
    USER: "agent",
    LANG: "C.UTF-8",
    TERM: "dumb",
    CI: "1",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
    ...(approved ? { GIT_CONFIG_GLOBAL: "/dev/null" } : {}),
    GIT_CONFIG_COUNT: String(git.length),
    ...Object.fromEntries(
      git.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  };
}
