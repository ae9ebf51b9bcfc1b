import type { RunEnd } from "../core/entry.ts";

/** Begins the words of a call whose workspace was not where it was when it was checked. */
export const MOVED = "it now leads to";

/** One command as the runner gets it: words to start, nothing to decide. */
export interface Job {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  /** The seccomp program's file, opened as fd 3; fd 4 then carries bubblewrap's status. Null without bubblewrap. */
  seccomp: string | null;
  /** The folder that is opened as fd 5, only when it is still at this very path. Null without bubblewrap. */
  workspace: string | null;
  /** Who may open /dev/stdout again: the run user, when we are root. */
  owner: { uid: number; gid: number } | null;
  /** Counted from the moment when the command itself starts. */
  timeoutMs: number;
}

/** How it went, as the runner tells it; the beginning of the output is in the job's spool file. */
export interface Ended {
  how: RunEnd;
  exit: number | null;
  /** The end of the output, when the spool file does not hold all of it. */
  last: Uint8Array;
  /** Bytes that the command printed. */
  total: number;
  ms: number;
  /** For `refused`: what the tools in front of the command said. */
  words: string;
}

export type ToRunner = { type: "run"; id: number; job: Job; spool: string } | { type: "stop"; id: number };

export type FromRunner =
  | { type: "up" }
  /** Processes that must not outlive the call: the leader of its group and, once known, the first one inside. */
  | { type: "alive"; id: number; pids: number[] }
  | { type: "chunk"; id: number; data: Uint8Array }
  | { type: "ended"; id: number; ended: Ended };
