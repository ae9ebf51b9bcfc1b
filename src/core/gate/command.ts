import { riskOf } from "./asks.ts";
import { ask, deny, MOST_DEPTH, show, type Walk } from "./finding.ts";
import { join, unwrap } from "./launchers.ts";
import { optionTable, readOptions } from "./options.ts";
import { isInside, normalise, within } from "./paths.ts";
import { findReader, judgeReader } from "./reader.ts";
import { judgeRefused } from "./refused.ts";
import { scriptsOf } from "./scripts.ts";
import type { Arg } from "./words.ts";

/** Folders whose programs are known by their bare name. */
const PROGRAM_FOLDER = /^\/(?:usr\/)?(?:local\/)?s?bin\/([^/]+)$/;
const SHELL = /^(?:ba|da|z|k|mk|a|fi|r?ba)?sh$/;
/** Some home folder: where `cd` alone leads. */
const HOME = "/home/~";
/** Words of a launcher that are tried as the command that it starts. */
const MOST_GUESSES = 32;
/** More folders than this at once are not followed. */
const MOST_FOLDERS = 8;

/**
 * Judges one command: what it is, what it starts, what it touches. `input` is what it reads from the line itself.
 * `own` says that the shell of the line runs it, so that `cd` counts for what follows.
 */
export function judgeCommand(argv: Arg[], input: string | null, walk: Walk, own = true): void {
  const first = argv[0];
  if (first === undefined) return;
  const args = argv.slice(1);
  const name = nameOf(first);
  judgeRefused(refusedName(first, walk), args, walk);
  if (!first.literal || first.glob >= 0) {
    ask(walk, "dynamic", `which program ${show(first.text)} is cannot be read from the line`);
    if (/[$`]/.test(name)) return;
  }
  if (name === "cd" && own) judgeCd(args, walk);
  else if (name === "git") judgeGit(args, walk);
  else if (SHELL.test(name)) judgeShell(name, args, input, walk);
  else if (!judgeListed(name, args, walk) && !judgeLauncher(name, args, input, walk, own)) judgeOther(name, args, input, walk);
}

/** `ls` for `ls` and for `/usr/bin/ls`; a program of the workspace keeps its path. */
function nameOf(first: Arg): string {
  const name = PROGRAM_FOLDER.exec(first.value)?.[1];
  return name === undefined || name === "cd" ? first.value : name;
}

/** The same for what is never run: whatever way its path takes, unless it is a program of the workspace. */
function refusedName(first: Arg, walk: Walk): string {
  const path = first.value;
  if (!path.includes("/")) return path;
  const own = !first.tilde && walk.cwds.every((cwd) => within(normalise(cwd, path), normalise("/", walk.place.workspace)));
  return own ? nameOf(first) : path.slice(path.lastIndexOf("/") + 1);
}

function judgeListed(name: string, args: Arg[], walk: Walk): boolean {
  if (name === "[") {
    if (args.at(-1)?.value !== "]") return false;
    return judgeListed("test", args.slice(0, -1), walk);
  }
  if (name === "command" && !/^-[vV]/.test(args[0]?.value ?? "")) return false;
  const found = findReader(name, args);
  if (found === null || !judgeReader(found.called, found.entry, found.args, walk)) return false;
  if (name === "find") judgeFind(found.args, walk);
  return true;
}

const GIT_GLOBALS = optionTable("-C=path -P --no-pager --no-optional-locks --literal-pathspecs");

/** Reads what stands between `git` and its subcommand, then the subcommand in the folder that `-C` names. */
function judgeGit(args: Arg[], walk: Walk): void {
  const read = readOptions(GIT_GLOBALS, args, { ordered: true });
  if (read.unknown !== null && args.length > 1) ask(walk, "interp", `${show(`git ${read.unknown.text}`)} changes what git runs`);
  let cwds = walk.cwds;
  for (const { value } of read.used) {
    if (value === null || !value.literal) continue;
    if (!cwds.every((cwd) => isInside(walk.place, cwd, value.value)))
      ask(walk, "outside", `${show(value.text)} leads out of the workspace`);
    cwds = cwds.map((cwd) => normalise(cwd, value.value));
  }
  const after = read.unknown === null ? read.operands : args;
  for (const [index, arg] of args.entries()) {
    const alias =
      /^alias\.[^=]+=!(.*)$/s.exec(arg.value)?.[1] ??
      (args[index - 1]?.value.startsWith("alias.") ? /^!(.*)$/s.exec(arg.value)?.[1] : undefined);
    if (alias !== undefined) walk.script(alias, walk);
  }
  if (!judgeListed("git", after, { ...walk, cwds })) judgeOther("git", after, null, walk);
}

/** `find -exec` starts the command between it and `;` or `+`. */
function judgeFind(args: Arg[], walk: Walk): void {
  if (args.some((arg) => arg.value === "-delete")) ask(walk, "delete", "`find -delete` deletes");
  let rest = args;
  for (;;) {
    const at = rest.findIndex((arg) => /^-(?:exec|ok)(?:dir)?$/.test(arg.value));
    if (at < 0) return;
    rest = rest.slice(at + 1);
    const end = rest.findIndex((arg) => arg.value === ";" || arg.value === "+");
    judgeInner(end < 0 ? rest : rest.slice(0, end), null, walk, false);
    rest = end < 0 ? [] : rest.slice(end + 1);
  }
}

function judgeLauncher(name: string, args: Arg[], input: string | null, walk: Walk, own: boolean): boolean {
  const inner = unwrap(name, args, input);
  if (inner === null) return false;
  if (name === "env" && inner.command === null && inner.scripts.length === 0) deny(walk, "secrets", "`env` shows the environment");
  for (const assign of inner.assigns) ask(walk, "env", `the line changes the environment of what it runs (${show(assign.text)})`);
  if (inner.code !== null) ask(walk, inner.code, `${show(name)} runs another command in its own way`);
  else if (!inner.clear) ask(walk, "unknown", `how ${show(name)} runs the rest is not clear`);
  for (const script of inner.scripts) judgeText(script, walk);
  if (inner.command !== null) judgeInner(inner.command, input, walk, own && (name === "builtin" || name === "command"));
  else if (!inner.clear) for (let at = 0; at < Math.min(args.length, MOST_GUESSES); at += 1) guess(args.slice(at), walk);
  return true;
}

function judgeInner(argv: Arg[], input: string | null, walk: Walk, own: boolean): void {
  if (walk.depth >= MOST_DEPTH) return ask(walk, "too-long", "the line has more commands inside commands than are followed");
  walk.depth += 1;
  judgeCommand(argv, input, walk, own);
  walk.depth -= 1;
}

/** Where a launcher was not understood, each of its words may be the command: if that is refused, so is the line. */
function guess(argv: Arg[], walk: Walk): void {
  const [first, ...args] = argv;
  if (first !== undefined) judgeRefused(refusedName(first, walk), args, walk);
}

/** A line that is handed to a shell: its text is judged even where parts of it are not known. */
function judgeText(script: Arg, walk: Walk): void {
  if (!script.literal) ask(walk, "dynamic", `what ${show(script.text)} runs cannot be read from the line`);
  walk.script(script.value, walk);
}

function judgeShell(name: string, args: Arg[], input: string | null, walk: Walk): void {
  const at = args.findIndex((arg) => /^-[A-Za-z]*c[A-Za-z]*$/.test(arg.value));
  if (at >= 0) {
    const script = args.slice(at + 1).find((arg, index, rest) => !/^[-+]/.test(arg.value) && !/^[-+]o$/.test(rest[index - 1]?.value ?? ""));
    if (
      at > 0 ||
      !/^(?:ba|da)?sh$/.test(name) ||
      !/^-[eux]*c$/.test(args[0]?.value ?? "") ||
      args[1] !== script ||
      script === undefined ||
      !args.every((arg) => arg.literal && arg.glob < 0)
    ) {
      ask(walk, "interp", `${show(name)} is started in a way that is not plain`);
    }
    if (script !== undefined) judgeText(script, walk);
    return;
  }
  const file = args.find((arg) => !/^[-+]/.test(arg.value));
  ask(
    walk,
    "interp",
    `${show(file === undefined ? name : `${name} ${file.text}`)} runs ${file === undefined ? "what it reads" : "a script"}`,
  );
  if (input !== null) walk.script(input, walk);
}

/** Whatever is neither listed nor a launcher asks; text that it would run is still searched for refusals. */
function judgeOther(name: string, args: Arg[], input: string | null, walk: Walk): void {
  const { shown, code, text } = riskOf(name, args);
  ask(walk, code, `${show(shown)} ${text}`);
  if (name === "eval") judgeText(join(args), walk);
  if (input !== null && /^(?:\.|source|at|batch)$/.test(name)) walk.script(input, walk);
  for (const script of scriptsOf(name, args)) {
    ask(walk, "interp", `${show(name)} may run ${show(script.text)}`);
    walk.script(script.value, { ...walk, add: (finding) => finding.verdict === "deny" && walk.add(finding) });
  }
  if (name === "alias") for (const arg of args) walk.script(arg.value.slice(arg.value.indexOf("=") + 1), walk);
  if (name === "fd" || name === "fdfind") {
    const at = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg.value));
    if (at >= 0) judgeInner(args.slice(at + 1), null, walk, false);
  }
  const outside = args.find(
    (arg) => arg.literal && /^(?:\/|\.\.)/.test(arg.value) && !walk.cwds.every((cwd) => isInside(walk.place, cwd, arg.value)),
  );
  if (outside !== undefined) ask(walk, "outside", `${show(outside.text)} leads out of the workspace`);
}

/** `cd` into a folder of the workspace is followed; whether it succeeds is not known here (see walk.ts). */
function judgeCd(args: Arg[], walk: Walk): void {
  const words = args[0]?.value === "--" ? args.slice(1) : args;
  const to = words[0];
  if (words.length === 0 || /^~\/*$/.test(to?.value ?? "")) {
    walk.cwds = [HOME];
    return ask(walk, "outside", "`cd` leads to a home folder");
  }
  if (words.length !== 1 || to === undefined || to.value.startsWith("-") || to.value === "" || to.glob >= 0 || !to.literal) {
    ask(walk, "dynamic", `where ${show(["cd", ...args.map((arg) => arg.text)].join(" "))} leads cannot be read from the line`);
    return;
  }
  if (!walk.cwds.every((cwd) => isInside(walk.place, cwd, normalise(cwd, to.value)))) {
    ask(walk, "outside", `${show(`cd ${to.text}`)} leaves the workspace`);
  }
  walk.cwds = [...new Set(walk.cwds.map((cwd) => normalise(cwd, to.value)))].slice(0, MOST_FOLDERS);
}
