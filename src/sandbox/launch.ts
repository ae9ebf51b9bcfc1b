import { DeckhandError } from "../core/errors.ts";

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

/** Said by the supervisor and nobody else; anything else on stderr comes from the tools in front of it. */
const SUPERVISOR = [
  `echo ${READY} >&2`,
  // The runner's word to go. When it died meanwhile this reads nothing, and nothing runs.
  "read -r || exit 125",
  // Bash would tell on its own stderr that the command was killed, which the exit code says already.
  "exec </dev/null 2>/dev/null",
  `/bin/bash --norc --noprofile -c "$1" bash 2>&1`,
  "exit $?",
].join("\n");

/**
 * The words that start a command: never as root, ended when the runner ends, one at a time for each lock file.
 * The lock is held by a process outside of the sandbox until everything inside is gone.
 */
export function launcher(user: RunUser, lock: string): string[] {
  if (user.uid === 0) throw new DeckhandError("RUN_AS", "the user is root");
  const drop = user.drop ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"] : [];
  return ["setpriv", ...drop, "--pdeathsig", "KILL", "flock", "-x", "-o", lock];
}

/** Bash that waits for the word to go, then runs the command with its output merged and its input closed. */
export function supervised(command: string): string[] {
  return ["/bin/bash", "--norc", "--noprofile", "-c", SUPERVISOR, "supervisor", command];
}

/** The whole environment of a command. */
export function commandEnv(home: string): Record<string, string> {
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
    // A folder that only looks like a bare repository, as any clone may bring one, does not say what git starts.
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "safe.bareRepository",
    GIT_CONFIG_VALUE_0: "explicit",
    GIT_CONFIG_KEY_1: "core.fsmonitor",
    GIT_CONFIG_VALUE_1: "false",
  };
}
