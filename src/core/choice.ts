import { minuteOf } from "./approval.ts";
import { type Entry, type Person, isEntry } from "./entry.ts";
import { type Choice, CHOICES, type Inbound } from "./inbound.ts";
import { visible } from "./visible.ts";

/** Presses about an entry of the thread that has buttons but is no approval: the first one counts, whoever presses. */

export type ChoicePress = Extract<Inbound, { kind: "choice" }>;

/** Who chose what, and when. */
export interface Chosen {
  of: number;
  choice: Choice;
  by: Person;
  at: number;
}

export const LABELS: Record<Choice, string> = {
  look: "Look",
  again: "Run again",
  leave: "Leave it",
  continue: "Continue",
  stop: "Stop",
};

/** Null for an entry that is no such press. */
function chosenBy(entry: Entry): Chosen | null {
  const { at } = entry;
  if (isEntry(entry, "message") && entry.pressed) return { ...entry.pressed, by: entry.by, at };
  const choice = isEntry(entry, "choice") && CHOICES.find((each) => each === entry.choice);
  return choice ? { of: entry.of, choice, by: entry.by, at } : null;
}

/** The first choice about each such entry, by its seq. */
export function choicesIn(entries: Entry[]): Map<number, Chosen> {
  const chosen = new Map<number, Chosen>();
  for (const entry of entries) {
    const found = chosenBy(entry);
    if (found && !chosen.has(found.of)) chosen.set(found.of, found);
  }
  return chosen;
}

/** The same for everybody who presses: the first press wins. */
export function choiceEvent({ thread, of }: ChoicePress): string {
  return `choice:${thread.key}:${of}`;
}

/** What stands in the place of the buttons. */
export function chosenLine({ by, choice, at }: Chosen): string {
  return `${visible(by.name)} chose: ${LABELS[choice]} · ${minuteOf(at)}`;
}

/** The reply to a press can be lost on the way; then its own winner comes here. */
export function tooLateToChoose({ by, choice }: ChoicePress, chosen: Chosen): string {
  const label = LABELS[chosen.choice];
  if (chosen.by.key === by.key && chosen.choice === choice) return `You have already chosen "${label}".`;
  return `Already chosen by ${visible(chosen.by.name)}: ${label}. Your click changed nothing.`;
}
