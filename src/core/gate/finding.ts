import type { Place } from "../ports.ts";
import { visible } from "../visible.ts";
import type { CommandExpansionPart, Script, SyntaxNode, Word } from "./parse.ts";
import type { Scope } from "./scope.ts";
import type { Arg } from "./args.ts";

/** One thing that the gate saw in a line. No finding at all means that the line runs by itself. */
export interface Finding {
  verdict: "ask" | "deny";
  code: string;
  text: string;
  /** What the sandbox has to open for this part alone; see core/grants.ts. */
  grants?: string[];
  /** The name of the rule that says so, for the code `rule`. */
  rule?: string;
  /** Which of the lowered commands caused it; -1 for what belongs to the line itself. */
  command: number;
}

/** A command of the line as it was lowered: what rules are matched against. */
export interface Lowered {
  argv: Arg[];
  /** Started by a launcher, a shell or a substitution in the line rather than by the line itself. */
  inner: boolean;
}

/** Text that a command writes to the next one, as far as the line tells. */
export interface Printed {
  text: string;
  /** Whether `text` is exactly what comes out. */
  sure: boolean;
  /** What is known of it where the text itself is not. */
  kind: "free" | "name" | "number";
}

/** Who runs a command: the line's shell, with its functions; only its builtins and programs; or another program. */
export type Own = "line" | "builtin" | "process";

/** Commands and shells inside others that are followed. */
export const MOST_DEPTH = 10;

/** What is gathered on the walk through a line. */
export interface Gathered {
  findings: Finding[];
  lowered: Lowered[];
  /** Whether anything but reading happens. */
  changes: boolean;
  /** Files that the line writes and that a build, a test run or an interpreter reads as its instructions. */
  recipes: Set<string>;
  /** Every file that the line writes, absolute. */
  written: Set<string>;
  /** What it writes into them, as far as that stands in the line. */
  texts: Map<string, string>;
  /** Whether the line runs the project's own code, and what that is called. */
  runs: Set<string>;
  /** Parts of the tree that may still be looked at: text that is read twice at every level would never end. */
  left: number;
  /** Looks into the file system that are still allowed. */
  looks: number;
  /** What these looks found. */
  real: Map<string, string | null>;
  /** Whether the line makes links. */
  linked: boolean;
}

/** What is known at one point of the walk. */
export interface Walk {
  place: Place;
  seen: Gathered;
  scope: Scope;
  /** How many commands and shells inside others: `nice bash -c "..."` is two deep. */
  depth: number;
  /** The functions of the line that are being called. */
  calls: string[];
  /** What the command before writes into this one's input. */
  piped: Printed | null;
  /** The command that findings belong to; -1 outside of any. */
  command: number;
  /** Only refusals are noted: the text may never run. */
  refusalsOnly: boolean;
  /** Judges text that the line hands to a shell, as part of the same line. */
  script: (text: string, walk: Walk) => Printed | null;
  /** Judges `$( )`; what it prints. */
  substitute: (part: CommandExpansionPart | Script, walk: Walk) => Printed | null;
  visit: (node: SyntaxNode, walk: Walk) => Printed | null;
  /** The arguments that a word becomes; see words.ts. */
  word: (word: Word, walk: Walk) => Arg[];
  /** Judges a command in the place of another: what a launcher or a function's name starts. */
  run: (argv: Arg[], input: Printed | null, walk: Walk, own: Own) => Printed | null;
}

export function ask(walk: Walk, code: string, text: string, grants?: string[]): void {
  if (walk.refusalsOnly) return;
  walk.seen.changes = true;
  askRead(walk, code, text, grants);
}

/** The same about something that is only read. */
export function askRead(walk: Walk, code: string, text: string, grants?: string[]): void {
  if (walk.refusalsOnly) return;
  walk.seen.findings.push({ verdict: "ask", code, text, command: walk.command, ...(grants === undefined ? {} : { grants }) });
}

export function deny(walk: Walk, code: string, text: string): void {
  walk.seen.findings.push({ verdict: "deny", code, text, command: walk.command });
}

/** Whatever cannot be seen or turns the direction of text; newline and tab are seen. */
export const HIDDEN = /[^\P{C}\n\t]|[\u2028\u2029\u115f\u1160\u3164\uffa0]/u;

/** They look like a blank, but bash does not end a word at them: what follows such a one and `#` still runs. */
export const ODD_BLANK = /[^\S \t\n]|\u2800/;

/** A piece of the line for a reason: in backticks, short, on one line, nothing invisible. */
export function show(text: string): string {
  const seen = visible(text.slice(0, 200).replace(/\s+/g, " ")).replaceAll("`", "'");
  return `\`${seen.length > 60 ? `${seen.slice(0, 57)}...` : seen}\``;
}
