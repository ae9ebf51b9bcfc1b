import type { Attempt, Output, RunEnd } from "./entry.ts";

/** The file in which a repository tells agents how work is done there. */
export const AGENTS = "AGENTS.md";

/**
 * What a command may reach. `read`: the workspace is mounted read-only, and such commands overlap. `contained`: nobody
 * approved it; what later runs by itself is read-only. `approved`: a person did; a fresh home, and what its grants say.
 * `ruled`: a person's rule lets it through with grants; as `approved`, with what later runs by itself read-only.
 * `probe`: as `approved`, without waiting for the workspace.
 */
export type Reach = "read" | "contained" | "approved" | "ruled" | "probe";

export interface RunSpec {
  conversation: string;
  /** Absolute path of the workspace, as in the configuration. */
  workspace: string;
  /** Absolute, inside the workspace. */
  cwd: string;
  command: string;
  timeoutMs: number;
  reach: Reach;
  /** Variables beside the sandbox's own; see `Carried`. */
  env?: Record<string, string>;
  /** What an approval adds for this run alone; see core/grants.ts. */
  grants?: string[];
  /** Names the output on disk, so that it can be found when this worker dies; see `Sandbox.left`. */
  call?: string;
}

export interface RunOptions {
  signal: AbortSignal;
  onChunk?: (text: string) => void;
  /** Asked when the workspace is ours and the command is about to start; it starts only when this resolves to true. */
  ready?: () => Promise<boolean>;
}

export interface RunResult {
  how: RunEnd;
  exit: number | null;
  output: Output;
  /** The whole output, capped, when `output.text` leaves something out. */
  whole?: Uint8Array;
  ms: number;
  /** For `refused`: what kept the sandbox from starting it. */
  why?: string;
  /** What it left in the workspace that will run by itself later, one short sentence each. */
  noticed?: string[];
  /** Where it tried to connect, with a network grant. */
  network?: Attempt[];
}

/** What a conversation's next command starts with. */
export interface Carried {
  /** Absolute, inside the workspace. */
  cwd: string;
  /** Exported variables that are safe to hand on. `PATH` only when it was changed. */
  env: Record<string, string>;
  /** What the model should know: the folder was reset, a variable was dropped. */
  notes: string[];
}

export interface SandboxReport {
  ok: boolean;
  /** Short and measured, never read from configuration: `sandboxed: no network, workspace only`. */
  badge: string;
  /** A DeckhandError line for each thing that is wrong. */
  problems: string[];
}

export interface Sandbox {
  readonly name: "bwrap" | "none";
  /** Runs the real argument list with probes; `waiting` is called when there is nothing to do but to wait for them. Never throws. */
  selfTest(workspace: string, waiting?: () => void): Promise<SandboxReport>;
  /** Never rejects: what went wrong is in the result. Nothing of the command is left when it resolves. */
  run(spec: RunSpec, options: RunOptions): Promise<RunResult>;
  /** What the conversation's commands left for the next one. Never throws; starts at the workspace when unsure. */
  carried(conversation: string, workspace: string): Carried;
  /** Why these grants cannot be given in this workspace, whoever approves; null when they can. Never throws. */
  lacks(workspace: string, grants: readonly string[]): string | null;
  /** What these files hold, as text to compare: read inside the sandbox, as the run user. Never rejects. */
  fingerprint(workspace: string, files: readonly string[]): Promise<string>;
  /**
   * Puts files that people attached into the workspace's folder `inbox`, as the run user, without waiting for commands. No file
   * is overwritten: its name gets a number then; the same file twice is one. Gives their paths in the workspace, in order, or
   * why that could not be done. Never rejects.
   */
  put(workspace: string, files: readonly { name: string; data: Uint8Array }[]): Promise<{ paths: string[] } | { problem: string }>;
  /**
   * What a text file at the top of the workspace says, cleaned and redacted, at most LIMITS.notesRead bytes of it; null when there is
   * none, or when it leads out of the workspace. Read inside the sandbox, as the run user, and again only when it was changed.
   * Never rejects.
   */
  notes(workspace: string, file: string): Promise<string | null>;
  /**
   * Keeps a text, of at most LIMITS.outputFile bytes, where the conversation's commands can read it. Gives its path as they see
   * it; null when that was not possible. Never rejects.
   */
  keep(spec: { conversation: string; workspace: string; name: string }, text: string): Promise<string | null>;
  /** What a command had printed when its worker died; null when nothing is kept. Given once. */
  left(conversation: string, call: string): Output | null;
  /** Removes what the conversation keeps on this machine. Never rejects. */
  dispose(conversation: string): Promise<void>;
  /** Removes what no command has used for so long, and what no worker works on any more. Never rejects. */
  tidy(olderThanMs: number): Promise<void>;
  close(): Promise<void>;
}
