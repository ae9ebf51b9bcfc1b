/**
 * Files that later run by themselves: nobody who enters the folder, opens it in an editor, commits or pushes asks for
 * it. What somebody has to start (`package.json`, `Makefile`, `.env`, code and tests) is not here: it runs when it is
 * meant to, and changes all day.
 *
 * `name` is that name in any folder, `name/` everything in it too, `*` any characters but a slash.
 */
const GROUPS: { why: string; paths: string }[] = [
  {
    // The managers of hooks put one line into .git/hooks that reads these.
    why: "git's hooks run it",
    paths:
      ".husky/ .huskyrc* .githooks/ .git-hooks/ .pre-commit-config.yaml lefthook*.yml .lefthook*.yml lefthook*.toml lefthook*.json .lefthook/ .lefthook-local/ .overcommit.yml",
  },
  {
    // .gitattributes picks the filters and converters that somebody's own configuration knows.
    why: "git reads from it what to start or to fetch",
    paths: ".gitattributes .gitmodules .lfsconfig",
  },
  {
    why: "a shell that enters the folder runs it",
    paths: ".envrc mise.toml mise.local.toml .mise.toml .mise.local.toml .mise/ .config/mise.toml .config/mise/",
  },
  {
    // Tasks on opening, paths of the language servers that are started, boxes that are built.
    why: "an editor that opens the folder follows it",
    paths:
      ".vscode/ *.code-workspace .idea/ .fleet/ .zed/ .vim/ .nvim/ .exrc .vimrc .gvimrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .dir-locals-2.el .devcontainer/ .devcontainer.json .gitpod.yml .replit .idx/",
  },
  {
    why: "CI runs it",
    paths:
      ".github/workflows/ .github/actions/ .gitlab-ci.yml .gitlab/ci/ .circleci/ Jenkinsfile Jenkinsfile.* azure-pipelines*.yml azure-pipelines*.yaml .azure-pipelines/ bitbucket-pipelines.yml .travis.yml appveyor.yml .appveyor.yml .drone.yml .woodpecker.yml .woodpecker/ .buildkite/ .teamcity/ .cirrus.yml .semaphore/ .forgejo/workflows/ .gitea/workflows/ .build.yml .builds/ .tekton/ cloudbuild.yml cloudbuild.yaml buildspec.yml",
  },
  {
    // Words that they follow, and commands and servers that they start.
    why: "coding agents follow it",
    paths:
      "AGENTS.md AGENTS.override.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md WARP.md .claude/ .cursor/ .cursorrules .codex/ .gemini/ .qwen/ .agents/ .agent/ .mcp.json .aider* .github/copilot-instructions.md .github/instructions/ .github/prompts/ .github/agents/ .github/chatmodes/ .github/skills/ .github/hooks/ .windsurf/ .windsurfrules .clinerules/ .roo/ .roorules .roomodes .continue/ .continuerules .kiro/ .opencode/ opencode.json opencode.jsonc .goosehints .junie/ .augment/ .augment-guidelines .trae/ .factory/ .openhands/ .amazonq/ .crush/ .crush.json crush.json .rules",
  },
  {
    // Each names a program, a plugin or a registry that any later command of the tool takes, also one that an editor starts.
    why: "package managers and build tools follow it",
    paths:
      ".npmrc .yarnrc .yarnrc.yml .yarn/plugins/ .yarn/releases/ .pnpmfile.cjs bunfig.toml .cargo/config .cargo/config.toml rust-toolchain rust-toolchain.toml .mvn/ .bundle/config .sbtopts .jvmopts",
  },
  {
    // Read at every start in that folder; no project needs them, so they are never noise.
    why: "an interpreter or debugger that starts in the folder runs it",
    paths: "sitecustomize.py usercustomize.py .Rprofile .irbrc .pryrc .pdbrc .gdbinit .lldbinit .ghci .ocamlinit .iex.exs .perldb",
  },
];

/** What was installed there is started by those who installed it; its own repository is another matter. */
const INSTALLED = /(?:^|\/)(?:node_modules|site-packages)\//;

/** In a git folder, and in those of submodules and worktrees in it: the programs, and the parts that name programs. */
const GIT_FOLDER = String.raw`^(.*/)?[^/]*\.git`;
const GIT_HOOK = new RegExp(`${GIT_FOLDER}/(.*/)?hooks(/.*)?$`, "s");
const GIT_PART = new RegExp(`${GIT_FOLDER}(/(.*/)?(config|config\\.worktree|info|info/attributes|commondir))?$`, "s");

const LISTED = GROUPS.map(({ why, paths }) => {
  const words = paths.split(" ");
  return { why, whole: anywhere(words.map(whole)), part: anywhere(words.map(part)) };
});

/**
 * An extended regular expression, the same for JavaScript and POSIX, of how listed paths end; folders on the way to
 * one (`.github`) among them, git's own folders not.
 */
export const LISTED_PATHS = GROUPS.flatMap(({ paths }) => paths.split(" ").map(part)).join("|");

/** One word of the list as an expression: `.github/workflows(/.*)?`. */
function whole(word: string): string {
  const plain = word.replace(/\/$/, "").replaceAll(".", "\\.").replaceAll("*", "[^/]*");
  return word.endsWith("/") ? `${plain}(/.*)?` : plain;
}

/** The same with the folders on the way: `.github(/workflows(/.*)?)?`. */
function part(word: string): string {
  const [first = "", ...rest] = word.split(/\/(?=.)/);
  return rest.length === 0 ? whole(first) : `${whole(first)}(/${part(rest.join("/"))})?`;
}

function anywhere(words: string[]): RegExp {
  return new RegExp(`^(.*/)?(${words.join("|")})$`, "s");
}

/**
 * Whether a path, relative to the workspace, is one that later runs by itself, and who runs it, as the end of a
 * sentence: `CI runs it`. A folder on the way to one (`.github`, `.git`) counts too: who replaces it replaces all.
 */
export function runsByItself(path: string): string | null {
  const parts = path.split("/").filter((name) => name !== "" && name !== ".");
  const plain = parts.join("/");
  if (GIT_HOOK.test(plain)) return "git runs it";
  if (GIT_PART.test(plain)) return "git reads from it what to start";
  return INSTALLED.test(plain) ? null : (LISTED.find((group) => group.part.test(plain))?.why ?? null);
}

/** The same for exactly what is listed: git's own folders and folders on the way do not count. */
export function listed(path: string): string | null {
  return INSTALLED.test(path) ? null : (LISTED.find((group) => group.whole.test(path))?.why ?? null);
}
