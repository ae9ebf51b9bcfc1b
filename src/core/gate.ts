import { LIMITS } from "../limits.ts";
import type { Reason } from "./entry.ts";
import { ask, HIDDEN, type Finding, ODD_BLANK, type Walk } from "./gate/finding.ts";
import { innerScript, walkText } from "./gate/walk.ts";
import type { Judgement, Place } from "./ports.ts";

/** A card holds no more reasons than a person reads. */
const MOST_REASONS = 8;
/** These are told first, and never crowded out by the rest. */
const GRAVE = ["unreadable", "too-long", "unparsed", "outside", "secrets", "network", "delete", "install", "perms", "history", "process"];
/** The longest line that is judged has about 20,000 parts; what needs more repeats itself without end. */
const MOST_PARTS = 24_000;

/**
 * What may happen with a command line: `auto` runs by itself, `ask` waits for a person, `deny` never runs. The
 * strictest part of the line decides, and whatever is not understood asks. Pure, apart from the place's
 * `realpath`; never throws. First form: both postures judge the same.
 */
export function judge(command: string, place: Place): Judgement {
  const findings: Finding[] = [];
  const add = (finding: Finding): void => void findings.push(finding);
  const walk: Walk = { place, add, cwds: [place.cwd], depth: 0, budget: { left: MOST_PARTS }, piped: null, script: innerScript };
  if (HIDDEN.test(command)) ask(walk, "unreadable", "the line contains characters that cannot be seen or that turn the text around");
  if (bytesOf(command) > LIMITS.gateBytes) {
    ask(walk, "too-long", `the line is longer than the ${LIMITS.gateBytes} bytes that are judged`);
  } else if (/^\s*$/.test(command)) {
    ask(walk, "unknown", "the line contains no command");
  } else {
    look(command, walk);
  }
  if (findings.length > 0 && ODD_BLANK.test(command))
    ask(walk, "unreadable", "the line contains blanks that bash does not take for blanks");
  return judgementOf(findings);
}

function look(command: string, walk: Walk): void {
  try {
    walkText(command, walk);
  } catch {
    // Too many parts, or the parser met what it was not made for, such as too deep a nesting: that asks too.
    ask(walk, "unparsed", "the line is too intricate to be judged");
  }
}

function judgementOf(findings: Finding[]): Judgement {
  const denied = findings.filter((one) => one.verdict === "deny");
  const kept = denied.length > 0 ? denied : findings;
  const reasons = new Map<string, Reason>();
  for (const { code, text } of kept) reasons.set(`${code} ${text}`, { code, text });
  const first = kept[0];
  if (first === undefined) return { verdict: "auto", reasons: [], rule: "read-only" };
  const rule = denied.length > 0 ? `refused/${first.code}` : `ask/${first.code}`;
  return { verdict: first.verdict, reasons: shortened([...reasons.values()]), rule };
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
