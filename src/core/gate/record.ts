import type { Manner } from "./options.ts";

/** Why a command asks; `auto` lines have none of them. The sandbox contains the codes of `CONTAINED` in gate.ts. */
export type Code =
  | "network"
  | "install"
  | "outside"
  | "service"
  | "delete"
  | "history"
  | "process"
  | "perms"
  | "interp"
  | "builtin"
  | "dynamic"
  | "env"
  | "secrets"
  | "unknown";

/**
 * One command of the table: what it reads, writes, deletes, runs and reaches, and an allowlist of its options. An
 * option that is not listed asks, and so does a shortened one. To add a command, add a record to the file of its kind
 * in table/; a record says only what differs from a program that reads the files it is given.
 *
 * - A command that reads: `{ names: "wc", options: "-l -c", operands: "names" }`.
 * - One that writes in the workspace: `operands: "writes"` or `"to"`, or `writes: true`.
 * - One that runs the project's own tests or builds: `runs: true`, with `like` for the words that it may take.
 * - One that always asks: `asks: ["network", "downloads"]`; options are then of no matter.
 */
export interface Listed extends Manner {
  /** Names that share the record, with `, ` between them; `git log` names a subcommand, `npm run` too. */
  names: string;
  /**
   * Options with a blank between them. `-x` takes no value, `-x=` a text, `-x=path` a file that is read, `-x=out` one
   * that is written, `-x=dir` a folder that is written to, `-x[=]` may have a text hanging on it, `-x=?` takes the
   * next word if there is one, `-x==` two texts, `-x==path` a text and a file that is read.
   */
  options?: string;
  /**
   * What the other words are. `paths` are read and shown, `names` only looked at, `writes` created or changed, `to`
   * are read, but the last one is written; `moves` are all changed; `text` is free; `pattern` is one free text and
   * then paths; `edits` is one free text and then files that are changed; `none` takes none.
   */
  operands?: "paths" | "names" | "writes" | "to" | "moves" | "text" | "pattern" | "edits" | "none";
  /** Always asks: why, and the end of a sentence. */
  asks?: [Code, string];
  /** These options ask: code, the options, the end of a sentence. */
  when?: [Code, string, string][];
  /** It changes the workspace in ways that its words do not show. */
  writes?: boolean;
  /** It runs the project's own code. */
  runs?: boolean;
  /** Options whose value must be a plain name: a path in its place would load code. */
  plain?: string;
  /** These options turn the operands into files that are changed, as `sed -i` does. */
  inPlace?: string;
  /** These options bring the pattern themselves: every operand is a path then. */
  brings?: string;
  /** At least so many operands. */
  least?: number;
  /** At most so many operands. */
  most?: number;
  /** One of these options must be there; without it another record, or asking, is meant. */
  must?: string;
  /** Operands only together with one of these options. */
  listing?: string;
  /** `like` is for the first operand alone: what follows is for the script that it names. */
  first?: boolean;
  /** What every operand must look like; others ask with `otherwise`, else as unknown. */
  like?: RegExp;
  otherwise?: [Code, string];
  /** What no argument may contain. */
  never?: RegExp;
  /** The text before the paths is a program in this language. */
  language?: "sed" | "awk";
  /** Takes no options: every word is an operand. */
  free?: boolean;
  /** No option does harm, so that a file named like an option cannot do any through `*`. */
  harmless?: boolean;
}
