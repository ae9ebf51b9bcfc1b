import { LIMITS } from "../limits.ts";
import type { Always, Entry, Person } from "./entry.ts";
import type { Rule } from "./gate/rule.ts";
import { proposeRule } from "./gate/rules.ts";
import type { Hands } from "./hands.ts";
import { type Found, judgeAct, type RuledPlace } from "./judging.ts";
import type { JudgedCommand, StandingRule } from "./rules.ts";
import { visible } from "./visible.ts";

/** Where the call asks, and what its approval would give. */
interface Asking {
  workspace: string;
  place: RuledPlace;
  grants: string[];
  /** The newest commands of the workspace. */
  recent: JudgedCommand[];
}

/**
 * What "always" on the card of this call would store; null where it is not offered: the gate proposes no rule, the card
 * could not show all of it, or the command would ask all the same.
 */
export function offerAlways(found: Found, { workspace, place, grants, recent }: Asking, { redact }: Pick<Hands, "redact">): Always | null {
  const line = found.act.title;
  if (visible(line).length > LIMITS.cardCommand) return null;
  const proposed = proposeRule(line, place);
  if (proposed === null) return null;
  const rule: StandingRule = { ...proposed, name: `${workspace}: ${rulePattern(proposed)}`, scope: { workspace }, grants };
  const words = rulePattern(rule);
  if (words.length > LIMITS.ruleWords || visible(words) !== words || redact(words) !== words) return null;
  const after = { ...place, rules: [...place.rules, rule] };
  if (judgeAct(found, after).verdict !== "auto") return null;
  const others = recent.filter((one) => one.command !== line);
  const through = others.filter(({ command, cwd }) => {
    const other = { ...found, act: { ...found.act, title: command } };
    return judgeAct(other, { ...place, cwd }).verdict === "ask" && judgeAct(other, { ...after, cwd }).verdict === "auto";
  });
  const different = [...new Set(through.map(({ command }) => shortened(redact(command))))];
  return { rule, looked: recent.length, through: different.length, lines: different.slice(0, LIMITS.cardThrough) };
}

/** The rule that a press stores: with its owner, its time and its end. Null when the end is over. */
export function storedRule({ rule }: Always, chosen: Entry<"choice">, by: Person, now: number): StandingRule | null {
  const expires = ruleEnd(chosen);
  return now < expires ? { ...rule, owner: `${by.name} (${by.key})`, since: now, expires } : null;
}

/** When the rule will end that was shown by this press. */
export function ruleEnd(chosen: Entry<"choice">): number {
  return chosen.at + LIMITS.ruleTime;
}

/** The words of a rule as one line that can mean nothing else; alternatives as `(push|fetch)`. */
export function rulePattern({ pattern }: Pick<Rule, "pattern">): string {
  return pattern.map((token) => (typeof token === "string" ? plain(token) : `(${token.map(plain).join("|")})`)).join(" ");
}

function plain(word: string): string {
  return /^[\w@%+=:,./~^-]+$/.test(word) ? word : JSON.stringify(word);
}

function shortened(line: string): string {
  const one = line.replaceAll("\n", " ");
  return one.length > 120 ? `${one.slice(0, 119)}…` : one;
}
