import type { RunEnd } from "../core/entry.ts";
import type { Fed, Lock } from "./launch.ts";

/** Begins the words of a call whose workspace was not where it was when it was checked. */
export const MOVED = "it now leads to";

/** Begins the words of a call that failed by the runner itself, not by a tool or the workspace. */
export const RUNNER_DIED = "runner:";

/** A runner that had to compile itself ends with this code, once: the one that is started with this word stays. */
export const AGAIN = { exit: 75, word: "again" };

/** One command as the runner gets it: words to start, nothing to decide. */
export interface Job {
  argv: string[];
  /** What its shell is told. */
  fed: Fed;
  /** Where its shell stands, when the next one that is started alike may be set up ahead; see spare.ts. */
  spare: string | null;
  env: Record<string, string>;
  cwd: string;
  /** The seccomp program's file, opened as fd 3; fd 4 then carries bubblewrap's status. Null without bubblewrap. */
  seccomp: string | null;
  /** What is opened as fd 5, 6 ...: each only when it is still at this very path, with no link on the way. */
  opens: string[];
  /** More words for bubblewrap, with what no process list may show; it reads them from the fd after those. */
  secretArgs: string[];
  /** Whom it is started as, with no other group; null: as we are. */
  as: { uid: number; gid: number } | null;
  /** Held while anything of the command is there; null: it waits for nobody. */
  lock: Lock | null;
  /** Who may open /dev/stdout again: the run user, when we are root. */
  owner: { uid: number; gid: number } | null;
  /** Counted from the moment when the command itself starts. */
  timeoutMs: number;
  /** Output beyond this many bytes ends it. */
  floodBytes: number;
  /** Everything around it stands: it starts only when the worker says `go`. */
  waits: boolean;
  /** Somebody looks on: some of the output is sent as it comes. */
  watched: boolean;
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

export type ToRunner =
  | { type: "run"; id: number; job: Job; spool: string }
  | { type: "go"; id: number }
  | { type: "stop"; id: number }
  /** The worker lives; see watchdog.ts. */
  | { type: "beat" };

export type FromRunner =
  | { type: "up" }
  /** Processes that must not outlive the call: the leader of its group and, once known, the first one inside. */
  | { type: "alive"; id: number; pids: number[] }
  /** The workspace is ours, the command is about to start; for a job that waits. */
  | { type: "ready"; id: number }
  | { type: "chunk"; id: number; data: Uint8Array }
  | { type: "ended"; id: number; ended: Ended };
