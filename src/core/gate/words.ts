import type { Assignment, Word, WordPart } from "./parse.ts";

/** One argument as bash will pass it, as far as the text of the line tells. */
export interface Arg {
  /** As it stands in the line. */
  text: string;
  /** Without its quotes. What is not literal stands as in the line, but `$HOME` stands as `~`. */
  value: string;
  /** Whether bash passes exactly `value`, or for a glob the names that match it. */
  literal: boolean;
  /** Where in `value` the first wildcard is; -1 when there is none. */
  glob: number;
  /** A `~` that bash replaces by a home folder. */
  tilde: boolean;
}

/** Only escapes that no shell reads differently; the parser's own reading of the rest is not relied on. */
const PLAIN_ANSI = /^\$'(?:[^\\\n]|\\[nrtabefv\\'"?])*'$/;
const MOST_BRACES = 64;

/** An argument that is plain text, for words that come out of other text. */
export function literalArg(value: string): Arg {
  return { text: value, value, literal: true, glob: -1, tilde: false };
}

/** The arguments that one word becomes: several for `{a,b}`, else one. */
export function readWord(word: Word): Arg[] {
  const parts = word.parts;
  const literal = !word.text.includes("$[");
  if (parts === undefined) return [{ ...literalArg(word.value), literal, text: word.text, tilde: tildeIn(word.text, true) }];
  const draft = { values: [""], literal: true, glob: -1, tilde: false };
  for (const [index, part] of parts.entries()) {
    if (part.type === "Literal" && tildeIn(part.text, index === 0)) draft.tilde = true;
    if (part.type === "BraceExpansion") {
      const choices = braces(part.text);
      draft.literal = false;
      draft.values = draft.values.flatMap((head) => choices.map((choice) => head + choice)).slice(0, MOST_BRACES);
      continue;
    }
    const read = readPart(part);
    if (read.glob && draft.glob < 0) draft.glob = (draft.values[0] ?? "").length;
    draft.literal &&= read.literal;
    draft.values = draft.values.map((head) => head + read.value);
  }
  const { values, ...rest } = draft;
  const kept = values.filter((value) => value !== "");
  // Never none at all: an argument that is not there asks nothing.
  return (kept.length > 0 ? kept : [""]).map((value) => ({ text: word.text, value, ...rest }));
}

/** `NAME=value` as an argument of `export`, `declare` and their like. */
export function readAssignment(assignment: Assignment): Arg {
  const value = assignment.value.type === "Word" ? readWord(assignment.value) : [];
  const only = value.length === 1 ? value[0] : undefined;
  return { ...literalArg(`${assignment.name}=${only?.value ?? ""}`), text: assignment.text, literal: only?.literal ?? false };
}

/** `arg` without its first `count` characters, such as the option name that a value hangs on. */
export function tail(arg: Arg, count: number): Arg {
  return { ...arg, value: arg.value.slice(count), glob: arg.glob < 0 ? -1 : Math.max(0, arg.glob - count) };
}

function readPart(part: WordPart): { value: string; literal: boolean; glob: boolean } {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return { value: part.value, literal: true, glob: false };
    case "AnsiCQuoted":
      return { value: part.value, literal: PLAIN_ANSI.test(part.text), glob: false };
    case "Glob":
      return { value: part.value, literal: part.parts?.every((inner) => inner.type === "Literal") ?? true, glob: true };
    case "DoubleQuoted":
    case "LocaleString": {
      const inner = part.parts.map(readPart);
      const literal = part.type === "DoubleQuoted" && inner.every((one) => one.literal);
      return { value: inner.map((one) => one.value).join(""), literal, glob: false };
    }
    case "SimpleExpansion":
      return { value: part.text === "$HOME" ? "~" : part.text, literal: false, glob: false };
    case "ParameterExpansion":
      return { value: part.parameter === "HOME" && part.prefix === undefined ? "~" : part.text, literal: false, glob: false };
    default:
      return { value: part.text, literal: false, glob: false };
  }
}

/** Bash also expands `~` after `=` and `:` in arguments that look like assignments. */
function tildeIn(text: string, first: boolean): boolean {
  return (first && text.startsWith("~")) || /[=:]~/.test(text);
}

/** The choices of `{a,b}`; quotes inside are dropped, a sequence such as `{1..5}` stays as it is. */
function braces(text: string): string[] {
  const inner = text.slice(1, -1);
  const choices: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < inner.length; at += 1) {
    if (inner[at] === "{") depth += 1;
    else if (inner[at] === "}") depth -= 1;
    else if (inner[at] === "," && depth === 0) {
      choices.push(inner.slice(from, at));
      from = at + 1;
    }
  }
  if (choices.length === 0) return [text];
  choices.push(inner.slice(from));
  return choices.flatMap((choice) => (/^\{.*,.*\}$/.test(choice) ? braces(choice) : [choice.replace(/['"\\]/g, "")])).slice(0, MOST_BRACES);
}
