import { describe, expect, it } from "vitest";
import { REPOSITORY, room } from "./inspect-kit.ts";

const HOOK = "echo 'echo hi' >";

describe("what a command left that runs by itself is told: hooks", () => {
  it("a new one, one that changed, one that became a program; samples and plain files are not", async () => {
    const { told } = room();
    await told(`${REPOSITORY} && ${HOOK} .git/hooks/pre-commit`);
    expect(await told(`${HOOK} .git/hooks/pre-push.sample && chmod +x .git/hooks/pre-push.sample && ${HOOK} .git/hooks/update`)).toEqual(
      [],
    );
    expect(await told("chmod +x .git/hooks/pre-commit")).toEqual(["new hook: .git/hooks/pre-commit"]);
    expect(await told("echo evil >>.git/hooks/pre-commit")).toEqual(["changed hook: .git/hooks/pre-commit"]);
    expect(await told("touch .git/hooks/pre-commit && rm .git/hooks/update")).toEqual([]);
  });

  it("of a repository that came along, and of one that only looks like a folder", async () => {
    const { told } = room();
    expect(await told("git init -q --template= plain && git init -q --bare --template= bare")).toEqual([]);
    expect(
      await told("mkdir plain/.git/hooks bare/hooks; cp /bin/true plain/.git/hooks/pre-commit; cp /bin/true bare/hooks/update"),
    ).toEqual(["new hook: bare/hooks/update", "new hook: plain/.git/hooks/pre-commit"]);
    expect(await told("mkdir deep && cp -r plain deep/sub && cp -r plain/.git .")).toEqual([
      "new repository with hooks: .git",
      "new nested repository with hooks: deep/sub/.git",
    ]);
  });

  it("in a folder that a configuration names, also one that is taken in or is of a work tree", async () => {
    const { told } = room();
    await told(`${REPOSITORY} && git worktree add -q wt && mkdir scripts wt/scripts && cp /bin/true scripts/build.sh`);
    expect(await told("printf '[core]\\nhooksPath = scripts' >settings && git config include.path ../settings")).toEqual([
      "settings now runs something: core.hookspath=scripts",
      ".git/config now takes in another file: include.path=../settings",
    ]);
    expect(await told("cp /bin/true scripts/pre-commit; cp /bin/true wt/scripts/pre-push; cp /bin/true scripts/test.sh")).toEqual([
      "new hook: scripts/pre-commit",
      "new hook: wt/scripts/pre-push",
    ]);
  });

  it("one that is a link: told when what it leads to changes", async () => {
    const { told } = room();
    await told(`${REPOSITORY} && mkdir ci && ${HOOK} ci/check.sh && chmod +x ci/check.sh`);
    expect(await told("ln -s ../../ci/check.sh .git/hooks/pre-commit")).toEqual(["new hook: .git/hooks/pre-commit"]);
    expect(await told("echo evil >>ci/check.sh")).toEqual(["changed hook: .git/hooks/pre-commit"]);
  });
});

describe("what a command left that runs by itself is told: configuration", () => {
  it("keys that run something, and no others", async () => {
    const { told } = room();
    await told(REPOSITORY);
    expect(await told("git config core.pager less; git config user.name b; git config core.fsmonitor false")).toEqual([
      ".git/config now runs something: core.pager=less",
    ]);
    expect(await told("git config user.name c; git remote add origin https://example.com/a")).toEqual([]);
    expect(await told("git config url.https://me:hunter22@evil.example/.insteadOf https://example.com/")).toEqual([
      ".git/config now leads git elsewhere: url.https://...@evil.example/.insteadof=https://example.com/",
    ]);
  });

  it("also where only a work tree or a submodule has it, and one that git cannot read", async () => {
    const { told } = room();
    await told(`${REPOSITORY} && git worktree add -q wt && git init -q sub && mkdir .git/modules && mv sub/.git .git/modules/sub`);
    expect(await told("git config extensions.worktreeConfig true && git -C wt config --worktree core.editor evil")).toEqual([
      ".git/worktrees/wt/config.worktree now runs something: core.editor=evil",
    ]);
    expect(await told("echo 'gitdir: ../.git/modules/sub' >sub/.git && git -C sub config core.worktree ../../../sub")).toEqual([]);
    expect(await told("git -C sub config core.askPass evil")).toEqual([".git/modules/sub/config now runs something: core.askpass=evil"]);
    expect(await told("echo '[broken' >>.git/config")).toEqual([".git/config changed (git reads from it what to start)"]);
  });

  it("a value of many lines, colours and characters that hide is one short line", async () => {
    const { told } = room();
    await told(REPOSITORY);
    const [line = "", ...more] = await told(`git config core.pager $'a\\n\\e[31mb\\u202e${"x".repeat(500)}'`);
    expect(more).toEqual([]);
    expect(line).toMatch(/^\.git\/config now runs something: core\.pager=a⟨U\+000A⟩⟨U\+001B⟩\[31mb⟨U\+202E⟩x+\.\.\.x+$/);
    expect(line.length).toBeLessThan(160);
  });

  it("a .git that leads out of the workspace, and folders of git that became links", async () => {
    const { told } = room();
    await told(`mkdir sub other && ${REPOSITORY}`);
    expect(await told("echo 'gitdir: /tmp/evil' >sub/.git; echo \"gitdir: $PWD/.git\" >other/.git")).toEqual([
      "sub/.git now leads to /tmp/evil",
    ]);
    expect(await told("mv .git/hooks h && ln -s /tmp/hooks .git/hooks && mkdir n && ln -s /tmp/evil n/.git")).toEqual([
      ".git/hooks is now a link to /tmp/hooks (git reads from it what to start)",
      "n/.git is now a link to /tmp/evil (git reads from it what to start)",
    ]);
  });
});

describe("what a command left that runs by itself is told: files", () => {
  it("new ones, changed ones, and links, with who runs them", async () => {
    const { told } = room();
    expect(await told("mkdir -p .github/workflows && echo 1 >.github/workflows/ci.yml && echo 1 >rules && ln -s rules AGENTS.md")).toEqual([
      "AGENTS.md is now a link to rules (coding agents follow it)",
      "rules is new (coding agents follow it)",
      ".github/workflows/ci.yml is new (CI runs it)",
    ]);
    expect(await told("echo 2 >.github/workflows/ci.yml; echo 2 >rules")).toEqual([
      "rules changed (coding agents follow it)",
      ".github/workflows/ci.yml changed (CI runs it)",
    ]);
    expect(await told("ln -sf /etc/shadow AGENTS.md")).toEqual(["AGENTS.md is now a link to /etc/shadow (coding agents follow it)"]);
  });

  it("what a folder leads to that is listed is looked into", async () => {
    const { told } = room();
    await told("mkdir -p ai/claude/agents && ln -s ai/claude .claude");
    expect(await told("echo 1 >ai/claude/settings.json; echo 1 >ai/other")).toEqual([
      "ai/claude/settings.json is new (coding agents follow it)",
    ]);
  });

  it("not ordinary work", async () => {
    const { told } = room();
    await told(REPOSITORY);
    const work = ["echo 2 >a", "git commit -qam two", "git checkout -qb b", "git stash -q || true", "git gc -q", "git worktree add -q wt"];
    const files = [
      "echo >package.json",
      "mkdir -p node_modules/x/.vscode src/hooks",
      "echo >node_modules/x/.npmrc",
      "cp /bin/true src/hooks/use",
    ];
    expect(await told([...work, ...files].join(" && "))).toEqual([]);
  });

  it("names over several lines, in colour, or of no encoding forge nothing", async () => {
    const { told } = room();
    expect(await told("d=$'x\\nnew hook: y\\e[0m'; mkdir \"$d\" $'\\xff\\xfe'; echo >\"$d/.envrc\"; echo >$'\\xff\\xfe/.envrc'")).toEqual([
      "\\xff\\xfe/.envrc is new (a shell that enters the folder runs it)",
      "x⟨U+000A⟩new hook: y⟨U+001B⟩[0m/.envrc is new (a shell that enters the folder runs it)",
    ]);
  });

  it("ten of many, hooks first, and how many more", async () => {
    const { told } = room();
    await told(REPOSITORY);
    const lines = await told("for n in {1..30}; do mkdir d$n; echo >d$n/.envrc; done; cp /bin/true .git/hooks/pre-push");
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe("new hook: .git/hooks/pre-push");
    expect(lines[10]).toBe("and 21 more");
  });

  it("a folder that was closed to hide what is in it", async () => {
    const { told } = room();
    expect(await told("mkdir -p sub/.git/hooks && cp /bin/true sub/.git/hooks/pre-commit && chmod 0 sub")).toEqual([
      "new folder that cannot be looked into: sub",
    ]);
    expect(await told("chmod 755 sub")).toEqual(["new nested repository with hooks: sub/.git"]);
  });
});
