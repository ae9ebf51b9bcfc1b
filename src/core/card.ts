import { LIMITS } from "../limits.ts";
import { beyondSandbox, deadlineText, decisionLine, minuteOf } from "./approval.ts";
import { headAndTail } from "./cut.ts";
import type { Always, Entry } from "./entry.ts";
import { grantSentence, parseGrant } from "./grants.ts";
import { ruleEnd, rulePattern } from "./offer.ts";
import type { Block, Button, Post } from "./post.ts";
import { visible } from "./visible.ts";

/** What has become of an approval. */
export interface Fate {
  /** Somebody pressed "always": the card shows the rule. */
  chosen?: Entry<"choice"> | undefined;
  decided?: Entry<"approval-decided"> | undefined;
  /** What the model said before the command. */
  said?: string | undefined;
}

export const SEE_FILE = ", see the file";

/** The approval as the thread shows it, in whatever state it is. */
export function card(asked: Entry<"approval-asked">, { chosen, decided, said = "" }: Fate): Post {
  const blocks: Block[] = [];
  if (said) blocks.push(quoted(said));
  const name = visible(asked.requester.name);
  blocks.push({ kind: "text", text: decided ? `A command for ${name}` : `May I run this for ${name}?` });
  const whole = visible(asked.command);
  const long = whole.length > LIMITS.cardCommand;
  blocks.push({ kind: "code", text: long ? headAndTail(whole, LIMITS.cardCommand, SEE_FILE) : whole });
  const reasons = asked.reasons.map((r) => visible(r.text)).join("; ");
  blocks.push(note(`Why I ask: ${reasons || "it is not on the list of commands that run by themselves"}`));
  blocks.push(note(`Where: workspace ${asked.workspace} (${visible(asked.cwd)}) · ${asked.sandbox}`));
  blocks.push(...circumstances(asked).map(note));
  if (decided) blocks.push(...outcome(decided));
  else blocks.push(...question(asked, chosen));
  const file = long ? { file: { name: "command.sh", blob: `cmd:${asked.approval}` } } : {};
  return { key: `approval:${asked.approval}`, lane: "approval", blocks, ...file };
}

/** Quoted, so that the model's words cannot pass for ours, and short, so that the card stays one message. */
export function quoted(said: string): Block {
  return { kind: "markdown", text: headAndTail(said, LIMITS.cardSaid, "").replace(/^/gm, "> ") };
}

function note(text: string): Block {
  return { kind: "note", text: visible(text) };
}

/** What an approval adds for this run alone, and what earlier commands left that it starts with. */
export function circumstances(asked: Entry<"approval-asked">): string[] {
  const { PATH, ...env } = asked.env;
  const carried = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [
    ...(asked.grants.length > 0 ? [`If approved, in this run only: it ${given(asked.grants)}.`] : []),
    ...(asked.grants.length === 0 && beyondSandbox(asked)
      ? ["Approving opens nothing more, no network and no other folders, so it may fail."]
      : []),
    ...(carried.length > 0 ? [`Set by earlier commands: ${carried.join(", ")}`] : []),
    ...(PATH === undefined ? [] : [`Earlier commands changed PATH to ${PATH}; this run uses the default one.`]),
  ];
}

function given(grants: string[]): string {
  return grants.map((text) => grantSentence(parseGrant(text))).join("; ");
}

function outcome(decided: Entry<"approval-decided">): Block[] {
  const line: Block = { kind: "text", text: decisionLine(decided) };
  const { rule } = decided;
  if (!rule) return [line];
  const until = rule.expires === undefined ? "" : `, until ${minuteOf(rule.expires)}`;
  return [line, note(`From now on it runs without asking, by the rule "${rule.name}"${until}.`)];
}

function question(asked: Entry<"approval-asked">, chosen: Entry<"choice"> | undefined): Block[] {
  const expires = `Expires in ${deadlineText(asked.deadline - asked.at)}. A new message from ${visible(asked.requester.name)} withdraws it.`;
  const nobody = asked.approvers.length === 0 ? " Nobody may approve yet: whoever runs Deckhand has to set DECKHAND_APPROVERS." : "";
  const button = (action: Button["action"], label: string, style?: Button["style"]): Button => ({
    action,
    label,
    value: asked.approval,
    ...(style ? { style } : {}),
  });
  const deny = button("deny", "Deny", "danger");
  if (chosen && asked.always) {
    const buttons = [button("store", "Store and run", "primary"), button("approve", "Only this time"), deny];
    return [...preview(asked, asked.always, chosen), note(expires), { kind: "buttons", buttons }];
  }
  const always = asked.always ? [button("always", "Always …")] : [];
  return [note(expires + nobody), { kind: "buttons", buttons: [button("approve", "Approve", "primary"), deny, ...always] }];
}

/** Reasons of commands that run code of the workspace. */
const RUNS_CODE = new Set(["interp", "unknown"]);

/** The whole rule, before it is stored. */
function preview(asked: Entry<"approval-asked">, { rule, looked, through, lines }: Always, chosen: Entry<"choice">): Block[] {
  const until = `${minuteOf(ruleEnd(chosen))} (${Math.round(LIMITS.ruleTime / 86_400_000)} days)`;
  const more = through > lines.length ? ` and ${through - lines.length} more` : "";
  const last = looked === 1 ? "the last command" : `the last ${looked} commands`;
  const would =
    through === 0
      ? `None of ${last} here would have run by it.`
      : `Of ${last} here it would have let through ${through}: ${lines.join(" · ")}${more}.`;
  return [
    { kind: "text", text: `This rule would be stored: in workspace ${asked.workspace}, a command that begins with` },
    { kind: "code", text: visible(rulePattern(rule)) },
    { kind: "text", text: `runs without asking, whoever asks for it, until ${until}.` },
    note(rule.grants.length > 0 ? `Each time it ${given(rule.grants)}.` : "It gets nothing beyond the sandbox."),
    ...(rule.grants.length > 0 && asked.reasons.some(({ code }) => RUNS_CODE.has(code))
      ? [note("What it runs may meanwhile be changed by commands that nobody is asked about.")]
      : []),
    ...(looked > 0 ? [note(would)] : []),
    note(`It is stored in the name of whoever presses; \`deckhand rules revoke\` takes it back. Nothing is stored yet.`),
  ];
}
