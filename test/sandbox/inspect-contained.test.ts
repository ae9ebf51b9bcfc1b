import { describe, expect, it } from "vitest";
import { REPOSITORY, room } from "./inspect-kit.ts";

const READ_ONLY = /Read-only file system/;

describe("a command that nobody approved", () => {
  it("cannot change hooks or configuration, nor move the repository away to begin a new one", async () => {
    const { told, contained } = room();
    await told(`${REPOSITORY} && cp /bin/true .git/hooks/pre-commit`);
    expect(await contained("echo evil >.git/hooks/pre-push; echo evil >>.git/config")).toMatch(/^(.*Read-only file system\n){2}$/);
    expect(await contained("git config core.pager evil; ls .git/*.lock")).toMatch(/could not write config file.*\n.*cannot access/);
    expect(await contained("mv .git .git2; mv .git/hooks .git/h; mv .git/config .git/c; rm .git/config")).toMatch(/(.*busy\n){4}/);
    expect(await contained("rm -rf .git; ls .git; ls .git/hooks")).toMatch(/\nconfig\nhooks\npre-commit\n$/);
  });

  it("still works with git", async () => {
    const { told, run } = room();
    await told(`${REPOSITORY} && git worktree add -q wt`);
    const work = [
      "echo 2 >a && git add a && git commit -qm two",
      "git checkout -q -b feature && git commit -q --allow-empty -m three && git checkout -q -",
      "git merge -q feature && git tag v1 && echo 3 >a && git stash -q && git stash pop -q",
      "git worktree add -q wt2 && git worktree remove wt2 && git branch -D wt2 feature",
      "git reset -q --hard && git rebase -q HEAD~1 && git gc -q && git fsck",
      "cd wt && git commit -q --allow-empty -m four && git log --oneline",
    ];
    for (const command of work) expect(await run(command)).toMatchObject({ how: "exited", exit: 0 });
  });

  it("is kept from those of submodules, work trees, nested and bare repositories too", async () => {
    const { told, contained } = room();
    await told(`${REPOSITORY} && git worktree add -q wt && mkdir -p n && (cd n && ${REPOSITORY}) && git init -q --bare b`);
    await told("mkdir -p .git/modules && cp -r n/.git .git/modules/sub && mkdir sub && echo 'gitdir: ../.git/modules/sub' >sub/.git");
    const files = ["n/.git/hooks/update", ".git/modules/sub/hooks/update", "b/hooks/update", "wt/.git", "sub/.git", "b/config"];
    expect(await contained(`for f in ${files.join(" ")}; do echo evil >>$f; done`)).toMatch(/^(.*Read-only file system\n){6}$/);
    expect(await contained("mv .git/modules m; mv b b2; mv n/.git n/g; mv sub/.git s")).toMatch(/(.*busy\n){4}/);
  });

  it("cannot change or replace what editors, CI and agents run, nor the folders on the way there", async () => {
    const { told, contained } = room();
    await told("mkdir -p .github/workflows .vscode sub/.husky && tee AGENTS.md .envrc .github/workflows/ci.yml .vscode/tasks.json <<<x");
    await told("mkdir rules && echo x >rules/all && ln -s rules/all .cursorrules");
    const files = ["AGENTS.md", ".envrc", ".github/workflows/new.yml", ".vscode/tasks.json", "sub/.husky/pre-commit", "rules/all"];
    expect(await contained(`for f in ${files.join(" ")}; do echo evil >$f; done`)).toMatch(/^(.*Read-only file system\n){6}$/);
    expect(await contained("rm -f AGENTS.md; mv .github g; mv .vscode v; echo 1 >.github/other && cat .github/other")).toMatch(
      /(.*busy\n){3}1\n$/,
    );
  });

  it("is told of what is new all the same", async () => {
    const { run } = room();
    const { noticed } = await run("git init -q sub && cp /bin/true sub/.git/hooks/pre-commit && echo x >AGENTS.md");
    expect(noticed).toEqual(["new nested repository with hooks: sub/.git", "AGENTS.md is new (coding agents follow it)"]);
  });

  it("cannot change what a hook is a link to, nor hide in a folder that is closed", async () => {
    const { told, contained } = room();
    await told(`${REPOSITORY} && mkdir ci && echo 1 >ci/check.sh && chmod +x ci/check.sh && ln -s ../../ci/check.sh .git/hooks/pre-commit`);
    await told("mkdir -p shut/.git/hooks && chmod 0 shut");
    expect(await contained("echo evil >>ci/check.sh")).toMatch(READ_ONLY);
    expect(await contained("chmod 755 shut")).toMatch(READ_ONLY);
    await told("chmod 755 shut");
  });

  it.each([
    [".git", "mkdir elsewhere && git init -q elsewhere && ln -s elsewhere/.git .git", "elsewhere/.git"],
    [".git/hooks", "git init -q . && mv .git/hooks hooks && ln -s ../hooks .git/hooks", "../hooks"],
    [".git/config", "git init -q . && mv .git/config config && ln -s ../config .git/config", "../config"],
    ["sub/.git/hooks", "git init -q sub && rm -r sub/.git/hooks && ln -s /home/agent/.ssh sub/.git/hooks", "/home/agent/.ssh"],
  ])("does not start where %s is a link", async (link, make, target) => {
    const { told, run } = room();
    await told(make);
    const { how, why } = await run("touch started");
    expect(how).toBe("refused");
    expect(why).toContain(`${link} is a link to ${target}, so it cannot be kept from the command`);
    expect(await told("test ! -e started && rm -rf .git sub")).toEqual([]);
    expect(await run("touch started")).toMatchObject({ how: "exited", exit: 0 });
  });

  it("does not start where a repository has a name that cannot be mounted", async () => {
    const { told, run } = room();
    await told("d=$'\\xff'; mkdir $d && git init -q $d");
    expect((await run("true")).why).toContain("\\xff/.git/config cannot be kept from the command, because of its name");
  });

  it("gets odd names right", async () => {
    const { told, contained } = room();
    await told(`d=$'a\\nb "$(touch no)'; mkdir "$d" && git init -q "$d" && git -C "$d" config core.hooksPath 'x]$(touch no)'`);
    expect(await contained('for d in */; do echo evil >"$d/.git/hooks/update"; done; ls')).toMatch(READ_ONLY);
    expect(await told("test ! -e no")).toEqual([]);
  });
});
