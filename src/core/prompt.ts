import { LIMITS } from "../limits.ts";
import { isContained } from "./approval.ts";
import { bytesBehind, endsOf, leftOut, NOTE_ROOM, utf8 } from "./cut.ts";
import type { Entry, Output } from "./entry.ts";

/** What the system prompt says of the place. */
export interface Setting {
  workspace: string;
  path: string;
  sandbox: string;
}

/** The texts of `src/prompts`, by the names of their files. */
export type Prompts = Record<(typeof PROMPTS)[number], string>;
export const PROMPTS = ["system", "contained", "uncontained", "empty-answer", "written-call", "agents", "summarise"] as const;

/** Puts values into the places of a text that name them; a value is never looked through for places itself. */
export function filled(text: string, values: Record<string, string>): string {
  return text.trimEnd().replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}

/** Constant for a conversation: no clock and no names, so that every request extends the one before. */
export function systemPrompt({ workspace, path, sandbox }: Setting, prompts: Prompts): string {
  const place = filled(isContained(sandbox) ? prompts.contained : prompts.uncontained, { badge: sandbox });
  return filled(prompts.system, { workspace, path, sandbox: place });
}

/**
 * What the model reads as the result of a call, at most LIMITS.outputModel bytes: output, and how it ended when that is
 * not plain success. The same for the same entry, so that later requests repeat it.
 */
export function resultText(ended: Entry<"run-ended">): string {
  const { text, omitted } = ended.output;
  const more = ended.output.file === undefined ? [] : [whereItIs(ended.output)];
  const notes = [...more, ...(ended.notes ?? []), ...(ended.noticed ?? [])].map((note) => `\n[${note}]`).join("");
  if (ended.how === "refused") return fitted(text || "Not run.", omitted, notes);
  return fitted(text.trimEnd() || "(no output)", omitted, howItEnded(ended) + notes);
}

/** What is said of a command's end may take of a result, usually. */
const ROOM_FOR_END = 1_000;

/** Whether the model gets less than the command printed. */
export function leavesOut({ omitted, text }: Output): boolean {
  return omitted > 0 || utf8(text) > LIMITS.outputModel - ROOM_FOR_END;
}

function whereItIs({ bytes, file }: Output): string {
  return bytes > LIMITS.outputFile ? `the beginning and the end, 1 MB, are in ${file}` : `the whole output: ${file}`;
}

function howItEnded(ended: Entry<"run-ended">): string {
  switch (ended.how) {
    case "exited":
      return ended.exit === 0 ? "" : `\n[exit code ${ended.exit}]`;
    case "timeout":
      return `\n[ended after ${Math.round(ended.ms / 1000)} s: time limit. Everything it started was ended too.]`;
    case "flood":
      return "\n[ended: it printed too much]";
    case "cancelled":
      return `\n[stopped by ${ended.by?.name ?? "a person"}]`;
    case "interrupted":
      return `\n[interrupted ${ended.why === "restart" ? "by a restart of Deckhand" : "from outside"}. It is not known how far this command came; it was not run again. Look before you repeat anything.]`;
    case "refused":
      return "";
    default: // a newer version wrote it
      return `\n[ended: ${String(ended.how)}]`;
  }
}

/** Head and tail of a text that the log may have shortened already, and its `end`. */
function fitted(text: string, omitted: number, end: string): string {
  // No character has more than three bytes for each of its units: most outputs need no counting.
  const fits = (text.length + end.length) * 3 <= LIMITS.outputModel;
  if (fits || utf8(text) + utf8(end) <= LIMITS.outputModel) return text + end;
  const max = Math.max(NOTE_ROOM, LIMITS.outputModel - utf8(end));
  // The log's lines are short already, their notes included.
  const ends = endsOf(text, { max, head: Math.floor(max / 4), line: LIMITS.outputLine + NOTE_ROOM });
  if (ends.tail === null) return ends.head + end;
  const between = omitted === 0 ? utf8(ends.between) : bytesBehind(ends.between);
  return ends.head + leftOut(between) + ends.tail + end;
}
