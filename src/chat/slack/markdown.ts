/** A line that opens or closes a fenced code block. */
const FENCE = /^([ \t]{0,40})(`{3,40}|~{3,40})(.*)$/;
/** Room for closing a fence at the end of a part and opening it again at the start of the next. */
const FENCE_ROOM = 300;
const INFO_MAX = 60;

interface Fence {
  /** The opening line without its line end, and where it starts in the current part. */
  line: string;
  marker: string;
  at: number;
}

/** Length of a text inside a JSON string: at least its length, and additive over pieces. */
export function jsonLength(text: string): number {
  return JSON.stringify(text).length - 2;
}

/**
 * Cuts Markdown into parts of at most `max` characters of JSON (`max` >= 1,000), at paragraphs where possible,
 * else at lines. A code block that has to be cut is closed and opened again with its language.
 */
export function splitMarkdown(text: string, max: number): string[] {
  const parts: string[] = [];
  let part = "";
  let size = 0;
  let fence: Fence | null = null;
  /** Where the part may be cut at a blank line outside code; 0: nowhere. */
  let paragraph = 0;

  const cut = (): void => {
    const opening = fence !== null && fence.at + fence.line.length + 1 === part.length ? fence.at : 0;
    const at = jsonLength(part.slice(0, paragraph)) >= max / 2 ? paragraph : opening;
    if (at > 0) {
      parts.push(part.slice(0, at));
      part = part.slice(at);
      if (fence) fence.at -= at;
    } else {
      parts.push(fence ? closed(part, fence) : part);
      part = fence ? `${fence.line}\n` : "";
      if (fence) fence.at = 0;
    }
    size = jsonLength(part);
    paragraph = 0;
  };

  for (const { text: line, starts } of linesOf(text, max - FENCE_ROOM)) {
    const length = jsonLength(line);
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
function* linesOf(text: string, max: number): Generator<{ text: string; starts: boolean }> {
  for (const line of text.split(/(?<=\n)/)) {
    let starts = true;
    for (const piece of cutText(line, max)) {
      yield { text: piece, starts };
      starts = false;
    }
  }
}

/** Cuts a text into pieces of at most `max` characters of JSON: after a line end, else a space, never inside a letter. */
export function cutText(text: string, max: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (jsonLength(rest) > max) {
    const fits = fitting(rest, max);
    const soft = Math.max(rest.lastIndexOf("\n", fits - 1), 0) || Math.max(rest.lastIndexOf(" ", fits - 1), 0);
    const at = soft > fits / 2 ? soft + 1 : fits;
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  if (rest !== "") pieces.push(rest);
  return pieces;
}

/** How many UTF-16 units of the text fit; at least one letter. */
function fitting(text: string, max: number): number {
  let length = 0;
  let used = 0;
  for (const letter of text) {
    used += jsonLength(letter);
    if (used > max && length > 0) break;
    length += letter.length;
    if (used > max) break;
  }
  return length;
}

function fenceAfter(line: string, fence: Fence | null, at: number): Fence | null {
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
