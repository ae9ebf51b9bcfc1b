import { LIMITS } from "../limits.ts";
import { type CallState, type State, fold, openApproval } from "./conversation.ts";
import { next } from "./next.ts";
import { type Entry, isEntry } from "./entry.ts";
import { messageOf } from "./errors.ts";
import { readOf, waitText } from "./live.ts";
import type { Live, Log } from "./log.ts";
import type { Clock, Trace } from "./ports.ts";
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
  /** The newest lines of a command or of the model, redacted; shown while that command runs or that answer is written. */
  live?: Omit<Live, "conversation">;
  /** No worker serves the workspace, and there is something to do in it. */
  unserved?: boolean;
}

interface NowParts {
  log: Pick<Log, "isServed">;
  trace: Trace;
  newest: (conversation: string) => Now["live"] | null;
}

/** That a workspace is served holds for a moment; that it is not is asked again each time. */
export function servedLately({ isServed }: Pick<Log, "isServed">, clock: Clock): Pick<Log, "isServed"> {
  const known = new Map<string, { until: number; is: Promise<boolean> }>();
  return {
    isServed(workspace) {
      const kept = known.get(workspace);
      if (kept && kept.until > clock.now()) return kept.is;
      const is = isServed(workspace);
      known.set(workspace, { until: clock.now() + LIMITS.servedFresh, is });
      const forget = (): void => void known.delete(workspace);
      is.then((served) => served || forget(), forget);
      return is;
    },
  };
}

/** Never rejects: what cannot be found out is left out. */
export async function findNow(conversation: string, entries: Entry[], { log, trace, newest }: NowParts): Promise<Now> {
  const live = newest(conversation);
  const now: Now = live ? { live } : {};
  const state = fold(entries);
  if (!state.opened || next(state) === null) return now;
  try {
    return (await log.isServed(state.opened.workspace)) ? now : { ...now, unserved: true };
  } catch (thrown) {
    trace.info("unknown-whether-served", { conversation, error: messageOf(thrown) });
    return now;
  }
}

/** The one message of a turn that is kept up to date. */
export function statusPost(turn: TurnView, state: State, banner: string | null, now: Now): Post {
  const over = isOver(turn);
  const blocks: Block[] = over ? [{ kind: "text", text: endedText(turn) }] : activity(state, now);
  if (banner) blocks.push({ kind: "note", text: banner });
  if (!over) {
    const value = state.opened?.thread ?? "";
    blocks.push({ kind: "buttons", buttons: [{ action: "stop", label: "Stop", value }] });
  }
  const working = !over && !openApproval(state) && !now.unserved && !state.parked && !state.paused;
  return { key: `status:${turn.first.seq}`, lane: "status", blocks, working };
}

/** What goes on, in one line; of a command that runs and of an answer that is written also the newest of it. */
function activity(state: State, now: Now): Block[] {
  const call = state.step?.calls.find((c) => !c.ended);
  const written = writtenNow(call, state, now);
  if (written?.wait) return [{ kind: "text", text: visible(waitText(written.wait)) }];
  if (written?.text.trim()) return [{ kind: "text", text: `Writing …\n${lastWords(written.text)}` }];
  const text = now.unserved ? unservedText(state) : activityText(state, call);
  const lines = isShown(call, state, now) ? lastLines(now.live?.text ?? "") : "";
  return [{ kind: "text", text }, ...(lines ? [{ kind: "code" as const, text: lines }] : [])];
}

/** What is known of the answer that the model is at now. */
function writtenNow(call: CallState | undefined, { stop, parked, turn, step }: State, { live, unserved }: Now): Now["live"] | null {
  const read = live ? readOf(live.call) : null;
  if (!live || read === null || call || stop || parked || unserved || !turn) return null;
  return read >= Math.max(turn.first, step?.entry.seq ?? 0) ? live : null;
}

function isShown(call: CallState | undefined, { stop }: State, { live, unserved }: Now): boolean {
  return call?.started !== undefined && call.call.id === live?.call && !stop && !unserved;
}

/** A call that is about to run already counts as running: every edit costs budget. */
function activityText(state: State, call: CallState | undefined): string {
  if (state.stop) return "Stopping …";
  if (state.parked) return "Parked: this waits until whoever runs Deckhand lets it go on, or somebody stops it.";
  if (state.paused) return "Paused: this waits until somebody who may approve answers the question below.";
  const runs = call?.judged?.verdict === "auto" || call?.decided?.decision === "approved";
  if (!call && state.fetching.length > 0) return "Fetching the attached files …";
  if (call?.judged && runs) return `Running: ${oneLine(call.judged.title)}`;
  if (call?.judged?.verdict === "ask" && !call.decided) return "Waiting for a decision on the request below.";
  return state.turn?.steps ? "Thinking …" : "On it. Thinking …";
}

function unservedText({ opened, turn }: State): string {
  const goes = turn?.steps ? "goes on" : "starts";
  return `No worker serves the workspace "${opened?.workspace ?? ""}" now. This ${goes} by itself as soon as one does.`;
}

/** The end of a command's output so far, in whole lines, the long ones cut. */
function lastLines(text: string): string {
  const lines = visible(text.trimEnd())
    .split("\n")
    .slice(-LIMITS.liveLines)
    .map((line) => cutLine(line, LIMITS.liveLine));
  while (lines.join("\n").length > LIMITS.liveShown) lines.shift();
  return lines.join("\n");
}

/** The end of what was written so far, from a word on. */
function lastWords(text: string): string {
  const shown = visible(text.trim());
  if (shown.length <= LIMITS.liveShown) return shown;
  const end = shown.slice(-LIMITS.liveShown).toWellFormed();
  return `… ${end.replace(/^\S{0,80}\s+/, "")}`;
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
  return end.reason === "answer" ? "Done" : "Stopped";
}

/** Something that fits into one line of a post. */
export function oneLine(text: string): string {
  return cutLine(visible(text.replaceAll("\n", " ")), 120);
}

function cutLine(line: string, max: number): string {
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line;
}
