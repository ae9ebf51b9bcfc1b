import type { Arg } from "./args.ts";
import { ask, show, type Walk } from "./finding.ts";
import { judgePath } from "./judge-path.ts";
import { findRecords } from "./lookup.ts";
import { normalise } from "./paths.ts";

type Listed = (name: string, args: Arg[], walk: Walk) => boolean;
type Special = (args: Arg[], walk: Walk, listed: Listed) => boolean;

/** Commands whose words mean more than a record can say. False: the table decides after all. */
const SPECIAL: Record<string, Special> = {
  tar: judgeOldTar,
  bsdtar: judgeOldTar,
  ln: judgeLink,
  npx: (args, walk, listed) => judgeLocal("npx", args, /^(?:--no-install|--no|--yes|-y|--)$/, walk, listed),
  bunx: (args, walk, listed) => judgeLocal("bunx", args, /^(?:--no-install|--bun)$/, walk, listed),
  pnpm: (args, walk, listed) => judgeManager("pnpm", args, walk, listed),
  yarn: (args, walk, listed) => judgeManager("yarn", args, walk, listed),
  python: judgePython,
  python3: judgePython,
  bundle: (args, walk, listed) =>
    startsProject("bundle", walk) &&
    args[0]?.value === "exec" &&
    args[1] !== undefined &&
    args[1].literal &&
    listed(args[1].value, args.slice(2), walk),
  composer: (_args, walk) => !startsProject("composer", walk),
  poetry: (args, walk, listed) => runThrough(args, walk, listed, false),
  pipenv: (args, walk, listed) => runThrough(args, walk, listed, false),
  uv: (args, walk, listed) => runThrough(args, walk, listed, true),
};
const TABLE = new Map(Object.entries(SPECIAL));

/** It runs the project's own code whatever it is asked for, such as the Gemfile. */
function startsProject(name: string, walk: Walk): true {
  walk.seen.changes = true;
  walk.seen.runs.add(name);
  return true;
}

export function judgeSpecial(name: string, args: Arg[], walk: Walk, listed: Listed): boolean {
  return TABLE.get(name)?.(args, walk, listed) ?? false;
}

/** `tar xzf FILE`: the first word is options without a dash, and `f` takes the next one wherever it stands. */
function judgeOldTar(args: Arg[], walk: Walk, listed: Listed): boolean {
  const [letters, file, ...rest] = args;
  if (letters === undefined || letters.value.startsWith("-") || !letters.literal) return false;
  if (!/^[cxtruzjJvkmpaOh]*f?[cxtruzjJvkmpaOh]*$/.test(letters.value) || (letters.value.includes("f") && file === undefined)) {
    ask(walk, "unknown", `${show(`tar ${letters.text}`)} has options that are not known to be harmless`);
    return true;
  }
  const bundle = { ...letters, value: `-${letters.value.replace("f", "")}` };
  if (file === undefined || !letters.value.includes("f")) return listed("tar", [bundle, ...args.slice(1)], walk);
  return listed("tar", [...(bundle.value === "-" ? [] : [bundle]), { ...letters, value: "-f" }, file, ...rest], walk);
}

/** `ln -s TARGET NAME`: the link must not lead out of the workspace either. */
function judgeLink(args: Arg[], walk: Walk): boolean {
  if (!args.some((arg) => /^-[fnrTv]*s|^--symbolic$/.test(arg.value))) return false;
  const words = args.filter((arg) => !arg.value.startsWith("-"));
  const relative = args.some((arg) => /^-\w*r|^--relative$/.test(arg.value));
  const last = words.at(-1);
  const [targets, name] = words.length > 1 ? [words.slice(0, -1), last] : [words, undefined];
  const known = args.every(
    (arg) =>
      !arg.value.startsWith("-") ||
      /^-[sfnrTv]+$|^--(?:symbolic|force|relative|no-dereference|verbose|no-target-directory)$/.test(arg.value),
  );
  if (!known) ask(walk, "unknown", "`ln` has an option that is not known to be harmless");
  if (name !== undefined) judgePath(name, "writes", walk);
  walk.seen.changes = true;
  const slash = name?.value.lastIndexOf("/") ?? -1;
  const folder = slash > 0 ? (name?.value.slice(0, slash) ?? "") : "";
  for (const target of targets) {
    if (target.kind === "free" || target.value.startsWith("/") || target.tilde || relative || folder === "")
      judgePath(target, "paths", walk);
    else judgePath({ ...target, value: `${folder}/${target.value}`, glob: -1 }, "paths", walk);
  }
  walk.seen.linked = true;
  return true;
}

/** `npx TOOL`: the project's own tool where it is installed, else a download. */
function judgeLocal(name: string, args: Arg[], options: RegExp, walk: Walk, listed: Listed): boolean {
  const from = args.findIndex((arg) => !arg.value.startsWith("-"));
  const tool = args[from];
  walk.seen.changes = true;
  if (tool === undefined || !args.slice(0, from).every((arg) => options.test(arg.value))) return false;
  // These never download.
  const stays = / exec$/.test(name) || args.slice(0, from).some((arg) => /^--no(?:-install)?$/.test(arg.value));
  if (stays) {
    walk.run(args.slice(from), null, walk, "process");
    return true;
  }
  const { realpath, workspace } = walk.place;
  const folder = normalise("/", workspace);
  const installed =
    realpath !== undefined && walk.scope.cwds.length === 1 && /^[\w.-]+$/.test(tool.value)
      ? (realpath(normalise(folder, `node_modules/.bin/${tool.value}`)) ?? null) !== null
      : null;
  if (installed === true && findRecords(tool.value, args.slice(from + 1)).length > 0) return listed(tool.value, args.slice(from + 1), walk);
  if (installed === true) {
    ask(walk, "interp", `${show(`${name} ${tool.value}`)} runs a tool that the gate does not know`);
    return true;
  }
  ask(walk, "install", `${show(`${name} ${tool.text}`)} downloads the tool unless the project has it`, ["network=registry.npmjs.org:443"]);
  return true;
}

/** `python -m MODULE` is judged as the tool of that name. */
function judgePython(args: Arg[], walk: Walk, listed: Listed): boolean {
  const [option, module, ...rest] = args;
  // Modules of the folder come before Python's own.
  if (option?.value === "-m") walk.seen.changes = true;
  if (option?.value !== "-m" || module === undefined || !module.literal || module.glob >= 0) return false;
  if (
    !/^(?:pytest|mypy|black|isort|flake8|pylint|ruff|coverage|pip|tox|pyright|unittest|py_compile|compileall|json\.tool|venv|http\.server|build|sphinx|twine|nox|pre_commit|doctest|tabnanny|ast|site|platform)$/.test(
      module.value,
    )
  ) {
    ask(walk, "interp", `${show(`python -m ${module.text}`)} runs a module that the gate does not know`);
    walk.seen.changes = true;
    return true;
  }
  return listed(module.value, rest, walk);
}

/** Tools that `yarn TOOL` starts where the project has them; it does not fetch them. */
const OWN_TOOLS = /^(?:tsc|vue-tsc|eslint|prettier|jest|vitest|mocha|ava|biome|oxlint|stylelint|playwright)$/;

/** `yarn exec TOOL`, `yarn TOOL` and `yarn workspace NAME ...`. */
function judgeManager(name: string, args: Arg[], walk: Walk, listed: Listed): boolean {
  const [first, second, ...rest] = args;
  // What stands in the project's settings is started before anything else.
  walk.seen.changes = true;
  walk.seen.runs.add(name);
  if (first?.value === "exec") return judgeLocal(`${name} exec`, args.slice(1), /^--$/, walk, listed);
  if (name === "yarn" && first?.value === "workspace" && second?.literal === true && second.glob < 0 && rest.length > 0)
    return judgeManager(name, rest, walk, listed) || listed(name, rest, walk);
  return first !== undefined && first.literal && OWN_TOOLS.test(first.value) && listed(first.value, args.slice(1), walk);
}

/** `poetry run TOOL`, `uv run TOOL`: the second may bring the packages up to date first, which takes a network. */
function runThrough(args: Arg[], walk: Walk, listed: Listed, fetches: boolean): boolean {
  const [verb, tool, ...rest] = args;
  if (verb?.value !== "run" || tool === undefined || tool.value.startsWith("-")) return false;
  walk.seen.changes = true;
  if (fetches) ask(walk, "interp", `${show(`run ${tool.text}`)} runs in the project's environment, which it may bring up to date first`);
  if (!tool.literal || !listed(tool.value, rest, walk)) ask(walk, "interp", `${show(tool.text)} is a program that the gate does not know`);
  return true;
}
