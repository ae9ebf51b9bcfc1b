import { lateAnswer } from "./approval.ts";
import { type Entry, type NewEntry, isEntry } from "./entry.ts";
import type { Inbound } from "./inbound.ts";
import type { Deciding } from "./log.ts";
import { storedRule } from "./offer.ts";

export type Press = Extract<Inbound, { kind: "press" }>;

/** A rule is stored only as the card shows it: after a press on "always", and while its end lies ahead. */
const NO_RULE = { whisper: "This request shows no rule that could be stored. Nothing was changed." };

/** What a press on Approve or Deny means; null for the others. */
export function decisionOf({ by, action, reason }: Press): Deciding | null {
  const decision = { approve: "approved", deny: "denied", always: null, store: null } as const;
  return decision[action] && { decision: decision[action], by, ...(reason ? { reason } : {}) };
}

/** What a press about the rule means by somebody who may press, in time: a look at it, the decision that stores it, or nothing. */
export function ruleOf(
  press: Press,
  asked: Entry<"approval-asked">,
  entries: Entry[],
  now: number,
): Deciding | { choice: NewEntry<"choice"> } | { whisper: string } {
  const { by, action } = press;
  const decided = entries.filter((e) => isEntry(e, "approval-decided")).find((e) => e.approval === asked.approval);
  if (decided) return { whisper: tooLate(press, decided) };
  if (!asked.always) return NO_RULE;
  if (action === "always") return { choice: { type: "choice", parent: asked.seq, of: asked.seq, choice: action, by } };
  const chosen = entries.filter((e) => isEntry(e, "choice")).find((e) => e.of === asked.seq && e.choice === "always");
  const rule = chosen ? storedRule(asked.always, chosen, by, now) : null;
  return rule ? { decision: "approved", by, rule } : NO_RULE;
}

/** The reply to a press can be lost on the way; then its own winner comes here, and this must be true for him too. */
export function tooLate({ by, action }: Press, decided: Entry<"approval-decided">): string {
  const wanted = action === "deny" ? "denied" : "approved";
  if (action === "always" || decided.by?.key !== by.key || decided.decision !== wanted) return lateAnswer(decided);
  const rule = decided.rule ? ` The rule "${decided.rule.name}" is stored.` : action === "store" ? " No rule was stored." : "";
  return `You have already ${wanted} this${wanted === "approved" ? "; it runs once" : ""}.${rule}`;
}
