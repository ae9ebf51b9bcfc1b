import { type Arg, literalArg, tail } from "./args.ts";
import { judgeVariable } from "./assign.ts";
import { builtin } from "./builtins.ts";
import { ask, deny, MOST_DEPTH, type Own, type Printed, show, type Walk } from "./finding.ts";
import { dataIsCode, judgeFd, judgeFind, withoutCommand } from "./find.ts";
import { inSubshell } from "./flow.ts";
import { judgeGit } from "./git.ts";
import { judgePath } from "./judge-path.ts";
import { judgeRecords } from "./judge-record.ts";
import { unwrap } from "./launchers.ts";
import { findRecords, foldersOf, isListed } from "./lookup.ts";
import { isInside, normalise, within } from "./paths.ts";
import { printsOf } from "./prints.ts";
import { judgeCode, judgeRefused, REFUSED_NAMES, usually } from "./refused.ts";
import { both } from "./scope.ts";
import { scriptsOf } from "./scripts.ts";
import { isShell, judgeShell, runsWritten } from "./shells.ts";
import { judgeSpecial } from "./special.ts";

/** Folders whose programs are known by their bare name. */
const PROGRAM_FOLDER = /^\/(?:usr\/)?(?:local\/)?s?bin\/([^/]+)$/;
/** Folders of the workspace whose programs are those of the project's own packages. */
const PROJECT_FOLDER = /^(?:\.\/)?(?:[\w-]+\/)*(?:node_modules\/\.bin|\.?venv\/bin|env\/bin|vendor\/bin|\.tox\/[\w.-]+\/bin)\/([\w.-]+)$/;
const WRAPPERS = /^\.\/(gradlew|mvnw)$/;
/** Words of a launcher that are tried as the command that it starts. */
const MOST_GUESSES = 32;
/** More commands than this are not followed; the longest scripts that people write have some hundred. */
const MOST_COMMANDS = 1_500;
/** A function of the line that calls itself is followed so often. */
const MOST_CALLS = 2;

/**
 * Judges one command: what it is, what it starts, what it touches; returns what it prints, as far as is known.
 * `input` is what it reads from the line itself. `own` says who runs it; see `Own`.
 */
export function judgeCommand(argv: Arg[], input: Printed | null, walk: Walk, own: Own): Printed | null {
  const first = argv[0];
  if (first === undefined) return null;
  const args = argv.slice(1);
  const before = walk.command;
  if (walk.seen.lowered.length >= MOST_COMMANDS) throw new Error("too many commands");
  walk.command = walk.seen.lowered.length;
  walk.seen.lowered.push({ argv, inner: before >= 0 || own !== "line" });
  const printed = judgeOne(first, args, input, walk, own);
  walk.command = before;
  return printed;
}

function judgeOne(first: Arg, args: Arg[], input: Printed | null, walk: Walk, own: Own): Printed | null {
  const name = nameOf(first, walk);
  for (const one of refusedNames(first, walk)) judgeRefused(one, args, walk);
  if (input !== null && args.every((arg) => arg.value.startsWith("-"))) judgeCode(name, [literalArg(input.text)], walk);
  if (walk.seen.texts.size > 0) {
    for (const arg of args) judgeCode(name, [literalArg(walk.seen.texts.get(normalise(walk.scope.cwds[0] ?? "/", arg.value)) ?? "")], walk);
  }
  if (!first.literal || first.glob >= 0 || first.tilde) {
    walk.seen.changes = true;
    ask(walk, "dynamic", `could not read what ${show(first.text)} runs`);
    if (first.kind === "free" && /[$`]/.test(first.value)) {
      scanRest(args, walk);
      return null;
    }
  }
  if (own === "line" && walk.scope.functions.has(first.value)) return callFunction(first.value, args, walk);
  const judge = own === "process" ? undefined : builtin(name);
  if (judge !== undefined && judge(name, args, input, walk)) return null;
  if (name === "test" || name === "[") {
    if (builtin(name)?.(name, args, input, walk) === true) return null;
  }
  if (isShell(name)) return judgeShell(name, args, input, walk);
  if (name === "git") judgeGit(args, walk, judgeListed, judgeOther);
  else if (name === "find") judgeFind(args, walk, judgeListed, runInner);
  else if (!judgeSpecial(name, args, walk, judgeListed) && !judgeListed(name, args, walk)) {
    const launched = judgeLauncher(name, args, input, walk, own);
    if (launched !== undefined) return launched;
    judgeOther(name, args, walk);
  }
  if (input !== null && /^(?:at|batch|crontab)$/.test(name))
    walk.script(input.text.replace(/^(?:@\w+|(?:[\d*,/-]+[ \t]+){5})/gm, ""), { ...walk, refusalsOnly: true });
  return printsOf(name, args, input, walk);
}

/** A name that is not known may be anything: what stands behind it may be the command itself. */
function scanRest(args: Arg[], walk: Walk): void {
  const [next, ...rest] = args;
  if (next !== undefined) judgeRefused(refusedName(next, walk), rest, walk);
}

/** `ls` for `ls` and for `/usr/bin/ls`; a program of the workspace keeps its path. */
function nameOf(first: Arg, walk: Walk): string {
  const path = first.value;
  if (!path.includes("/")) return path;
  const name = PROGRAM_FOLDER.exec(path)?.[1];
  if (name !== undefined) return name === "cd" ? path : name;
  const own = PROJECT_FOLDER.exec(path)?.[1] ?? WRAPPERS.exec(path)?.[1];
  if (own !== undefined) walk.seen.changes = true;
  const here = walk.scope.cwds.every((cwd) => within(cwd, normalise("/", walk.place.workspace)));
  return own !== undefined && here && first.literal && !walk.seen.written.has(normalise(walk.scope.cwds[0] ?? "/", path)) ? own : path;
}

/** A pattern in the place of a program, and `${x:-rm}`, are tried on what is never run. */
function refusedNames(first: Arg, walk: Walk): string[] {
  const usual = first.kind === "free" ? usually(first.text) : undefined;
  if (usual !== undefined) return [usual];
  const [, wild] = first.glob >= 0 ? (/^(?:\/usr)?(?:\/local)?\/s?bin\/([\w?*-]*)$/.exec(first.value) ?? []) : [];
  if (wild === undefined || !/\w/.test(wild) || /\*.*\*/.test(wild)) return [refusedName(first, walk)];
  const pattern = new RegExp(`^${wild.replaceAll("*", ".*").replaceAll("?", ".")}$`);
  return [...REFUSED_NAMES].filter((name) => pattern.test(name));
}

/** The same for what is never run: whatever way its path takes, unless it is a program of the workspace. */
function refusedName(first: Arg, walk: Walk): string {
  const path = first.value;
  if (!path.includes("/")) return path;
  const own = !first.tilde && walk.scope.cwds.every((cwd) => within(normalise(cwd, path), normalise("/", walk.place.workspace)));
  return own ? nameOf(first, walk) : path.slice(path.lastIndexOf("/") + 1);
}

function callFunction(name: string, args: Arg[], walk: Walk): Printed | null {
  const node = walk.scope.functions.get(name);
  if (node === undefined) return null;
  if (walk.calls.filter((one) => one === name).length >= MOST_CALLS || walk.calls.length >= MOST_DEPTH) {
    ask(walk, "dynamic", `${show(name)} calls itself, or calls go deeper than is followed`);
    return null;
  }
  const { positional, maps } = walk.scope;
  walk.calls.push(name);
  walk.scope.positional = args.some((arg) => arg.loose) ? null : args;
  const printed = walk.visit(node.body, walk);
  walk.scope.positional = positional;
  walk.scope.maps = both(maps, walk.scope.maps);
  walk.calls.pop();
  return printed;
}

/** Whether the table knows the command; notes what speaks against it. */
function judgeListed(name: string, args: Arg[], walk: Walk): boolean {
  if (name === "command" && !/^-[vV]/.test(args[0]?.value ?? "")) return false;
  if (isAboutItself(name, args)) return true;
  for (const folder of foldersOf(name, args)) judgePath(folder, "names", walk);
  const isFd = name === "fd" || name === "fdfind";
  if (!judgeRecords(findRecords(name, isFd ? withoutCommand(args) : args), walk)) return false;
  if (isFd) judgeFd(args, walk, runInner);
  scanScripts(name, args, walk);
  return true;
}

/** `NAME --version` and `NAME --help` of a program that the table knows only print. */
function isAboutItself(name: string, args: Arg[]): boolean {
  const [only] = args;
  return args.length === 1 && only?.literal === true && /^--(?:version|help)$/.test(only.value) && name !== "git" && isListed(name);
}

function judgeLauncher(name: string, args: Arg[], input: Printed | null, walk: Walk, own: Own): Printed | null | undefined {
  const inner = unwrap(name, args, input);
  if (inner === null) return undefined;
  const nothing = inner.command === null && inner.scripts.length === 0;
  if (name === "env" && nothing && inner.clear) deny(walk, "secrets", "`env` shows the environment");
  for (const assign of inner.assigns) {
    const equals = assign.value.indexOf("=");
    judgeVariable(assign.value.slice(0, equals), tail(assign, equals + 1), true, assign.text, walk);
  }
  for (const file of inner.reads) judgePath(file, "paths", walk);
  for (const file of inner.writes) judgePath(file, "writes", walk);
  for (const option of inner.emptied)
    ask(walk, "env", `${show(`${name} ${option}`)} takes something out of the environment of what it runs`);
  if (inner.code !== null) {
    walk.seen.changes = true;
    ask(walk, inner.code, `${show(name)} runs another command in its own way`);
  } else if (!inner.clear && inner.scripts.length === 0) ask(walk, "unknown", `how ${show(name)} runs the rest is not clear`);
  for (const script of inner.scripts) judgeText(script, walk);
  const inside = own !== "process" && (name === "builtin" || name === "command") ? "builtin" : "process";
  if (name === "nohup") walk.seen.changes = true;
  if (name === "xargs" && inner.command !== null) dataIsCode(name, inner.command, walk);
  if (inner.command !== null) return runInner(inner.command, name === "xargs" ? null : input, walk, inside);
  if (!inner.clear) for (let at = 0; at < Math.min(args.length, MOST_GUESSES); at += 1) scanRest(args.slice(at), walk);
  if (name === "xargs" && inner.clear) return null;
  return null;
}

function runInner(argv: Arg[], input: Printed | null, walk: Walk, own: Own): Printed | null {
  if (walk.depth >= MOST_DEPTH) {
    ask(walk, "too-long", "the line has more commands inside commands than are followed");
    return null;
  }
  walk.depth += 1;
  const printed = own === "process" ? inSubshell(walk, () => judgeCommand(argv, input, walk, own)) : judgeCommand(argv, input, walk, own);
  walk.depth -= 1;
  return printed;
}

/** A line that is handed to a shell: its text is judged even where parts of it are not known. */
function judgeText(script: Arg, walk: Walk): void {
  if (!script.literal) ask(walk, "dynamic", `could not read what ${show(script.text)} runs`);
  walk.script(script.value, walk);
}

/** Texts in the arguments that the program runs: they ask, and what is always refused stays refused. */
function scanScripts(name: string, args: Arg[], walk: Walk): void {
  for (const script of scriptsOf(name, args)) {
    ask(walk, "interp", `${show(name)} runs ${show(script.text)}`);
    walk.script(script.value, { ...walk, refusalsOnly: true });
  }
}

/** Whatever is neither listed nor a launcher asks; text that it would run is still searched for refusals. */
function judgeOther(name: string, args: Arg[], walk: Walk): void {
  walk.seen.changes = true;
  if (name.includes("/")) runsWritten({ ...literalArg(name) }, walk);
  const word = args.find((arg) => !/^[-+]/.test(arg.value));
  const sub = word !== undefined && isListed(name) ? `${name} ${word.value}` : name;
  if (name.includes("/")) ask(walk, "interp", `${show(name)} is a program of its own, which the gate cannot read`);
  else ask(walk, "unknown", `${show(sub)} is not on the list of programs that are known`);
  scanScripts(name, args, walk);
  // It may start what stands behind it.
  for (const [at, arg] of args.slice(0, MOST_GUESSES).entries()) {
    if (/^(?:\/(?:usr\/)?s?bin\/)?(?:rm|dd|shred|sudo|doas|mkfs[.\w]*)$/.test(arg.value)) scanRest(args.slice(at), walk);
  }
  const outside = args.find(
    (arg) =>
      arg.literal &&
      /^(?:\/|\.\.(?:\/|$))/.test(arg.value) &&
      !walk.scope.cwds.every((cwd) => isInside(walk.place, cwd, arg.value, walk.seen)),
  );
  if (outside !== undefined)
    ask(
      walk,
      "outside",
      `${show(outside.text)} leads out of the workspace`,
      outside.value.startsWith("/") ? [`read=${normalise("/", outside.value)}`] : [],
    );
}
