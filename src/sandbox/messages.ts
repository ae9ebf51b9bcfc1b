import type { RunEnd } from "../core/entry.ts";
import type { Printed } from "../core/output.ts";

/** One command as the runner gets it: words to start, nothing to decide. */
export interface Job {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  /** The seccomp program's file, opened as fd 3; fd 4 then carries bubblewrap's status. Null without bubblewrap. */
  seccomp: string | null;
  /** Who may open /dev/stdout again: the run user, when we are root. */
  owner: { uid: number; gid: number } | null;
  /** Counted from the moment when the command itself starts. */
  timeoutMs: number;
}

/** How it went, before anything is decoded. */
export interface Ended {
  how: RunEnd;
  exit: number | null;
  printed: Printed;
  ms: number;
  /** For `refused`: what the tools in front of the command said. */
  words: string;
}

export type ToRunner = { type: "run"; id: number; job: Job } | { type: "stop"; id: number };

export type FromRunner =
  /** Processes that must not outlive the call: the leader of its group and, once known, the first one inside. */
  | { type: "alive"; id: number; pids: number[] }
  | { type: "chunk"; id: number; data: Uint8Array }
  | { type: "ended"; id: number; ended: Ended };
