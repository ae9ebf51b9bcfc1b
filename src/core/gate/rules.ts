import { judge, readLine } from "../gate.ts";
import type { Place } from "../ports.ts";
import type { Arg } from "./args.ts";
import { isLauncher } from "./launchers.ts";
import { type Rule, SETTLED } from "./rule.ts";
import { isShell } from "./shells.ts";

/** Programs that run whatever they are given: a rule for them would be a rule for everything. */
const RUNNERS =
  /^(?:python[\d.]*|pypy3?|node|nodejs|deno|bun|ruby|perl|php|lua|luajit|awk|gawk|sed|tclsh|Rscript|R|julia|elixir|iex|ghci|osascript|expect|eval|exec|source|\.|find|fd|make|gmake|ssh|docker|podman|npx|bunx|uvx|pnpx|tsx|ts-node|vim?|nvim|emacs|tmux|screen|java|psql|mysql|sqlite3|redis-cli|mongosh|git|npm|yarn|pnpm|cargo|go|kubectl|helm|terraform|gh|aws|gcloud|az|pip3?|uv|poetry|bundle|composer|dotnet|mvn|gradle)$/;
/** How many words of a command say what it does; `npm run` needs the script too. */
const WORDS: [pattern: RegExp, words: number][] = [
  [
    /^(?:npm|pnpm|yarn|bun) (?:run|run-script|exec|dlx)$|^(?:docker|podman) (?:compose|image|container|volume|network|buildx)$|^(?:kubectl|gh|aws|gcloud|az|go mod|go tool|uv pip|git (?:remote|stash|submodule|bisect|config|worktree)|helm repo|cargo xtask|bundle exec|composer run|poetry run|uv run|php artisan)$/,
    3,
  ],
  [
    /^(?:docker-compose|git|npm|pnpm|yarn|bun|cargo|go|docker|podman|helm|terraform|pip3?|uv|poetry|bundle|composer|dotnet|mvn|gradle|\.\/gradlew|\.\/mvnw|make|gmake|just|rake|systemctl|service|brew|apt|apt-get)$/,
    2,
  ],
];
const MOST_WORDS = 12;

export interface RuleProblem {
  rule: string;
  text: string;
}

/** Tries the examples of every rule; an empty list means that all of them hold. */
export function checkRules(rules: Rule[], place: Place): RuleProblem[] {
  const problems: RuleProblem[] = [];
  const names = new Set<string>();
  for (const rule of rules) {
    const say = (text: string): void => void problems.push({ rule: rule.name, text });
    if (names.has(rule.name)) say("has the name of another rule");
    names.add(rule.name);
    if (rule.pattern.length === 0 || rule.pattern.some((token) => token.length === 0)) say("has an empty pattern");
    if (rule.match.length === 0) say("needs an example that it matches");
    const alone = { ...place, rules: [rule] };
    for (const line of rule.match) if (!decides(rule, line, alone)) say(`does not decide its own example: ${line}`);
    for (const line of rule.not_match) if (decides(rule, line, alone)) say(`decides a line that it must not: ${line}`);
  }
  return problems;
}

function decides(rule: Rule, line: string, place: Place): boolean {
  if (rule.decision === "auto") return judge(line, place).verdict === "auto" && readLine(line, place).matched.includes(rule.name);
  return readLine(line, place).findings.some((one) => one.code === "rule" && one.rule === rule.name);
}

/**
 * The narrowest useful rule that "always" on the card of this line would store; null where none may be offered: for
 * what is refused, what cannot be read, what is started by something else, and programs that run anything.
 */
export function proposeRule(line: string, place: Place): Rule | null {
  const { findings, lowered } = readLine(line, place);
  if (findings.length === 0 || findings.some((one) => one.verdict === "deny" || !SETTLED.has(one.code))) return null;
  const asked = new Set(findings.map((one) => one.command));
  const [only] = asked;
  const command = only === undefined ? undefined : lowered[only];
  if (asked.size !== 1 || command === undefined || command.inner) return null;
  const words = prefixOf(command.argv);
  if (words === null) return null;
  const rule: Rule = { name: words.join(" "), pattern: words, decision: "auto", match: [line], not_match: [] };
  return judge(line, { ...place, rules: [...(place.rules ?? []), rule] }).verdict === "auto" ? rule : null;
}

/** The words that say what a command does, without those that only say on what. */
function prefixOf(argv: Arg[]): string[] | null {
  if (!argv.every((arg) => arg.literal && arg.glob < 0 && !arg.tilde)) return null;
  const words = argv.map((arg) => arg.value);
  const [name = ""] = words;
  if (name === "" || isShell(name) || isLauncher(name) || words.length > MOST_WORDS) return null;
  let count = words.length;
  for (const [pattern, many] of WORDS) {
    if (pattern.test(words.slice(0, many - 1).join(" "))) {
      count = many;
      break;
    }
  }
  const prefix = words.slice(0, count);
  if (prefix.length < count || (prefix.length === 1 && RUNNERS.test(name))) return null;
  // An option in front of what it does would let everything behind it through.
  if (count < words.length && prefix.slice(1).some((word) => word.startsWith("-"))) return null;
  return RUNNERS.test(name) && !hasWords(name) ? null : prefix;
}

function hasWords(name: string): boolean {
  return WORDS.some(([pattern]) => pattern.test(name));
}

/** Those of some lines that ask without the rule and would run by themselves with it. */
export function wouldLetThrough(rule: Rule, lines: string[], place: Place): string[] {
  const before = { ...place, rules: (place.rules ?? []).filter((one) => one.name !== rule.name) };
  const after = { ...place, rules: [...before.rules, rule] };
  return lines.filter((line) => judge(line, before).verdict === "ask" && judge(line, after).verdict === "auto");
}
