import { ask, deny, show, type Walk } from "./finding.ts";
import { arithmetic } from "./arith.ts";
import { expanded } from "./expansions.ts";
import { braces } from "./braces.ts";
import { type Arg, type Kind, kindArg, literalArg } from "./args.ts";
import type { Word, WordPart } from "./parse.ts";

/** Only escapes that no shell reads differently; the parser's own reading of the rest is not relied on. */
const PLAIN_ANSI = /^\$'(?:[^\\\n]|\\[nrtabefv\\'"?])*'$/;
const MOST_FIELDS = 256;
/** Words that braces may make of one. */
const MOST_CHOICES = 64;

interface Field {
  value: string;
  kind: Kind;
  glob: number;
  tilde: boolean;
  loose: boolean;
  /** Empty words stay only where something was quoted. */
  quoted: boolean;
  prints?: Arg["prints"] | undefined;
}

/** The arguments that one word becomes: several for `{a,b}` or a split value, else one. Judges what the word runs. */
export function readWord(word: Word, walk: Walk): Arg[] {
  const parts = word.parts;
  if (parts === undefined) {
    if (word.text.includes("$[")) return [oldArithmetic(word, walk)];
    const tilde = tildeIn(word.text, true);
    return [{ ...literalArg(word.value), text: word.text, tilde, kind: "literal" }];
  }
  let choices: Field[][] = [[newField()]];
  for (const [index, part] of parts.entries()) {
    if (part.type === "BraceExpansion") {
      const found = braces(part.text);
      if (choices.length * found.length > MOST_CHOICES) {
        ask(walk, "dynamic", `${show(word.text)} becomes more words than are followed`);
        return choices.flat().map((field) => ({ ...kindArg("free", word.text, field.value), loose: true }));
      }
      choices = choices.flatMap((fields) => found.map((one) => appended(fields, [braceField(one, index === 0)])));
      continue;
    }
    const pieces = readPart(part, index === 0, walk);
    choices = choices.map((fields) => appended(fields, pieces));
  }
  const old = word.text.includes("$[");
  if (old) oldArithmetic(word, walk);
  const fields = choices.flat().filter((field) => field.value !== "" || field.quoted || field.kind !== "literal");
  if (fields.length > MOST_FIELDS) ask(walk, "dynamic", `${show(word.text)} becomes more words than are followed`);
  // Never none at all: an argument that is not there asks nothing.
  const kept = fields.length > 0 ? fields.slice(0, MOST_FIELDS) : [{ ...newField(), kind: "free" as const, loose: true }];
  return kept.map(({ value, kind, glob, tilde, loose, prints }) => {
    const is = old ? "free" : kind;
    const arg = { text: word.text, value, kind: is, literal: is === "literal", glob, tilde, loose };
    return prints === undefined ? arg : { ...arg, prints };
  });
}

function newField(): Field {
  return { value: "", kind: "literal", glob: -1, tilde: false, loose: false, quoted: false };
}

/** `fields` with `pieces` behind them: the first joins the last word, each further one begins a word of its own. */
function appended(fields: Field[], pieces: Field[]): Field[] {
  const [first, ...more] = pieces;
  const last = fields.at(-1);
  if (first === undefined || last === undefined) return fields;
  return [...fields.slice(0, -1), joined(last, first), ...more.map((one) => ({ ...one }))];
}

function joined(one: Field, other: Field): Field {
  const kinds = [one, other].filter((field) => field.value !== "" || field.kind !== "literal").map((field) => field.kind);
  const kind = kinds.includes("free")
    ? "free"
    : kinds.every((is) => is === "literal")
      ? "literal"
      : kinds.length > 1
        ? "name"
        : (kinds[0] ?? "literal");
  return {
    value: one.value + other.value,
    kind,
    glob: one.glob >= 0 ? one.glob : other.glob >= 0 ? one.value.length + other.glob : -1,
    tilde: one.tilde || other.tilde,
    loose: one.loose || other.loose,
    quoted: one.quoted || other.quoted,
    prints: one.prints ?? other.prints,
  };
}

function braceField(choice: { value: string; plain: boolean }, first: boolean): Field {
  return {
    ...newField(),
    value: choice.value,
    kind: choice.plain ? "literal" : "free",
    tilde: tildeIn(choice.value, first),
    glob: /[*?[]/.exec(choice.value)?.index ?? -1,
  };
}

function readPart(part: WordPart, first: boolean, walk: Walk): Field[] {
  walk.seen.left -= 1;
  switch (part.type) {
    case "Literal":
      return [{ ...newField(), value: part.value, tilde: tildeIn(part.text, first) }];
    case "SingleQuoted":
      return [{ ...newField(), value: part.value, quoted: true }];
    case "AnsiCQuoted": {
      const plain = PLAIN_ANSI.test(part.text);
      if (!plain) ask(walk, "dynamic", `what ${show(part.text)} becomes cannot be read from the line`);
      return [{ ...newField(), value: part.value, quoted: true, kind: plain ? "literal" : "free" }];
    }
    case "Glob": {
      const plain = part.parts?.every((inner) => inner.type === "Literal") ?? true;
      for (const inner of part.parts ?? []) if (inner.type !== "Literal") readPart(inner, false, walk);
      return [{ ...newField(), value: part.value, kind: plain ? "literal" : "free", glob: 0 }];
    }
    case "ExtendedGlob":
      for (const inner of part.parts ?? []) readPart(inner, false, walk);
      return [{ ...newField(), value: part.text, kind: "free", glob: 0 }];
    case "DoubleQuoted":
    case "LocaleString":
      return readQuoted(part, walk);
    default:
      return unquoted(readExpansion(part, walk), walk);
  }
}

function readQuoted(part: Extract<WordPart, { type: "DoubleQuoted" | "LocaleString" }>, walk: Walk): Field[] {
  let fields: Field[] = [{ ...newField(), quoted: true }];
  for (const inner of part.parts) {
    if (inner.type === "Literal") fields = appended(fields, [{ ...newField(), value: inner.value, quoted: true }]);
    else
      fields = appended(
        fields,
        readExpansion(inner, walk).map((arg) => ({ ...arg, glob: -1, quoted: true, tilde: arg.tilde })),
      );
  }
  return part.type === "LocaleString" ? fields.map((field) => ({ ...field, kind: "free" as const })) : fields;
}

/** What an expansion becomes: one value, or several for `"$@"` and `"${a[@]}"`. */
function readExpansion(part: WordPart, walk: Walk): Arg[] {
  switch (part.type) {
    case "SimpleExpansion":
    case "ParameterExpansion":
      return expanded(part, walk);
    case "CommandExpansion": {
      const printed = walk.substitute(part, walk);
      if (printed === null) return [kindArg("free", part.text)];
      if (!printed.sure) return [kindArg(printed.kind, part.text, printed.kind === "free" ? part.text : printed.text || undefined)];
      return [{ ...literalArg(printed.text.replace(/\n+$/, "")), text: part.text }];
    }
    case "ArithmeticExpansion":
      arithmetic(part.expression, part.text, walk);
      return [kindArg("number", part.text)];
    case "ProcessSubstitution": {
      if (part.script === undefined) return [kindArg("free", part.text)];
      const prints = walk.substitute(part.script, walk);
      const file = kindArg("name", part.text, "/dev/stdin");
      return [prints === null ? file : { ...file, prints }];
    }
    default:
      ask(walk, "dynamic", `what ${show(part.text)} becomes cannot be read from the line`);
      return [kindArg("free", part.text)];
  }
}

/** Without quotes bash splits a value into words and takes the wildcards in it for patterns. */
function unquoted(args: Arg[], walk: Walk): Field[] {
  const ifs = walk.scope.vars.get("IFS");
  return args.flatMap((arg): Field[] => {
    if (arg.kind === "free") return [{ ...arg, loose: true, quoted: false }];
    if (arg.kind !== "literal") return [{ ...arg, loose: arg.loose, quoted: false }];
    if (ifs === null || (ifs !== undefined && ifs.length !== 1)) return [{ ...arg, kind: "free", loose: true, quoted: false }];
    const signs = ifs?.[0]?.value ?? " \t\n";
    const fields = splitBy(arg.value, signs).map((value) => ({
      ...newField(),
      value,
      glob: arg.glob >= 0 && arg.value === value ? arg.glob : (/[*?[]/.exec(value)?.index ?? -1),
      tilde: arg.tilde,
    }));
    return fields.length > 0 ? fields : [newField()];
  });
}

/** A value that begins or ends with a separator ends the word before it or begins one behind it. */
function splitBy(value: string, signs: string): string[] {
  if (signs === "") return [value];
  const escaped = signs.replace(/[\\\]^-]/g, "\\$&");
  return value.split(new RegExp(`[${escaped}]+`));
}

function oldArithmetic(word: Word, walk: Walk): Arg {
  ask(walk, "arith", `${show(word.text)} calculates in the old way, which is not read here`);
  if (/SLACK_|DISCORD_|OPENAI_|TOKEN|SECRET|KEY/.test(word.text)) deny(walk, "secrets", `${show(word.text)} shows a secret`);
  return kindArg("free", word.text);
}

/** Bash also expands `~` after `=` and `:` in arguments that look like assignments. */
function tildeIn(text: string, first: boolean): boolean {
  return (first && text.startsWith("~")) || /[=:]~/.test(text);
}
