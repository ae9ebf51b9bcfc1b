import type { Access } from "./access.ts";
import { approversOf, isListed, mayPress } from "./access.ts";
import type { Entry, Person } from "./entry.ts";
import { visible } from "./visible.ts";

/** What an approval is bound to. Change any of it and the approval is for something else. */
export interface Bound {
  command: string;
  cwd: string;
  workspace: string;
  timeoutMs: number;
  env: Record<string, string>;
  sandbox: string;
  grants: string[];
  /** Digest of the rules in force. */
  rules: string;
  /** What the files hold that it runs as code; empty when it runs none. */
  files: string;
}

/** The text whose sha256 is the approval's digest. */
export function boundText(bound: Bound): string {
  const env = Object.entries(bound.env).sort(([a], [b]) => (a < b ? -1 : 1));
  const { command, cwd, workspace, timeoutMs, sandbox, grants, rules, files } = bound;
  return JSON.stringify([command, cwd, workspace, timeoutMs, env, sandbox, grants, rules, files]);
}

/** Null when the person may press, else what they are told. */
export function pressRefusal(
  access: Access,
  person: Person,
  asked: Pick<Entry<"approval-asked">, "workspace" | "approvers">,
): string | null {
  if (mayPress(access, person, asked.workspace, asked.approvers)) return null;
  if (person.kind !== "member" && isListed(access.approvers, { ...person, kind: "member" })) {
    return "Guests and people from other organisations can only decide when they are listed by name. Nothing was changed.";
  }
  if (approversOf(access, asked.workspace).length === 0) {
    return "Nobody may approve commands yet: whoever runs Deckhand has to set DECKHAND_APPROVERS. Nothing was changed.";
  }
  return "You are not on the list of people who may decide this. Nothing was changed.";
}

/** What a click on a decided card is answered with. */
export function lateAnswer(decided: Entry<"approval-decided">): string {
  const who = decided.by ? visible(decided.by.name) : "somebody";
  switch (decided.decision) {
    case "approved":
      return `Already approved by ${who}. Your click changed nothing.`;
    case "denied":
      return `Already denied by ${who}. Your click changed nothing.`;
    case "expired":
      return "This request has expired; the command was not run. Ask again to get a new one.";
    case "superseded":
      return `${who} wrote something new instead, so this command was not run.`;
    case "cancelled":
      return `This was cancelled when ${who} stopped the work; the command was not run.`;
    default: // a newer version wrote it
      return `Already decided by ${who}. Your click changed nothing.`;
  }
}

/** The decision as a line for the card, in words and UTC. */
export function decisionLine(decided: Entry<"approval-decided">): string {
  const at = minuteOf(decided.at);
  const who = decided.by ? visible(decided.by.name) : "nobody";
  switch (decided.decision) {
    case "approved":
      return `Approved by ${who} · ${at}`;
    case "denied":
      return `Denied by ${who} · ${at}${decided.reason ? ` · "${visible(decided.reason)}"` : ""}`;
    case "expired":
      return `Expired without an answer · ${at} · not run`;
    case "superseded":
      return `Not run: ${who} wrote something new instead · ${at}`;
    case "cancelled":
      return `Not run: ${who} stopped the work · ${at}`;
    default: // a newer version wrote it
      return visible(`${String(decided.decision)}: ${who} · ${at}`);
  }
}

/** Milliseconds since 1970 as `2026-11-30 11:27 UTC`. */
export function minuteOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

export function deadlineText(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours >= 1) return `${Math.round(hours)} h`;
  return `${Math.max(1, Math.round(ms / 60_000))} min`;
}

/** Whether a badge tells of a sandbox that held its probes. */
export function isContained(badge: string): boolean {
  return badge.startsWith("sandboxed");
}

/** Whether it was measured that commands have no network at all. */
export function provesNoNetwork(badge: string): boolean {
  return isContained(badge) && badge.includes("no network");
}

/** A card has room for so many variables of so many characters. */
const CARD_VARIABLES = 12;
const CARD_VARIABLE = 200;

/** The carried variables that a card shows, which are all that an approved command gets; PATH is only told. */
export function envForCard(env: Record<string, string>): Record<string, string> {
  const fit = Object.entries(env).filter(([name, value]) => name.length + value.length <= CARD_VARIABLE);
  return Object.fromEntries(fit.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, CARD_VARIABLES));
}

/** Reasons whose commands need more than the sandbox gives by itself. */
const BEYOND_SANDBOX = new Set(["network", "install", "outside"]);

export function beyondSandbox(asked: Entry<"approval-asked">): boolean {
  return isContained(asked.sandbox) && asked.reasons.some((r) => BEYOND_SANDBOX.has(r.code));
}
