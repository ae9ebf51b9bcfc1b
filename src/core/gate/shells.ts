import { type Arg, literalArg } from "./args.ts";
import { ask, type Printed, show, type Walk } from "./finding.ts";
import { inSubshell } from "./flow.ts";
import { judgePath } from "./judge-path.ts";
import { normalise } from "./paths.ts";

const SHELL = /^(?:ba|da|z|k|mk|a|fi|r?ba|ya|tc|c)?sh$/;
/** Options that change nothing but strictness and talkativeness. */
const PLAIN = /^(?:-[euxvfnC]+|--norc|--noprofile|--posix|-[eux]*o)$/;
const PLAIN_NAMES = /^(?:errexit|nounset|pipefail|xtrace|posix)$/;

export function isShell(name: string): boolean {
  return SHELL.test(name);
}

/** Judges a shell: a line in its arguments or its input is judged like the rest, a file of commands asks. */
export function judgeShell(name: string, args: Arg[], input: Printed | null, walk: Walk): Printed | null {
  const at = args.findIndex((arg) => /^-[A-Za-z]*c[A-Za-z]*$/.test(arg.value));
  walk.seen.changes ||= at < 0;
  if (/^(?:--version|--help)$/.test(args[0]?.value ?? "") && args.length === 1) return null;
  if (at >= 0) return judgeLine(name, args, at, walk);
  const words = plainWords(name, args, walk);
  const [file, ...rest] = words;
  if (file === undefined || file.value === "-") return judgeInput(name, input, rest, walk);
  if (file.prints !== undefined || /^\/dev\/(?:stdin|fd\/0)$|^\/proc\/self\/fd\/0$/.test(file.value)) {
    const text = file.prints ?? (input === null ? undefined : input);
    return judgeInput(name, text === undefined ? null : { ...text, kind: "free" }, rest, walk);
  }
  if (
    /^(?:ba|da)?sh$/.test(name) &&
    args.some((arg) => /^-[A-Za-z]*n/.test(arg.value)) &&
    args.every((arg) => arg === file || /^-[nvx]+$/.test(arg.value) || words.includes(arg))
  ) {
    for (const arg of words) judgePath(arg, "paths", walk);
    walk.seen.changes = walk.seen.changes && walk.seen.runs.size > 0;
    return null;
  }
  const known = file.kind === "free" ? "could not read which file of commands" : "runs a file of commands:";
  ask(walk, file.kind === "free" ? "dynamic" : "interp", `${show(name)} ${known} ${show(file.text)}`);
  judgePath(file, "names", walk);
  runsWritten(file, walk);
  return null;
}

/** A file of commands that the line itself has written: what is always refused stays refused. */
export function runsWritten(file: Arg, walk: Walk): void {
  const text = walk.seen.texts.get(normalise(walk.scope.cwds[0] ?? "/", file.value));
  if (text !== undefined) walk.script(text, { ...walk, refusalsOnly: true });
}

/** `bash -c LINE NAME ARGUMENTS...` */
function judgeLine(name: string, args: Arg[], at: number, walk: Walk): Printed | null {
  const rest = args.slice(at + 1);
  const from = rest.findIndex((arg, index) => !/^[-+]/.test(arg.value) && !/^[-+]o$/.test(rest[index - 1]?.value ?? ""));
  const line = rest[from];
  if (line === undefined) {
    ask(walk, "interp", `${show(name)} is started in a way that is not plain`);
    return null;
  }
  const before = args.slice(0, at + 1).every((arg) => /^-[euxfc]*$/.test(arg.value) || /^--no(?:rc|profile)$/.test(arg.value));
  const option = rest.slice(0, from).every((arg) => arg.value === "--");
  if (!/^(?:ba|da)?sh$/.test(name) || !before || !option) ask(walk, "interp", `${show(name)} is started in a way that is not plain`);
  if (line.kind !== "literal" || line.glob >= 0) ask(walk, "dynamic", `could not read what ${show(`${name} -c ${line.text}`)} runs`);
  return inShell(line.value, rest.slice(from + 2), walk, rest[from + 1]);
}

/** Commands that a shell reads from its input. */
function judgeInput(name: string, input: Printed | null, words: Arg[], walk: Walk): Printed | null {
  if (input === null || !input.sure) ask(walk, "interp", `could not read what ${show(name)} runs from its input`);
  return input === null ? null : inShell(input.text, words, walk);
}

/** Another shell: it has none of the line's functions, and the variables only if they were exported. */
function inShell(text: string, words: Arg[], walk: Walk, own?: Arg): Printed | null {
  return inSubshell(walk, () => {
    if (own !== undefined) walk.scope.vars.set("0", own.kind === "free" ? null : [own]);
    walk.scope.functions = new Map();
    walk.scope.positional = words;
    return walk.script(text, walk);
  });
}

/** What is left after options that change nothing; others ask. */
function plainWords(name: string, args: Arg[], walk: Walk): Arg[] {
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? literalArg("");
    if (!/^[-+]./.test(arg.value)) break;
    if (/^-[eux]*o$/.test(arg.value) && PLAIN_NAMES.test(args[at + 1]?.value ?? "")) at += 1;
    else if (arg.value === "-s") return args.slice(at + 1).length > 0 ? [literalArg("-"), ...args.slice(at + 1)] : [];
    else if (!PLAIN.test(arg.value)) ask(walk, "interp", `${show(`${name} ${arg.text}`)} is started in a way that is not plain`);
  }
  return args.slice(at);
}
