import { within } from "./paths.ts";

/** Files and folders of a workspace that somebody's program reads by itself later, and what that means. */
const LATER: { path: RegExp; text: string }[] = [
  { path: /(?:^|\/)\.git(?:\/|$)/, text: "is part of git's own files: what is in there runs with the next git command" },
  {
    path: /(?:^|\/)(?:\.husky|\.githooks|\.hooks|\.lefthook)(?:\/|$)|(?:^|\/)(?:\.?lefthook(?:-local)?\.ya?ml|\.pre-commit-config\.yaml|\.overcommit\.yml|\.gitmodules|\.gitattributes)$/,
    text: "holds hooks, which run with the next commit",
  },
  {
    path: /(?:^|\/)(?:\.github\/(?:workflows|actions)|\.circleci|\.buildkite|\.woodpecker|\.drone|\.gitea|\.forgejo)(?:\/|$)|(?:^|\/)(?:\.gitlab-ci\.ya?ml|\.travis\.yml|\.drone\.yml|\.cirrus\.yml|azure-pipelines\.ya?ml|appveyor\.yml|Jenkinsfile|bitbucket-pipelines\.yml|cloudbuild\.yaml|\.appveyor\.yml)$/,
    text: "tells the CI what to run",
  },
  {
    path: /(?:^|\/)(?:\.claude|\.cursor|\.codex|\.gemini|\.aider|\.continue|\.windsurf|\.roo|\.opencode|\.deckhand|\.agents?)(?:\/|$)|(?:^|\/)(?:AGENTS|CLAUDE|GEMINI)(?:\.local)?\.md$|(?:^|\/)(?:\.mcp\.json|\.cursorrules|\.windsurfrules|\.clinerules|\.aider\.conf\.yml|opencode\.jsonc?|copilot-instructions\.md|deckhand\.ya?ml)$/,
    text: "tells agents what to do",
  },
  {
    path: /(?:^|\/)(?:\.vscode|\.idea|\.devcontainer|\.zed|\.fleet|\.vs)(?:\/|$)|(?:^|\/)(?:\.vimrc|\.nvimrc|\.exrc|\.nvim\.lua|\.dir-locals\.el|\.editorconfig\.js)$/,
    text: "is read by editors, which may run what it says",
  },
  {
    path: /(?:^|\/)(?:\.envrc|\.bashrc|\.bash_profile|\.bash_login|\.bash_logout|\.profile|\.zshrc|\.zshenv|\.zprofile|\.inputrc|\.gitconfig|\.npmrc|\.yarnrc|\.yarnrc\.yml|\.pnpmfile\.cjs|\.pypirc|pip\.conf|\.curlrc|\.wgetrc|\.netrc|\.gdbinit|\.lldbinit|\.tmux\.conf|\.screenrc|\.mise\.toml|mise\.toml|\.tool-versions|\.autoenv|\.direnv)$/,
    text: "is read by itself at the next start of a program",
  },
];

/** Files whose text a build or a test run takes as its instructions. */
const RECIPE =
  /(?:^|\/)(?:package\.json|[Mm]akefile|GNUmakefile|[\w.-]+\.mk|CMakeLists\.txt|[\w.-]+\.cmake|build\.(?:gradle|sbt|xml|rs|zig|ninja)(?:\.kts)?|settings\.gradle(?:\.kts)?|pom\.xml|Rakefile|Gemfile|[\w.-]+\.gemspec|setup\.(?:py|cfg)|pyproject\.toml|conftest\.py|tox\.ini|noxfile\.py|pytest\.ini|[Jj]ustfile|Taskfile\.ya?ml|composer\.json|Cargo\.toml|go\.mod|deno\.jsonc?|bunfig\.toml|turbo\.json|nx\.json|project\.json|[\w.-]+\.(?:csproj|fsproj|props|targets)|mix\.exs|Dockerfile|gulpfile\.\w+|Gruntfile\.\w+|[\w.-]+\.config\.\w+|\.\w+rc(?:\.\w+)?|\.mocharc\.\w+|binding\.gyp)$/;

/** Why writing there asks: something runs what stands there by itself. Null when nothing does. Absolute, normalised. */
export function ranLater(path: string, workspace: string, glob: boolean): string | null {
  const inner = within(path, workspace) ? path.slice(workspace.length) : path;
  // A pattern that begins with a dot may meet any of them.
  if (glob && /(?:^|\/)\.(?:git)?[^/]*[*?[]/.test(inner)) return "may meet files that run by themselves later";
  return LATER.find((one) => one.path.test(inner))?.text ?? null;
}

export function isRecipe(path: string): boolean {
  return RECIPE.test(path);
}
