import { LIMITS } from "../limits.ts";
import type { Reason } from "./entry.ts";
import { ask, type Finding, type Gathered, HIDDEN, type Lowered, ODD_BLANK, type Walk } from "./gate/finding.ts";
import { grantsOf } from "./gate/grants-from.ts";
import { covers, type Rule, ruleFor, SETTLED } from "./gate/rule.ts";
import { newScope } from "./gate/scope.ts";
import { WALKERS, walkText } from "./gate/walk.ts";
import type { Judgement, Place } from "./ports.ts";

/** A card holds no more reasons than a person reads. */
const MOST_REASONS = 8;
/** These are told first, and never crowded out by the rest. */
const GRAVE = [
  "unreadable",
  "too-long",
  "unparsed",
  "outside",
  "secrets",
  "service",
  "network",
  "delete",
  "install",
  "later",
  "perms",
  "history",
  "process",
];
/** A script of 16 kB has about 3,000 parts; what has far more repeats itself without end. */
const MOST_PARTS = 9_000;
/** Looks into the file system for one line. */
const MOST_LOOKS = 64;
/**
 * What a proved sandbox without network contains: whatever such a part does, it does inside of the workspace, to files
 * that nothing runs by itself later, and it ends with the command.
 */
const CONTAINED = new Set(["dynamic", "interp", "arith", "builtin", "env", "unknown"]);

/** A line as it was read: what it starts, and what speaks against that. */
export interface Reading {
  findings: Finding[];
  lowered: Lowered[];
  changes: boolean;
  /** Files that the line writes by name, absolute. */
  written: Set<string>;
  /** Names of the rules that decided something. */
  matched: string[];
  /** What the parts that a rule lets pass need. */
  granted: Finding[];
}

/**
 * What may happen with a command line: `auto` runs by itself, `ask` waits for a person, `deny` never runs. The
 * strictest part of the line decides, and whatever is not understood asks. Pure, apart from the place's
 * `realpath`; never throws.
 */
export function judge(command: string, place: Place): Judgement {
  return judgementOf(readLine(command, place), place.posture);
}

/** Lowers a line to its commands and collects what speaks against each. Never throws. */
export function readLine(command: string, place: Place): Reading {
  const seen: Gathered = {
    findings: [],
    lowered: [],
    changes: false,
    recipes: new Set(),
    written: new Set(),
    texts: new Map(),
    runs: new Set(),
    left: MOST_PARTS,
    looks: MOST_LOOKS,
    real: new Map(),
    linked: false,
  };
  const walk: Walk = {
    ...WALKERS,
    place,
    seen,
    scope: newScope(place.cwd),
    depth: 0,
    calls: [],
    piped: null,
    command: -1,
    refusalsOnly: false,
  };
  if (HIDDEN.test(command)) ask(walk, "unreadable", "the line contains characters that cannot be seen or that turn the text around");
  if (bytesOf(command) > LIMITS.gateBytes) {
    ask(walk, "too-long", `the line is longer than the ${LIMITS.gateBytes} bytes that are judged`);
  } else if (/^\s*$/.test(command)) {
    ask(walk, "unknown", "the line contains no command");
  } else {
    look(command, walk);
  }
  if (seen.findings.length > 0 && ODD_BLANK.test(command))
    ask(walk, "unreadable", "the line contains blanks that bash does not take for blanks");
  return { ...seen, ...ruled(seen.findings, seen.lowered, place.rules ?? []) };
}

/** Rules of this place: deny and ask add their reason, auto takes away those that a person may settle for good. */
function ruled(findings: Finding[], lowered: Lowered[], rules: Rule[]): Pick<Reading, "findings" | "matched" | "granted"> {
  if (rules.length === 0) return { findings, matched: [], granted: [] };
  const settled = new Set<number>();
  const matched: string[] = [];
  const added: Finding[] = [];
  for (const [command, { argv }] of lowered.entries()) {
    const rule = ruleFor(
      rules,
      argv.map((arg) => arg.value),
    );
    if (rule === null) continue;
    const text = rule.reason ?? `the rule "${rule.name}" says so`;
    if (rule.decision !== "auto") added.push({ verdict: rule.decision, code: "rule", text, command, rule: rule.name });
    else if (
      covers(
        rule,
        argv.map((arg) => arg.value),
      ) &&
      argv.every((arg) => arg.literal && arg.glob < 0 && !arg.tilde)
    )
      settled.add(command);
    else continue;
    matched.push(rule.name);
  }
  const isSettled = (one: Finding): boolean => one.verdict === "ask" && settled.has(one.command) && SETTLED.has(one.code);
  return { findings: [...findings.filter((one) => !isSettled(one)), ...added], matched, granted: findings.filter(isSettled) };
}

function look(command: string, walk: Walk): void {
  try {
    walkText(command, walk);
  } catch {
    // Too many parts, or the parser met what it was not made for, such as too deep a nesting: that asks too.
    ask(walk, "unparsed", "the line is too intricate to be judged");
  }
  const { recipes, runs } = walk.seen;
  const [recipe] = recipes;
  const [run] = runs;
  if (recipe !== undefined && run !== undefined) {
    ask(walk, "later", `the line changes \`${recipe.slice(0, 60)}\` and runs what stands in it with \`${run}\``);
  }
  if (walk.seen.looks < 0) ask(walk, "too-long", "the line names more files than are looked up");
}

function judgementOf({ findings, lowered, changes, matched, granted }: Reading, posture: Place["posture"]): Judgement {
  const denied = findings.filter((one) => one.verdict === "deny");
  const kept = denied.length > 0 ? denied : findings;
  const texts = new Map<string, Reason>();
  for (const { code, text } of kept) texts.set(`${code} ${text}`, { code, text });
  const reasons = shortened([...texts.values()]);
  const first = kept[0];
  if (first !== undefined && denied.length > 0) return { verdict: "deny", reasons, rule: ruleName("refused", first) };
  const grants = grantsOf([...findings, ...granted], lowered);
  const more = { ...(changes ? {} : { reads: true }), ...(grants.length > 0 ? { grants } : {}) };
  if (first === undefined) return { verdict: "auto", reasons, rule: matched[0] ?? (changes ? "workspace" : "read-only"), ...more };
  if (posture === "contained" && kept.every((one) => CONTAINED.has(one.code))) {
    return { verdict: "auto", reasons, rule: `contained/${first.code}`, ...more };
  }
  return { verdict: "ask", reasons, rule: ruleName("ask", first), ...(grants.length > 0 ? { grants } : {}) };
}

function ruleName(kind: string, { code, rule }: Finding): string {
  return rule ?? `${kind}/${code}`;
}

function shortened(reasons: Reason[]): Reason[] {
  const rank = ({ code }: Reason): number => (GRAVE.includes(code) ? GRAVE.indexOf(code) : GRAVE.length);
  const sorted = reasons.toSorted((one, other) => rank(one) - rank(other));
  if (sorted.length <= MOST_REASONS) return sorted;
  const left = sorted.length - MOST_REASONS + 1;
  return [...sorted.slice(0, MOST_REASONS - 1), { code: "more", text: `and ${left} more reasons that do not fit here` }];
}

/** UTF-8 bytes; long lines are not encoded to find out. */
function bytesOf(text: string): number {
  return text.length > LIMITS.gateBytes ? text.length : new TextEncoder().encode(text).length;
}
