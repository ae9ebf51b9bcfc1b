import { type Arg, literalArg } from "./args.ts";
import { ask, show, type Walk } from "./finding.ts";
import { judgePath } from "./judge-path.ts";

const LONGEST = 8_000;

/** Judges a sed script: `e` runs commands, `w` writes files, `r` reads them. Whatever is not understood asks. */
export function judgeSed(script: Arg, walk: Walk): void {
  if (script.kind === "free") return ask(walk, "interp", `could not read the sed script ${show(script.text)}`);
  const text = script.value;
  const seen: Seen = { reads: [], writes: [] };
  const problem = text.length > LONGEST ? "is too long to be judged" : readSed(text, seen);
  if (problem !== null) {
    ask(walk, "interp", `the sed script ${show(script.text)} ${problem}`);
    const run = /(?:^|[\n;{\d$/]) *e +([^\n]+)/.exec(text)?.[1];
    if (run !== undefined) walk.script(run, { ...walk, refusalsOnly: true });
  }
  for (const path of seen.reads) judgePath({ ...literalArg(path), text: path }, "paths", walk);
  for (const path of seen.writes) ask(walk, "interp", `the sed script ${show(script.text)} writes to ${show(path)}`);
  for (const path of seen.writes) judgePath({ ...literalArg(path), text: path }, "writes", walk);
}

interface Seen {
  reads: string[];
  writes: string[];
}

/** Null when the script was understood and runs nothing; else what it does. */
function readSed(text: string, seen: Seen): string | null {
  let at = 0;
  let depth = 0;
  while (at < text.length) {
    const skipped = /^[\s;]*/.exec(text.slice(at))?.[0].length ?? 0;
    at += skipped;
    if (at >= text.length) break;
    const address = addresses(text, at);
    if (address < 0) return "has an address that is not read here";
    at = address;
    const command = text[at] ?? "";
    at += 1;
    if (command === "{") depth += 1;
    else if (command === "}") depth -= 1;
    else if (command === "#") at = lineEnd(text, at);
    else if ("=dDgGhHnNpPxlzqQLF".includes(command)) at += /^[ \t]*\d*/.exec(text.slice(at))?.[0].length ?? 0;
    else if (":btT".includes(command)) at += /^[^;}\n]*/.exec(text.slice(at))?.[0].length ?? 0;
    else if ("aic".includes(command)) at = textEnd(text, at);
    else if ("rRwW".includes(command)) {
      const end = lineEnd(text, at);
      (/[rR]/.test(command) ? seen.reads : seen.writes).push(text.slice(at, end).trim());
      at = end;
    } else if (command === "s" || command === "y") {
      const end = substitution(text, at, command, seen);
      if (typeof end === "string") return end;
      at = end;
    } else if (command === "e") return "runs a command (`e`)";
    else return `has a command ${show(command)} that is not read here`;
    if (!/^[ \t]*(?:[;}\n#]|$)/.test(text.slice(at)) && !"{}".includes(command)) return "is not read to its end";
  }
  return depth === 0 ? null : "has braces that do not match";
}

/** Where the addresses before a command end; -1 when they are not read here. */
function addresses(text: string, from: number): number {
  let at = from;
  for (let count = 0; count < 2; count += 1) {
    const plain = /^(?:\d+(?:~\d+)?|\$|\+\d+|~\d+)/.exec(text.slice(at))?.[0];
    if (plain !== undefined) at += plain.length;
    else if (text[at] === "/" || text[at] === "\\") {
      const sign = text[at] === "/" ? "/" : text[at + 1];
      const end = regexEnd(text, at + (text[at] === "/" ? 1 : 2), sign ?? "");
      if (end < 0) return -1;
      at = end + (/^[IM]*/.exec(text.slice(end))?.[0].length ?? 0);
    }
    const comma = /^[ \t]*,[ \t]*/.exec(text.slice(at))?.[0];
    if (count === 1 || comma === undefined) break;
    at += comma.length;
  }
  return at + (/^[ \t]*!?[ \t!]*/.exec(text.slice(at))?.[0].length ?? 0);
}

/** Behind the closing `sign` of a pattern that begins at `from`; -1 when there is none. */
function regexEnd(text: string, from: number, sign: string): number {
  let inBrackets = false;
  for (let at = from; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === "\\") at += 1;
    else if (letter === "\n") return -1;
    else if (letter === sign && !inBrackets) return at + 1;
    else if (letter === "[" && !inBrackets && sign !== "[") {
      inBrackets = true;
      if (text[at + 1] === "^") at += 1;
      if (text[at + 1] === "]") at += 1;
    } else if (letter === "]") inBrackets = false;
    // What sed takes for the end within brackets differs between versions.
    else if (letter === sign) return -1;
  }
  return -1;
}

function substitution(text: string, from: number, command: string, seen: Seen): number | string {
  const sign = text[from] ?? "";
  if (sign === "" || sign === "\n" || sign === "\\") return "has a substitution that is not read here";
  const middle = regexEnd(text, from + 1, sign);
  const end = middle < 0 ? -1 : replacementEnd(text, middle, sign);
  if (end < 0) return "has a substitution that is not read here";
  if (command === "y") return end;
  const flags = /^[gpiImM0-9]*/.exec(text.slice(end))?.[0] ?? "";
  const at = end + flags.length;
  if (text[at] === "e") return "runs what it makes of the text (`s///e`)";
  if (text[at] !== "w") return at;
  const stop = lineEnd(text, at + 1);
  seen.writes.push(text.slice(at + 1, stop).trim());
  return stop;
}

function replacementEnd(text: string, from: number, sign: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === sign) return at + 1;
  }
  return -1;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** The text of `a`, `i` and `c` goes on over lines that end with a backslash. */
function textEnd(text: string, from: number): number {
  let at = from;
  if (/^[ \t]*\\[ \t]*\n/.test(text.slice(at))) at = lineEnd(text, at) + 1;
  let end = lineEnd(text, at);
  while (end < text.length && text[end - 1] === "\\") end = lineEnd(text, end + 1);
  return end;
}
