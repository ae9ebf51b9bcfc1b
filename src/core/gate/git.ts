import type { Arg } from "./args.ts";
import { ask, show, type Walk } from "./finding.ts";
import { optionTable, readOptions } from "./options.ts";
import { isInside, normalise } from "./paths.ts";

const GLOBALS = optionTable("-C=path -c= -P --no-pager --no-optional-locks --literal-pathspecs --glob-pathspecs --icase-pathspecs");
/** Settings that change no more than how git words, colours and signs things. */
const SETTINGS =
  /^(?:user\.(?:name|email)|color\.\w+|core\.(?:quotepath|autocrlf|safecrlf|abbrev|ignorecase|filemode)|log\.\w+|advice\.\w+|init\.defaultBranch|commit\.gpgsign|tag\.gpgsign|diff\.(?:renames|renameLimit|algorithm|context|noprefix|mnemonicPrefix|wsErrorHighlight)|column\.\w+|status\.\w+|merge\.(?:conflictstyle|ff)|pull\.(?:rebase|ff)|safe\.directory|gc\.auto|i18n\.\w+|blame\.\w+)=/i;
const HARMLESS_PAGER = /^core\.pager=(?:cat|less|)$/;

type Listed = (name: string, args: Arg[], walk: Walk) => boolean;
type Other = (name: string, args: Arg[], walk: Walk) => void;

/** Reads what stands between `git` and its subcommand, then the subcommand in the folder that `-C` names. */
export function judgeGit(args: Arg[], walk: Walk, listed: Listed, other: Other): void {
  const read = readOptions(GLOBALS, args, { ordered: true });
  const only = args.length === 1 && /^--(?:version|help)$/.test(args[0]?.value ?? "");
  if (read.unknown !== null && !only) ask(walk, "interp", `${show(`git ${read.unknown.text}`)} changes what git runs`);
  const before = walk.scope.cwds;
  for (const { name, value } of read.used) {
    if (value === null) continue;
    if (name === "-c") {
      if (!(value.kind !== "free" && SETTINGS.test(value.value)) && !HARMLESS_PAGER.test(value.value)) {
        walk.seen.changes = true;
        ask(walk, "interp", `${show(`git -c ${value.text}`)} changes what git runs`);
      }
      continue;
    }
    if (name !== "-C") continue;
    if (value.kind === "free") ask(walk, "dynamic", `could not read which folder ${show(value.text)} is`);
    else if (!walk.scope.cwds.every((cwd) => isInside(walk.place, cwd, value.value, walk.seen)) || value.tilde)
      ask(
        walk,
        "outside",
        `${show(value.text)} leads out of the workspace`,
        value.value.startsWith("/") ? [`read=${normalise("/", value.value)}`] : [],
      );
    walk.scope.cwds = walk.scope.cwds.map((cwd) => normalise(cwd, value.value));
  }
  const after = read.unknown === null ? read.operands : args;
  judgeAliases(args, walk);
  if (!listed("git", after, walk)) other("git", after, walk);
  walk.scope.cwds = before;
}

/** Commands that stand in the line as git aliases. */
function judgeAliases(args: Arg[], walk: Walk): void {
  for (const [index, arg] of args.entries()) {
    const alias =
      /^alias\.[^=]+=!(.*)$/s.exec(arg.value)?.[1] ??
      (args[index - 1]?.value.startsWith("alias.") ? /^!(.*)$/s.exec(arg.value)?.[1] : undefined);
    if (alias !== undefined) walk.script(alias, walk);
    const setting =
      args[index - 1]?.value === "-c"
        ? /^[\w.-]+(?:pager|editor|command|program|helper|fsmonitor|askpass|proxy|driver|textconv)=!?(.*)$/is.exec(arg.value)?.[1]
        : undefined;
    if (setting !== undefined) walk.script(setting, { ...walk, refusalsOnly: true });
  }
}
