import type { Place } from "../ports.ts";
import { visible } from "../visible.ts";

/** One thing that the gate saw in a line. No finding at all means that the line runs by itself. */
export interface Finding {
  verdict: "ask" | "deny";
  code: string;
  text: string;
}

/** Commands and shells inside others that are followed. */
export const MOST_DEPTH = 10;

/** What is known at one point of the walk through a line. */
export interface Walk {
  place: Place;
  add: (finding: Finding) => void;
  /** Folders that commands may run in at this point: more than one when a `cd` may have failed. */
  cwds: string[];
  /** How many commands and shells inside others: `nice bash -c "..."` is two deep. */
  depth: number;
  /** How many parts of the tree may still be looked at: text that is read twice at every level would never end. */
  budget: { left: number };
  /** Literal text that the command before writes into this one's input. */
  piped: string | null;
  /** Judges text that the line hands to a shell, as part of the same line. */
  script: (text: string, walk: Walk) => void;
}

export function ask(walk: Walk, code: string, text: string): void {
  walk.add({ verdict: "ask", code, text });
}

export function deny(walk: Walk, code: string, text: string): void {
  walk.add({ verdict: "deny", code, text });
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
