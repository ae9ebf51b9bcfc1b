import type { Listed } from "../record.ts";

const GIT_FILES =
  "--stat[=] --shortstat --numstat --summary --name-only --name-status --diff-filter= --no-renames -M[=] -w -b --find-renames[=]";
const GIT_DIFF = `-p -u --patch --no-patch -s -U[=] --unified[=] --raw --minimal --patience --histogram --word-diff[=] --color-words[=] --color[=] --no-color --no-ext-diff --no-textconv --relative[=] --exit-code --quiet --check --ignore-all-space --ignore-space-change --ignore-blank-lines -z -R -S= -G= --pickaxe-all --pickaxe-regex --full-index --abbrev[=] --no-prefix --function-context -W --cc -c -m ${GIT_FILES}`;
const GIT_COMMITS =
  "--oneline --pretty[=] --format[=] --date= --abbrev-commit --no-abbrev-commit --decorate[=] --no-decorate --graph --all --branches[=] --tags[=] --remotes[=] -n= --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep -i -E -F --merges --no-merges --first-parent --reverse --date-order --topo-order --follow --left-right --cherry-pick --cherry-mark --no-notes --relative-date -L= --not --simplify-by-decoration --full-history";
/** `%G` and `%(signature)` ask gpg, which the repository's configuration may name. */
const GIT_SIGNATURES = /%G|signature/;

/** The subcommands of git that only read; `git log git show` names two. */
export const GIT: Listed[] = [
  { names: "git --version", options: "--version", operands: "none" },
  {
    names: "git status",
    options:
      "-s -b -v -z -u[=] --short --branch --long --verbose --porcelain[=] --untracked-files[=] --ignored[=] --ahead-behind --no-ahead-behind --show-stash --no-renames --column[=]",
    operands: "names",
  },
  { names: "git log, git show", options: `${GIT_COMMITS} ${GIT_DIFF}`, operands: "paths", digits: true, never: GIT_SIGNATURES },
  { names: "git diff", options: `--cached --staged --merge-base ${GIT_DIFF}`, operands: "paths", digits: true },
  { names: "git diff", options: `--no-index ${GIT_DIFF}`, operands: "paths", must: "--no-index", digits: true },
  {
    names: "git blame",
    options:
      "-L= -w -M[=] -C[=] -l -t -s -e -f -n -p --porcelain --line-porcelain --show-email --show-name --show-number --date= --since= --root --color-lines",
    operands: "paths",
  },
  {
    names: "git branch",
    options:
      "-a -r -v -l --all --remotes --verbose --list --show-current --contains=? --no-contains=? --merged=? --no-merged=? --points-at= --sort= --format= --color[=] --no-color --column[=] --no-column --abbrev[=] --ignore-case",
    operands: "text",
    listing: "--list",
    never: GIT_SIGNATURES,
  },
  {
    names: "git tag",
    options:
      "-l -n[=] -i --list --contains=? --no-contains=? --merged=? --no-merged=? --points-at= --sort= --format= --color[=] --column[=] --ignore-case",
    operands: "text",
    listing: "-l --list",
    never: GIT_SIGNATURES,
  },
  {
    names: "git rev-parse",
    options:
      "-q --verify --abbrev-ref[=] --short[=] --symbolic-full-name --symbolic --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --all --branches[=] --tags[=] --remotes[=]",
    operands: "text",
  },
  { names: "git rev-list", options: `--count ${GIT_COMMITS}`, operands: "names", digits: true, never: GIT_SIGNATURES },
  {
    names: "git ls-files",
    options:
      "-c -d -m -o -i -s -u -k -t -v -z -x= --cached --deleted --modified --others --ignored --stage --unmerged --killed --exclude= --exclude-standard --full-name --error-unmatch --directory --eol --abbrev[=]",
    operands: "names",
  },
  {
    names: "git ls-tree",
    options: "-d -r -t -l -z --name-only --name-status --long --full-name --full-tree --abbrev[=]",
    operands: "names",
  },
  { names: "git cat-file", options: "-e -p -t -s", operands: "paths" },
  {
    names: "git grep",
    options:
      "-i -n -v -w -l -L -c -o -h -H -E -F -G -P -I -a -z -p -W -e= -A= -B= -C= --ignore-case --line-number --word-regexp --files-with-matches --name-only --count --only-matching --extended-regexp --fixed-strings --perl-regexp --cached --untracked --heading --break --color[=] --no-color --and --or --not --all-match --quiet --max-depth=",
    operands: "pattern",
    brings: "-e",
    digits: true,
  },
  {
    names: "git describe",
    options:
      "--tags --all --always --long --dirty[=] --broken[=] --contains --abbrev[=] --match= --exclude= --candidates= --exact-match --first-parent",
    operands: "text",
  },
  {
    names: "git shortlog",
    options: "-s -n -e -c --summary --numbered --email --since= --until= --no-merges --all --author= --group=",
    operands: "names",
    never: GIT_SIGNATURES,
  },
  { names: "git merge-base", options: "-a --all --octopus --is-ancestor --fork-point", operands: "text" },
  {
    names: "git for-each-ref",
    options: "--count= --sort= --format= --contains=? --merged=? --no-merged=? --points-at=",
    operands: "text",
    never: GIT_SIGNATURES,
  },
  { names: "git show-ref", options: "-s -d -q --head --heads --tags --hash[=] --abbrev[=] --verify --dereference", operands: "text" },
  { names: "git name-rev", options: "--tags --name-only --always --all --refs=", operands: "text" },
  { names: "git count-objects", options: "-v -H --verbose --human-readable", operands: "none" },
  { names: "git reflog", options: "-n= --oneline --date= --all", operands: "text", like: /^(?:show|HEAD(?:@\{\d+\})?)$/, digits: true },
  { names: "git remote", options: "-v --verbose", operands: "none" },
  { names: "git remote get-url", options: "--all --push", operands: "text" },
  { names: "git stash list", options: "-n= --oneline --stat --date=", operands: "none", digits: true },
  { names: "git worktree list", options: "-v --verbose --porcelain", operands: "none" },
  {
    names: "git config",
    options: "--get --get-all --get-regexp --list -l --local --name-only --show-origin --show-scope -z --type= --bool --int",
    operands: "text",
    must: "--get --get-all --get-regexp --list -l",
    most: 2,
  },
  { names: "git config", options: "", operands: "text", most: 1, like: /^[A-Za-z][\w-]*\.[\w.-]+$/ },
  { names: "git config get, git config list", options: "--all --local --name-only", operands: "text" },
  { names: "git check-ignore", options: "-v -q -n -z --verbose --quiet --no-index --non-matching --stdin", operands: "names" },
  { names: "git check-attr", options: "-a -z --all", operands: "text" },
  {
    names: "git diff-tree, git diff-index, git diff-files",
    options: `-r -t --root --cached --no-commit-id ${GIT_DIFF}`,
    operands: "paths",
  },
  { names: "git whatchanged", options: `${GIT_COMMITS} ${GIT_DIFF}`, operands: "paths", digits: true, never: GIT_SIGNATURES },
  { names: "git range-diff", options: `${GIT_FILES} --color[=] --no-color`, operands: "text" },
  { names: "git cherry", options: "-v --abbrev[=]", operands: "text" },
  { names: "git show-branch", options: "-a -r --all --remotes --list --topo-order", operands: "text" },
  { names: "git symbolic-ref", options: "-q --short --quiet", operands: "text", most: 1, like: /^(?:HEAD|refs\/[\w./-]+)$/ },
  { names: "git fsck", options: "--full --no-dangling --unreachable --connectivity-only --no-progress", operands: "none" },
  { names: "git version", options: "--build-options", operands: "none" },
  { names: "git hash-object", options: "--stdin -t=", operands: "paths" },
  { names: "git bundle verify, git bundle list-heads", options: "-q", operands: "paths" },
  { names: "git ls-remote", options: "--get-url", operands: "text", must: "--get-url" },
  { names: "git column, git stripspace, git interpret-trailers", options: "--mode= -s --strip-space", operands: "none" },
  { names: "git notes list, git notes show", options: "", operands: "text" },
];
