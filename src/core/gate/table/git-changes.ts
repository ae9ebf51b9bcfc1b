import type { Listed } from "../record.ts";

const HISTORY = "changes or drops commits, or changes that are not committed";

/** The subcommands of git that change something; those that only read are in git.ts. */
export const GIT_CHANGES: Listed[] = [
  {
    names: "git add",
    options:
      "-A -u -v -n -f -N -p --all --update --verbose --dry-run --force --intent-to-add --no-all --renormalize --refresh --chmod= --sparse --pathspec-from-file=path",
    operands: "names",
    writes: true,
    when: [
      ["interp", "-p", "asks back in a terminal"],
      ["perms", "--chmod", "changes who may run a file"],
    ],
  },
  {
    names: "git commit",
    options:
      "-m= -a -s -v -q -F=path -C= -n -S[=] -o -i --message= --all --signoff --verbose --quiet --file=path --author= --date= --allow-empty --allow-empty-message --no-verify --no-edit --amend --fixup= --squash= --reuse-message= --trailer= --only --include --no-gpg-sign --cleanup= --dry-run --short --porcelain --status --no-status --reset-author",
    operands: "names",
    must: "-m -F -C --message --file --fixup --reuse-message --amend --dry-run",
    runs: true,
    when: [
      ["history", "--amend --reset-author", "replaces the last commit"],
      ["interp", "-S", "signs with a program that the configuration names"],
    ],
  },
  { names: "git commit", asks: ["interp", "opens an editor"] },
  { names: "git mv", options: "-f -k -v -n --force --verbose --dry-run", operands: "moves" },
  { names: "git rm", options: "-r -f -q --cached --quiet --force --ignore-unmatch", operands: "names", must: "--cached", writes: true },
  { names: "git rm", asks: ["delete", "deletes files"] },
  { names: "git clean", options: "-n -d -x -X -q -e= --dry-run --exclude=", operands: "names", must: "-n --dry-run" },
  { names: "git clean", asks: ["delete", "deletes what is not committed"] },
  {
    names: "git branch",
    options: "-m -q -t --move --quiet --track[=] --no-track",
    operands: "text",
    most: 2,
    like: /^[\w][\w./@^~-]*$/,
    writes: true,
  },
  { names: "git branch", asks: ["history", "deletes a branch, or moves or changes one by force"] },
  {
    names: "git checkout",
    options: "-b= -q -t -d --quiet --track[=] --no-track --detach --orphan= --progress --no-progress --guess --no-guess",
    operands: "text",
    most: 2,
    must: "-b --orphan --detach -t --track",
    writes: true,
  },
  {
    names: "git checkout",
    options: "-q --quiet --progress --no-progress --guess --no-guess",
    operands: "text",
    most: 1,
    // Something with an ending, or with a blank, is a file, and its changes would be lost.
    // So are the usual names of files without an ending, and of folders.
    like: /^(?!(?:[A-Z][a-z]+file|README|LICENSE|CHANGELOG|(?:src|lib|test|tests|docs|app|apps|pkg|packages|cmd|internal|scripts|public|config)(?:\/.*)?)$)(?:-|@\{-\d+\}|HEAD|[A-Za-z][\w-]*|v?\d+(?:\.\d+)*(?:-[\w.]+)?|[\da-f]{7,40}|(?:[\w-]+\/)+[\w-]+)$/,
    otherwise: ["history", "may drop changes that are not committed"],
    writes: true,
  },
  { names: "git checkout", asks: ["history", "drops changes that are not committed"] },
  {
    names: "git switch",
    options: "-c= -q -t -d --create= --quiet --track[=] --no-track --detach --guess --no-guess --orphan=",
    operands: "text",
    like: /^[\w@{}./^~-]+$/,
    writes: true,
  },
  {
    names: "git stash",
    options: "-u -q -k -a --include-untracked --quiet --keep-index --all -m= --message=",
    operands: "none",
    writes: true,
  },
  {
    names: "git stash push, git stash save",
    options: "-u -q -k -a -m= --include-untracked --quiet --keep-index --staged --message=",
    operands: "names",
    writes: true,
  },
  { names: "git stash show", options: "-p -u --stat --name-only --name-status --patch --include-untracked", operands: "text" },
  { names: "git stash pop, git stash apply", options: "-q --index --quiet", operands: "text", like: /^(?:stash@\{)?\d+\}?$/, writes: true },
  { names: "git stash", asks: ["history", "drops what was put aside"] },
  {
    names: "git tag",
    options: "-a -m= -F=path --annotate --message= --file=path",
    operands: "text",
    most: 2,
    like: /^[\w][\w./^~@-]*$/,
    writes: true,
  },
  { names: "git tag", asks: ["history", "deletes, moves, signs or checks tags"] },
  {
    names: "git restore",
    options: "-S -q -W --staged --quiet",
    operands: "names",
    must: "-S --staged",
    writes: true,
    when: [["history", "-W", HISTORY]],
  },
  { names: "git restore", asks: ["history", "drops changes that are not committed"] },
  {
    names: "git reset",
    options: "-q --quiet --mixed",
    operands: "text",
    // Only what is plainly a file or folder: a branch or a tag in its place drops commits.
    like: /^(?:HEAD|--|\.|(?!(?:v?\d|origin\/|upstream\/|remotes\/|refs\/|tags\/|heads\/|release\/|feature\/|feat\/|fix\/|hotfix\/))(?:[\w.@-]+\/)*[\w.@-]*\.[A-Za-z]\w*|(?!refs|origin|upstream)[\w-]+(?:\/[\w.-]+)*\/)$/,
    otherwise: ["history", HISTORY],
    writes: true,
  },
  { names: "git reset", asks: ["history", HISTORY] },
  {
    names: "git apply",
    options:
      "-p= -R -v -3 -C= --check --stat --numstat --summary --index --cached --reverse --verbose --3way --reject --whitespace= --ignore-whitespace --ignore-space-change --recount --include= --exclude= --directory=dir --apply",
    operands: "paths",
    writes: true,
  },
  { names: "git init", options: "-q -b= --quiet --bare --initial-branch=", operands: "names", most: 1, writes: true },
  { names: "git worktree add", options: "-b= -q -d --detach --quiet --no-checkout --track --guess-remote", operands: "writes", most: 1 },
  { names: "git worktree add", options: "-b= -q -d --detach --quiet --no-checkout --track --guess-remote", operands: "writes", most: 2 },
  { names: "git worktree", asks: ["delete", "moves or deletes working copies"] },
  {
    names: "git archive",
    options: "-o=out -v --output=out --format= --prefix= --verbose --worktree-attributes -0 -1 -9",
    operands: "text",
  },
  { names: "git bundle create", options: "-q --all --branches --tags", operands: "writes" },
  {
    names: "git format-patch",
    options:
      "-o=dir -n -k -N -s --output-directory=dir --stdout --numbered --signoff --start-number= --subject-prefix= --cover-letter --no-signature --root",
    operands: "text",
    digits: true,
    writes: true,
  },
  {
    names: "git merge, git rebase, git cherry-pick, git revert, git am, git pull-rebase, git mergetool",
    asks: ["history", "changes the branch that is checked out"],
  },
  { names: "git bisect log, git bisect view", options: "--oneline", operands: "none" },
  { names: "git var", options: "", operands: "text", like: /^GIT_(?:AUTHOR|COMMITTER)_IDENT$/ },
  {
    names:
      "git bisect, git notes, git replace, git filter-branch, git filter-repo, git gc, git prune, git repack, git update-ref, git update-index, git read-tree, git write-tree, git commit-tree, git reflog expire, git reflog delete, git symbolic-ref, git sparse-checkout, git rerere, git fast-import, git hash-object, git maintenance, git pack-refs, git subtree, git stage",
    asks: ["history", "changes what git keeps"],
  },
  { names: "git push", asks: ["network", "sends commits to another repository"] },
  { names: "git fetch, git pull, git remote update", asks: ["network", "gets commits from another repository"] },
  { names: "git clone", asks: ["network", "copies a repository from elsewhere"] },
  {
    names:
      "git ls-remote, git remote show, git remote prune, git send-email, git request-pull, git svn, git p4, git archive-remote, git imap-send, git daemon, git instaweb, git http-fetch, git http-push, git fetch-pack, git send-pack, git credential, git lfs, git annex",
    asks: ["network", "reaches another repository or service"],
  },
  { names: "git submodule status", options: "--recursive --cached --quiet -q", operands: "names" },
  { names: "git submodule", asks: ["network", "gets or changes other repositories inside of this one"] },
  { names: "git remote", asks: ["network", "changes where git gets and sends commits"] },
  { names: "git config", asks: ["interp", "changes the settings of git, some of which name programs"] },
  {
    names:
      "git difftool, git gui, git citool, gitk, git web--browse, git help, git send-pack, git shell, git upload-pack, git receive-pack",
    asks: ["interp", "starts another program"],
  },
];
