/** A line that opens or closes a fenced code block. */
const FENCE = /^([ \t]{0,40})(`{3,40}|~{3,40})(.*)$/;
/** Room for closing a fence at the end of a part and opening it again at the start of the next. */
const FENCE_ROOM = 300;
const INFO_MAX = 60;

/** A code block that is open. */
export interface Fence {
  /** The opening line without its line end, and where it starts in the current part. */
  line: string;
  marker: string;
  at: number;
}

/** The size of a text as a platform counts it: at least its length, and additive over pieces. */
export type Measure = (text: string) => number;

/**
 * Cuts Markdown into parts of a size of at most `max` (>= 1,000), at paragraphs where possible, else at lines. A code
 * block that has to be cut is closed and opened again with its language.
 */
export function splitMarkdown(text: string, max: number, measure: Measure): string[] {
  const parts: string[] = [];
  let part = "";
  let size = 0;
  let fence: Fence | null = null;
  /** Where the part may be cut at a blank line outside code; 0: nowhere. */
  let paragraph = 0;

  const cut = (): void => {
    const opening = fence !== null && fence.at + fence.line.length + 1 === part.length ? fence.at : 0;
    const at = measure(part.slice(0, paragraph)) >= max / 2 ? paragraph : opening;
    if (at > 0) {
      parts.push(part.slice(0, at));
      part = part.slice(at);
      if (fence) fence.at -= at;
    } else {
      parts.push(fence ? closed(part, fence) : part);
      part = fence ? `${fence.line}\n` : "";
      if (fence) fence.at = 0;
    }
    size = measure(part);
    paragraph = 0;
  };

  for (const { text: line, starts } of linesOf(text, max - FENCE_ROOM, measure)) {
    const length = measure(line);
    // The first cut may leave a long rest after the last paragraph; the second one takes that too.
    for (let cuts = 0; cuts < 2 && size + length + FENCE_ROOM / 2 > max; cuts++) cut();
    if (starts) fence = fenceAfter(line, fence, part.length);
    part += line;
    size += length;
    if (!fence && line.trim() === "") paragraph = part.length;
  }
  parts.push(part);
  return parts.filter((each) => each.trim() !== "");
}

/** Lines with their line ends; a line that is too long comes in pieces. */
function* linesOf(text: string, max: number, measure: Measure): Generator<{ text: string; starts: boolean }> {
  for (const line of text.split(/(?<=\n)/)) {
    let starts = true;
    for (const piece of cutText(line, max, measure)) {
      yield { text: piece, starts };
      starts = false;
    }
  }
}

/** Cuts a text into pieces of a size of at most `max`: after a line end, else a space, never inside a letter. */
export function cutText(text: string, max: number, measure: Measure): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (measure(rest) > max) {
    const fits = fitting(rest, max, measure);
    const soft = Math.max(rest.lastIndexOf("\n", fits - 1), 0) || Math.max(rest.lastIndexOf(" ", fits - 1), 0);
    const at = soft > fits / 2 ? soft + 1 : fits;
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  if (rest !== "") pieces.push(rest);
  return pieces;
}

/** How many UTF-16 units of the text fit; at least one letter. */
function fitting(text: string, max: number, measure: Measure): number {
  let length = 0;
  let used = 0;
  for (const letter of text) {
    used += measure(letter);
    if (used > max && length > 0) break;
    length += letter.length;
    if (used > max) break;
  }
  return length;
}

/** The code block that is open after this line; `at` is where the line begins. */
export function fenceAfter(line: string, fence: Fence | null, at: number): Fence | null {
  const match = FENCE.exec(line.replace(/\r?\n$/, ""));
  if (!match) return fence;
  const [, indent = "", marker = "", info = ""] = match;
  if (fence) {
    const closes = marker[0] === fence.marker[0] && marker.length >= fence.marker.length && info.trim() === "";
    return closes ? null : fence;
  }
  if (marker.startsWith("`") && info.includes("`")) return null;
  const language = info.length > INFO_MAX ? "" : info;
  return { line: `${indent}${marker}${language}`, marker, at };
}

function closed(part: string, fence: Fence): string {
  const indent = /^[ \t]*/.exec(fence.line)?.[0] ?? "";
  return `${part}${part.endsWith("\n") ? "" : "\n"}${indent}${fence.marker}`;
}
