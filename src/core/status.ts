import { type State, openApproval } from "./conversation.ts";
import { type Entry, isEntry } from "./entry.ts";
import type { Block, Post } from "./post.ts";
import { visible } from "./visible.ts";

/** What a turn's status is made of. */
export interface TurnView {
  first: Entry<"message">;
  commands: number;
  end?: Entry<"final" | "failed">;
  /** Its message was removed before anything came of it. */
  takenBack?: boolean;
}

/** What is true of a conversation at this moment and stands in no log; the thread shows it while it lasts. */
export interface Now {
  /** The newest lines of the command that runs, redacted. */
  live?: string;
  /** Nobody serves the workspace. */
  unserved?: boolean;
}

/** The one message of a turn that is kept up to date. */
export function statusPost(turn: TurnView, state: State, banner: string | null, _now: Now): Post {
  const blocks: Block[] = [{ kind: "text", text: isOver(turn) ? endedText(turn) : activity(state) }];
  if (banner) blocks.push({ kind: "note", text: banner });
  if (!isOver(turn)) {
    const value = state.opened?.thread ?? "";
    blocks.push({ kind: "buttons", buttons: [{ action: "stop", label: "Stop", value }] });
  }
  const working = !isOver(turn) && !openApproval(state);
  return { key: `status:${turn.first.seq}`, lane: "status", blocks, working };
}

/** One line for what goes on. A call that is about to run already counts as running: every edit costs budget. */
function activity(state: State): string {
  if (state.stop) return "Stopping …";
  const call = state.step?.calls.find((c) => !c.ended);
  const runs = call?.judged?.verdict === "auto" || call?.decided?.decision === "approved";
  if (call?.judged && runs) return `Running: ${oneLine(call.judged.title)}`;
  if (call?.judged?.verdict === "ask" && !call.decided) return "Waiting for a decision on the request below.";
  return state.turn?.steps ? "Thinking …" : "On it. Thinking …";
}

export function isOver(turn: TurnView): boolean {
  return turn.end !== undefined || turn.takenBack === true;
}

function endedText(turn: TurnView): string {
  if (turn.takenBack) return "Nothing more is done: the message was removed.";
  const seconds = Math.max(0, Math.round(((turn.end?.at ?? 0) - turn.first.at) / 1000));
  const count = turn.commands === 1 ? "1 command" : `${turn.commands} commands`;
  return `${endWord(turn.end)} · ${count} · ${seconds} s`;
}

function endWord(end: Entry<"final" | "failed"> | undefined): string {
  if (!end || isEntry(end, "failed")) return "Not done";
  return end.reason === "answer" ? "Done" : end.reason === "stopped" ? "Stopped" : "Paused at a limit";
}

function oneLine(command: string): string {
  const line = visible(command.replaceAll("\n", " "));
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
