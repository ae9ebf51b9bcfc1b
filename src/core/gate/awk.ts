import { type Arg, literalArg } from "./args.ts";
import { ask, show, type Walk } from "./finding.ts";
import { judgePath } from "./judge-path.ts";

const LONGEST = 8_000;

/** Judges an awk program: it may run commands, write files and read the environment. Whatever is not understood asks. */
export function judgeAwk(program: Arg, walk: Walk): void {
  if (program.kind === "free") return ask(walk, "interp", `could not read the awk program ${show(program.text)}`);
  if (program.value.length > LONGEST) return ask(walk, "interp", "the awk program is too long to be judged");
  const code = withoutTexts(program.value);
  const named = show(program.text);
  if (code === null) return ask(walk, "interp", `could not read the awk program ${named}`);
  if (/\bsystem\b/.test(code.text)) ask(walk, "interp", `the awk program ${named} runs a command`);
  if (/(?<!\|)\|(?!\|)/.test(code.text)) ask(walk, "interp", `the awk program ${named} runs a command through a pipe`);
  if (/@/.test(code.text)) ask(walk, "interp", `the awk program ${named} loads or calls something by name`);
  if (/\bgetline\b[^;}\n]*</.test(code.text)) ask(walk, "interp", `the awk program ${named} reads a file of its own`);
  if (/\b(?:ENVIRON|PROCINFO|ARGV|SYMTAB|FUNCTAB)\b/.test(code.text)) ask(walk, "env", `the awk program ${named} reads the environment`);
  for (const target of targetsOf(code)) {
    if (target === null) ask(walk, "interp", `the awk program ${named} writes to a file that cannot be read from the line`);
    else {
      ask(walk, "interp", `the awk program ${named} writes to ${show(target)}`);
      judgePath({ ...literalArg(target), text: target }, "writes", walk);
    }
  }
}

interface Code {
  /** The program with a number in the place of each text: `"0"` is the first. */
  text: string;
  texts: string[];
}

/** Takes texts, patterns and comments out; null when it is not clear where they end. */
function withoutTexts(program: string): Code | null {
  const texts: string[] = [];
  let text = "";
  let at = 0;
  while (at < program.length) {
    const sign = program[at] ?? "";
    if (sign === '"') {
      const end = closing(program, at + 1, '"');
      if (end < 0) return null;
      text += `"${texts.length}"`;
      texts.push(program.slice(at + 1, end));
      at = end + 1;
    } else if (sign === "#") {
      at = program.indexOf("\n", at) < 0 ? program.length : program.indexOf("\n", at);
    } else if (sign === "/" && /(?:\+\+|--)\s*$/.test(text)) {
      return null;
    } else if (sign === "/" && beginsPattern(text)) {
      const end = closing(program, at + 1, "/");
      if (end < 0) return null;
      // Where a slash may also divide, neither reading may hide anything.
      text += " 0 ";
      at = end + 1;
    } else {
      text += sign;
      at += 1;
    }
  }
  return { text, texts };
}

/** A slash begins a pattern where no value stands before it. */
function beginsPattern(before: string): boolean {
  const last = before.trimEnd();
  return (
    last === "" || /[({,;!~&|?:=+\-*%<>\n]$/.test(last) || /(?:^|[^\w$])(?:return|in|print|printf|case)$/.test(last) || /[}]$/.test(last)
  );
}

function closing(text: string, from: number, sign: string): number {
  let inBrackets = false;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "\n") return -1;
    else if (sign === "/" && text[at] === "[" && !inBrackets) {
      inBrackets = true;
      if (text[at + 1] === "^") at += 1;
      if (text[at + 1] === "]") at += 1;
    } else if (text[at] === "]") inBrackets = false;
    else if (text[at] === sign && !inBrackets) return at;
    // Versions of awk differ in what ends a pattern within brackets.
    else if (text[at] === sign) return -1;
  }
  return -1;
}

/** Files that `print` and `printf` write to; null for one that is not a plain text. */
function targetsOf({ text, texts }: Code): (string | null)[] {
  const targets: (string | null)[] = [];
  for (const match of text.matchAll(/\bprintf?\b/g)) {
    const from = (match.index ?? 0) + match[0].length;
    let depth = 0;
    for (let at = from; at < text.length; at += 1) {
      const sign = text[at] ?? "";
      if ("([".includes(sign)) depth += 1;
      else if (")]".includes(sign)) depth -= 1;
      if (depth < 0 || (depth === 0 && /[;}\n]/.test(sign))) break;
      if (sign !== ">" || depth > 0) continue;
      const [, index, rest] = /^>>?\s*"(\d+)"\s*([;}\n]|$)/.exec(text.slice(at)) ?? [];
      const target = index === undefined || rest === undefined ? undefined : texts[Number(index)];
      targets.push(target === undefined || target.includes("\\") ? null : target);
      break;
    }
  }
  return targets;
}
