import { type Access, approversOf } from "./access.ts";
import { pressRefusal } from "./approval.ts";
import { settingOf } from "./bound.ts";
import { type Chosen, type ChoicePress, choicesIn, chosenLine, LABELS, tooLateToChoose } from "./choice.ts";
import { fold } from "./conversation.ts";
import { type Entry, type NewEntry, isEntry } from "./entry.ts";
import type { Hands } from "./hands.ts";
import { PAUSE_CHOICES } from "./inbound.ts";
import type { Block, Post } from "./post.ts";
import type { Session } from "./session.ts";
import { visible } from "./visible.ts";

/** A limit is reached: the work goes on, with as much again, only when somebody who may approve says so. */

/** What the thread reads then. `limit`: see the entry. */
export function pause(why: string, session: Pick<Session, "state">, hands: Hands, limit?: NewEntry<"paused">["limit"]): NewEntry<"paused"> {
  const approvers = approversOf(hands.access, settingOf(session, hands).workspace);
  return { type: "paused", text: `I have paused: ${why}. Shall I go on?`, approvers, ...(limit === undefined ? {} : { limit }) };
}

/** `open`: it still waits. Without that and without a choice, the work was ended in another way. */
export function pausePost(paused: Entry<"paused">, { open, chosen }: { open: boolean; chosen: Chosen | undefined }): Post {
  return {
    key: `paused:${paused.seq}`,
    lane: "approval",
    blocks: [{ kind: "text", text: visible(paused.text) }, answerBlock(paused, open, chosen)],
  };
}

function answerBlock({ seq }: Entry<"paused">, open: boolean, chosen: Chosen | undefined): Block {
  if (chosen) return { kind: "note", text: chosenLine(chosen) };
  if (!open) return { kind: "note", text: "Not needed any more: this work has ended." };
  const style = { continue: "primary", stop: "danger" } as const;
  return {
    kind: "buttons",
    buttons: PAUSE_CHOICES.map((action) => ({ action, label: LABELS[action], style: style[action], value: String(seq) })),
  };
}

/** What a press means in this log: an entry to keep, or nothing but words for whoever pressed. */
export function meaningOfPause(
  press: ChoicePress,
  entries: Entry[],
  { access, workspace }: { access: Access; workspace: string },
): { entry: NewEntry<"choice">; heard: string } | { refused: string } | { whisper: string } {
  const { of, choice, by } = press;
  const paused = entries.filter((e) => isEntry(e, "paused")).find((e) => e.seq === of);
  if (!paused) return { whisper: "I do not know this question any more. Nothing was changed." };
  const refused = pressRefusal(access, by, { workspace, approvers: paused.approvers });
  if (refused !== null) return { refused };
  const chosen = choicesIn(entries).get(of);
  if (chosen) return { whisper: tooLateToChoose(press, chosen) };
  const state = fold(entries);
  if (state.paused?.seq !== of || state.stop) return { whisper: "This work has ended already. Your click changed nothing." };
  const heard = choice === "continue" ? "It goes on." : "It ends here.";
  return { entry: { type: "choice", parent: of, of, choice, by }, heard };
}
