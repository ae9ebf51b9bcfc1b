/** A rule of the base file or one learned by "always": what is decided of commands that begin with these words. */
export interface Rule {
  /** What people call it; unique. */
  name: string;
  /** Words that the command begins with; several in one place are alternatives: `["git", ["push", "fetch"]]`. */
  pattern: (string | string[])[];
  decision: "auto" | "ask" | "deny";
  /** Shown on cards and to the model. */
  reason?: string;
  /** Where and for whom it holds; all of them must fit. Absent: everywhere. */
  scope?: { workspace?: string; channel?: string; person?: string };
  /** Milliseconds since 1970; from then on it no longer holds. */
  expires?: number;
  /** Lines that it must decide, and lines that it must not; checked when it is loaded. */
  match: string[];
  not_match: string[];
  /** Who stored it, and when; for learned rules. */
  owner?: string;
  since?: number;
}

/** Where a line is judged, as far as rules ask. */
export interface RuleContext {
  workspace: string;
  channel?: string;
  person?: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** The rules that hold here and now. */
export function rulesFor(rules: Rule[], context: RuleContext): Rule[] {
  return rules.filter(({ scope = {}, expires }) => {
    if (expires !== undefined && context.now >= expires) return false;
    if (scope.workspace !== undefined && scope.workspace !== context.workspace) return false;
    if (scope.channel !== undefined && scope.channel !== context.channel) return false;
    return scope.person === undefined || scope.person === context.person;
  });
}

/** Whether a command begins with the words of a rule. */
export function beginsWith(pattern: Rule["pattern"], words: string[]): boolean {
  if (pattern.length === 0 || pattern.length > words.length) return false;
  return pattern.every((token, at) => (typeof token === "string" ? token === words[at] : token.includes(words[at] ?? "")));
}

/** Words that turn a harmless form of a command into another one: a rule that does not name them does not cover them. */
const STRONG =
  /^(?:-f|-D|--force.*|--delete|--hard|--mirror|--prune|--no-verify|--recursive|--(?:receive-pack|upload-pack|exec|eval|script-shell|node-options|config|registry|prefix|global|require|import|proxy|output|ext-diff)(?:=.*)?|-g|\+.+|:.+)$/;

/** Whether an auto rule covers these words: what stands behind its own may not change what the command does. */
export function covers({ pattern }: Rule, words: string[]): boolean {
  return !words.slice(pattern.length).some((word) => STRONG.test(word));
}

const STRICTNESS = { deny: 0, ask: 1, auto: 2 };

/** The strictest rule for a command; null when none is about it. */
export function ruleFor(rules: Rule[], words: string[]): Rule | null {
  const found = rules.filter((rule) => beginsWith(rule.pattern, words));
  return found.toSorted((one, other) => STRICTNESS[one.decision] - STRICTNESS[other.decision])[0] ?? null;
}

/** Codes of reasons that a person may switch off for a command for good. */
export const SETTLED = new Set(["network", "install", "interp", "unknown", "history", "delete", "perms", "process", "service"]);
