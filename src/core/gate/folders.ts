import type { Arg } from "./args.ts";
import { ask, show, type Walk } from "./finding.ts";
import { isFolder, isInside, normalise } from "./paths.ts";
import { MOST_FOLDERS } from "./scope.ts";

/** Some home folder: where `cd` alone leads. */
const HOME = "/home/~";
/** Commands that may take a folder away, apart from those that ask anyway. */
const MOVES = /^(?:.*\/)?(?:mv |rmdir |git (?!add|commit|status|diff|log|show|rev-parse|ls-files|branch|grep|blame|describe|tag\b))/;
/** A folder with a longer name than this is one that somebody made up. */
const LONGEST = 512;

/** `cd` into a folder of the workspace is followed; whether it succeeds is not known here (see walk.ts). */
export function judgeCd(args: Arg[], walk: Walk): boolean {
  const words = args[0]?.value === "--" || /^-[LP]$/.test(args[0]?.value ?? "") ? args.slice(1) : args;
  const to = words[0];
  if (words.length === 0 || to?.tilde === true) {
    walk.scope.cwds = [HOME];
    ask(walk, "outside", "`cd` leads to a home folder");
    return true;
  }
  if (walk.scope.vars.has("CDPATH")) ask(walk, "dynamic", "where `cd` leads depends on `$CDPATH`");
  if (words.length !== 1 || to === undefined || to.value.startsWith("-") || to.value === "" || to.glob >= 0 || to.kind === "free") {
    ask(walk, "dynamic", `where ${show(["cd", ...args.map((arg) => arg.text)].join(" "))} leads cannot be read from the line`);
    return true;
  }
  if (!walk.scope.cwds.every((cwd) => isInside(walk.place, cwd, to.value, walk.seen))) {
    ask(
      walk,
      "outside",
      `${show(`cd ${to.text}`)} leaves the workspace`,
      to.value.startsWith("/") ? [`read=${normalise("/", to.value)}`] : [],
    );
  }
  const cwds = [...new Set(walk.scope.cwds.map((cwd) => normalise(cwd, to.value)))];
  if (cwds.length > MOST_FOLDERS || cwds.some((cwd) => cwd.length > LONGEST)) {
    ask(walk, "too-long", "the line changes the folder more often than is followed");
  }
  // It asks from here on, so that one folder is enough to look for refusals.
  walk.scope.cwds = cwds.length > MOST_FOLDERS || cwds.some((cwd) => cwd.length > LONGEST) ? [walk.place.workspace] : cwds;
  const [only] = cwds;
  walk.scope.sure = cwds.length === 1 && only !== undefined && isThere(only, walk) ? walk.scope.cwds : null;
  return true;
}

/** Whether a folder is there now, and nothing in the line before may have moved it away. */
function isThere(folder: string, walk: Walk): boolean {
  return (
    isFolder(walk.place, folder, walk.seen) && !walk.seen.lowered.some(({ argv }) => MOVES.test(`${argv[0]?.value} ${argv[1]?.value}`))
  );
}

export function judgePushd(args: Arg[], walk: Walk): boolean {
  const before = walk.scope.cwds;
  if (/^[+]\d/.test(args[0]?.value ?? ""))
    ask(walk, "dynamic", `where ${show(`pushd ${args[0]?.text}`)} leads cannot be read from the line`);
  judgeCd(args, walk);
  walk.scope.stack = [...walk.scope.stack, before].slice(-MOST_FOLDERS);
  return true;
}

export function judgePopd(args: Arg[], walk: Walk): boolean {
  const back = walk.scope.stack.at(-1);
  if (args.length > 0 || back === undefined) ask(walk, "dynamic", "where `popd` leads cannot be read from the line");
  else walk.scope.cwds = [...back];
  walk.scope.stack = walk.scope.stack.slice(0, -1);
  return true;
}
