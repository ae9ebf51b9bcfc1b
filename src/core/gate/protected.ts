import { runsByItself } from "../autorun.ts";
import { within } from "./paths.ts";

/** Everything below it, also what git only keeps there: no command but git's own has to write to it. */
const GIT = /(?:^|\/)\.git(?:\/|$)/;
/** Files that the shells and tools of whoever works in the folder read when they start. */
const START_UP =
  /(?:^|\/)\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|inputrc|gitconfig|pypirc|curlrc|wgetrc|netrc|tmux\.conf|screenrc|tool-versions|deckhand)(?:\/|$)|(?:^|\/)(?:pip\.conf|deckhand\.ya?ml)$/;

/** Files whose text a build or a test run takes as its instructions. */
const RECIPE =
  /(?:^|\/)(?:package\.json|[Mm]akefile|GNUmakefile|[\w.-]+\.mk|CMakeLists\.txt|[\w.-]+\.cmake|build\.(?:gradle|sbt|xml|rs|zig|ninja)(?:\.kts)?|settings\.gradle(?:\.kts)?|pom\.xml|Rakefile|Gemfile|[\w.-]+\.gemspec|setup\.(?:py|cfg)|pyproject\.toml|conftest\.py|tox\.ini|noxfile\.py|pytest\.ini|[Jj]ustfile|Taskfile\.ya?ml|composer\.json|Cargo\.toml|go\.mod|deno\.jsonc?|bunfig\.toml|turbo\.json|nx\.json|project\.json|[\w.-]+\.(?:csproj|fsproj|props|targets)|mix\.exs|Dockerfile|gulpfile\.\w+|Gruntfile\.\w+|[\w.-]+\.config\.\w+|\.\w+rc(?:\.\w+)?|\.mocharc\.\w+|binding\.gyp)$/;

/** Why writing there asks: something runs what stands there by itself. Null when nothing does. Absolute, normalised. */
export function ranLater(path: string, workspace: string, glob: boolean): string | null {
  const inner = within(path, workspace) ? path.slice(workspace.length) : path;
  // A pattern that begins with a dot may meet any of them.
  if (glob && /(?:^|\/)\.(?:git)?[^/]*[*?[]/.test(inner)) return "may meet files that run by themselves later";
  if (GIT.test(inner)) return "is part of git's own files: what is in there runs with the next git command";
  if (START_UP.test(inner)) return "is read by itself at the next start of a program";
  const who = runsByItself(inner);
  return who === null ? null : `runs by itself later: ${who}`;
}

export function isRecipe(path: string): boolean {
  return RECIPE.test(path);
}
