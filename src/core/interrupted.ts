import { type Access, approversOf, mayAsk, mayPress } from "./access.ts";
import { pressRefusal } from "./approval.ts";
import { choiceEvent, type ChoicePress, choicesIn, type Chosen, chosenLine, LABELS, tooLateToChoose } from "./choice.ts";
import { type Entry, type NewEntry, type Person, isEntry } from "./entry.ts";
import { DeckhandError } from "./errors.ts";
import { RUN_CHOICES, type RunChoice } from "./inbound.ts";
import type { Hands } from "./hands.ts";
import type { Ids } from "./ports.ts";
import type { Block } from "./post.ts";
import type { Session } from "./session.ts";

/** What people do about a run of which nobody knows how far it came. */

const HEARD: Record<RunChoice, string> = {
  look: "I look how far it came, and tell it in the thread.",
  again: "It goes in once more, as a new command.",
  leave: "It is left as it is.",
};
/** A longer command is named by its call: cut, it could mean anything, and a half of a secret would no longer be known. */
const QUOTED = 1_000;

/** What is known of an interrupted run. */
export function whatIsKnown(ended: Entry<"run-ended">): string {
  const after = `after ${(ended.ms / 1000).toFixed(1)} s`;
  const first = ended.why === "restart" ? `Interrupted by a restart of Deckhand ${after}.` : "Interrupted: Deckhand ended meanwhile.";
  return `${first} This may have run, wholly or in part; it was not run again.`;
}

/** The buttons below an interrupted run, or who chose what. */
export function whatToDo(ended: Entry<"run-ended">, chosen: Chosen | undefined): Block {
  if (chosen) return { kind: "note", text: chosenLine(chosen) };
  return { kind: "buttons", buttons: RUN_CHOICES.map((action) => ({ action, label: LABELS[action], value: String(ended.seq) })) };
}

/** What a press means in this log: an entry to keep, or nothing but words for whoever pressed. */
export function meaningOfChoice(
  press: ChoicePress,
  entries: Entry[],
  { access, workspace }: { access: Access; workspace: string },
): { entry: NewEntry<"message" | "choice">; heard: string } | { refused: string } | { whisper: string } {
  const { of, by } = press;
  const choice = RUN_CHOICES.find((each) => each === press.choice);
  const ended = entries.filter((e) => isEntry(e, "run-ended")).find((e) => e.seq === of && e.how === "interrupted");
  const started = entries.filter((e) => isEntry(e, "run-started")).find((e) => e.call === ended?.call);
  if (!ended || !started || !choice) return { whisper: "I do not know this command any more. Nothing was changed." };
  const refused = choice === "again" ? mayNotRun(access, by, workspace) : mayNotAsk(access, by, workspace);
  if (refused !== null) return { refused };
  const chosen = choicesIn(entries).get(of);
  if (chosen) return { whisper: tooLateToChoose(press, chosen) };
  const heard = HEARD[choice];
  if (choice === "leave") return { entry: { type: "choice", parent: of, of, choice, by }, heard };
  const command = started.command.length <= QUOTED ? `\`${started.command}\`` : `that of call ${started.call}`;
  const text =
    choice === "look"
      ? `Look how far the interrupted command came and tell me. Do not run it again: ${command}`
      : `Run the interrupted command once more: ${command}`;
  return { entry: { type: "message", event: choiceEvent(press), by, text, to: "bot", pressed: { of, choice } }, heard };
}

function mayNotRun(access: Access, by: Person, workspace: string): string | null {
  return pressRefusal(access, by, { workspace, approvers: approversOf(access, workspace) });
}

function mayNotAsk(access: Access, by: Person, workspace: string): string | null {
  if (mayAsk(access, by, workspace)) return null;
  return "You are not on the list of people who may give me work here. Nothing was changed.";
}

/** The step that somebody's press on "Run again" makes: the same call under a new id, which goes through the gate like any other. */
export function callAgain(
  message: Entry<"message">,
  { entries, state }: Pick<Session, "entries" | "state">,
  { ids }: { ids: Pick<Ids, "call"> },
): NewEntry<"model"> {
  const { ended } = runOf(message, entries);
  const steps = entries.filter((e) => isEntry(e, "model"));
  const step = steps.find(({ calls }) => calls.some(({ id }) => id === ended?.call));
  const call = step?.calls.find(({ id }) => id === ended?.call);
  if (!step || !call) throw new DeckhandError("INTERNAL", `nothing is known of the run that entry ${message.seq} wants again`);
  return {
    type: "model",
    again: message.seq,
    read: state.seq,
    text: "",
    // With what the endpoint wants back with it.
    calls: [{ ...call, id: ids.call() }],
    ...(step.reasoning ? { reasoning: step.reasoning } : {}),
    finish: "calls",
    usage: { prompt: null, completion: null, cached: null },
    model: "deckhand",
    ms: 0,
    tries: 0,
  };
}

/**
 * The press on "Run again" is the approval when it could have been one: somebody who may press, and a run that was
 * approved before with the same bytes and circumstances. Otherwise people are asked as always.
 */
export function approvedByPress(
  asked: NewEntry<"approval-asked">,
  { entries, state }: Session,
  { access }: Pick<Hands, "access">,
): NewEntry<"approval-decided">[] {
  const again = state.step?.entry.again;
  const message = entries.filter((e) => isEntry(e, "message")).find((e) => e.seq === again);
  if (!message || !mayPress(access, message.by, asked.workspace, asked.approvers)) return [];
  const { started } = runOf(message, entries);
  if (started?.approval === undefined || started.digest !== asked.digest) return [];
  return [{ type: "approval-decided", approval: asked.approval, call: asked.call, decision: "approved", by: message.by }];
}

function runOf({ pressed }: Entry<"message">, entries: Entry[]): { ended?: Entry<"run-ended">; started?: Entry<"run-started"> } {
  const ended = entries.filter((e) => isEntry(e, "run-ended")).find((e) => e.seq === pressed?.of);
  const started = entries.filter((e) => isEntry(e, "run-started")).find((e) => e.call === ended?.call);
  return { ...(ended ? { ended } : {}), ...(started ? { started } : {}) };
}
