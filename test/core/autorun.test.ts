import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LISTED_PATHS, listed, runsByItself } from "../../src/core/autorun.ts";

describe("files that run by themselves", () => {
  it.each([
    [".git/hooks/pre-commit", "git runs it"],
    ["sub/.git/hooks", "git runs it"],
    [".git/modules/libs/sub/hooks/post-checkout", "git runs it"],
    ["mirror.git/hooks/update", "git runs it"],
    ["hooks/.git/config", "git reads from it what to start"],
    [".git/config", "git reads from it what to start"],
    [".git/worktrees/wt/config.worktree", "git reads from it what to start"],
    [".git/info/attributes", "git reads from it what to start"],
    [".husky/pre-push", "git's hooks run it"],
    [".pre-commit-config.yaml", "git's hooks run it"],
    [".gitattributes", "git reads from it what to start or to fetch"],
    ["deep/down/.envrc", "a shell that enters the folder runs it"],
    [".vscode/tasks.json", "an editor that opens the folder follows it"],
    ["app.code-workspace", "an editor that opens the folder follows it"],
    [".github/workflows/ci.yml", "CI runs it"],
    ["azure-pipelines-release.yml", "CI runs it"],
    ["AGENTS.md", "coding agents follow it"],
    ["packages/app/CLAUDE.md", "coding agents follow it"],
    [".claude/settings.local.json", "coding agents follow it"],
    [".aider.conf.yml", "coding agents follow it"],
    [".github/copilot-instructions.md", "coding agents follow it"],
    [".npmrc", "package managers and build tools follow it"],
    ["sitecustomize.py", "an interpreter or debugger that starts in the folder runs it"],
  ])("%s: %s", (path, why) => {
    expect(runsByItself(path)).toBe(why);
  });

  it.each(["./.vscode/", ".vscode//settings.json", "a/./.envrc", ".husky/"])("however it is written: %s", (path) => {
    expect(runsByItself(path)).not.toBeNull();
  });

  it.each([".git", "sub/.git", ".github", ".cargo", ".config"])("the folder on the way there: %s", (path) => {
    expect(runsByItself(path)).not.toBeNull();
    expect(listed(path)).toBeNull();
  });

  it.each([
    "src/main.ts",
    "package.json",
    "Makefile",
    ".env",
    "src/hooks/use-it.ts",
    ".git/index",
    ".git/refs/heads/config-2",
    ".github/ISSUE_TEMPLATE.md",
    "docs/AGENTS.md.txt",
    "xAGENTS.md",
    "my.vscode/tasks.json",
    "legit/config",
    "",
    ".",
  ])("not what somebody has to start, nor what is only called alike: %s", (path) => {
    expect(runsByItself(path)).toBeNull();
  });

  it("what packages brought along counts only where it is a repository of its own", () => {
    expect(runsByItself("node_modules/pkg/.npmrc")).toBeNull();
    expect(runsByItself("node_modules/pkg/.github/workflows/ci.yml")).toBeNull();
    expect(runsByItself("node_modules/pkg/.git/hooks/pre-commit")).toBe("git runs it");
  });

  it("a name over several lines hides nothing", () => {
    expect(runsByItself("a\nb/.envrc")).not.toBeNull();
    expect(runsByItself("a\n/.git/hooks/pre-commit\n")).toBe("git runs it");
  });

  it("the expression that find gets matches what the functions match", () => {
    const whole = new RegExp(`^(.*/)?(${LISTED_PATHS})$`, "s");
    const name = fc.constantFrom(
      ".github",
      "workflows",
      ".envrc",
      ".vscode",
      "a",
      "AGENTS.md",
      ".cargo",
      "config.toml",
      ".aider.x",
      "actions",
    );
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (names) => {
        const path = names.join("/");
        expect(whole.test(path)).toBe(runsByItself(path) !== null);
        if (listed(path) !== null) expect(runsByItself(path)).not.toBeNull();
      }),
    );
  });
});
