/** The beginning and the end of a text, in whole lines; sizes in bytes of UTF-8, exact. */
export interface Ends {
  head: string;
  /** Null when nothing is left out between. */
  tail: string | null;
  /** What stands between them. */
  between: string;
  /** Bytes of the text that are shown, without our notes. */
  shown: number;
  /** Bytes that the notes in shortened lines stand for. */
  within: number;
}

/** The most bytes that `leftOut` takes. */
export const NOTE_ROOM = 64;
const NOTES = / \[\.\.\. (\d+) bytes of this line left out \.\.\.\]|\[\.\.\. (\d+) bytes left out \.\.\.\]\n/g;

const WIDE = /[\u0080-\uffff]/;

/** Bytes of a text in UTF-8. Lines are many and short: counting is faster than encoding them, and most need no counting. */
export function utf8(text: string): number {
  if (!WIDE.test(text)) return text.length;
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    // The two halves of a character have four bytes together.
    if ((unit & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) bytes -= 2;
  }
  return bytes;
}

/** The line that stands for what is missing. */
export function leftOut(bytes: number): string {
  return `[... ${bytes} bytes left out ...]\n`;
}

/** Bytes of output in a piece of text whose notes are ours: each counts what it stands for. */
export function bytesBehind(text: string): number {
  let noted = 0;
  const own = text.replace(NOTES, (_, ofLine?: string, whole?: string) => {
    noted += Number(ofLine ?? whole);
    return "";
  });
  return utf8(own) + noted;
}

/**
 * At most `max` bytes of a text, room for the line between included: all of it when it fits, else `head` of them from
 * its beginning, the others from its end. Lines of more than `line` characters are shortened.
 */
export function endsOf(text: string, { max, head, line }: { max: number; head: number; line: number }): Ends {
  const all = takeHead(text, max, line);
  if (all.at === text.length) return { head: all.text, tail: null, between: "", shown: all.shown, within: all.within };
  const begin = takeHead(text, head, line);
  const end = takeTail(text, max - head - NOTE_ROOM, line, begin.at);
  const between = text.slice(begin.at, end.at);
  const [shown, within] = [begin.shown + end.shown, begin.within + end.within];
  if (between === "") return { head: begin.text + end.text, tail: null, between, shown, within };
  return { head: begin.text, tail: end.text, between, shown, within };
}

interface Taken {
  text: string;
  shown: number;
  within: number;
  /** Where in the text it ends, or begins when it is a tail. */
  at: number;
}

/** Lines from the beginning, notes included in `max`. */
export function takeHead(text: string, max: number, line: number): Taken {
  const taken = { text: "", shown: 0, within: 0, at: 0 };
  for (let room = max; taken.at < text.length; ) {
    const lineEnd = text.indexOf("\n", taken.at);
    const end = lineEnd === -1 ? text.length : lineEnd + 1;
    const next = shorten(text.slice(taken.at, end), line);
    room -= utf8(next.text);
    if (room < 0) break;
    taken.text += next.text;
    taken.shown += next.shown;
    taken.within += next.left;
    taken.at = end;
  }
  return taken;
}

/** Lines up to the end, none of them before `from`. */
export function takeTail(text: string, max: number, line: number, from = 0): Taken {
  const lines: string[] = [];
  const taken = { text: "", shown: 0, within: 0, at: text.length };
  for (let room = max; taken.at > from; ) {
    const start = taken.at < 2 ? from : Math.max(from, text.lastIndexOf("\n", taken.at - 2) + 1);
    const next = shorten(text.slice(start, taken.at), line);
    room -= utf8(next.text);
    if (room < 0) break;
    lines.push(next.text);
    taken.shown += next.shown;
    taken.within += next.left;
    taken.at = start;
  }
  return { ...taken, text: lines.reverse().join("") };
}

function shorten(line: string, max: number): { text: string; shown: number; left: number } {
  const body = line.endsWith("\n") ? line.slice(0, -1) : line;
  if (body.length <= max) return { text: line, shown: utf8(line), left: 0 };
  // Half of a character is none.
  const keep = /[\uD800-\uDBFF]$/.test(body.slice(0, max)) ? body.slice(0, max - 1) : body.slice(0, max);
  const end = line.slice(body.length);
  const left = utf8(body) - utf8(keep);
  return { text: `${keep} [... ${left} bytes of this line left out ...]${end}`, shown: utf8(keep) + end.length, left };
}

/** At most about `max` characters: the beginning and the end, with a line that says what is left out; `more` says where it is. */
export function headAndTail(text: string, max: number, more = ""): string {
  if (text.length <= max) return text;
  const head = Math.floor(max * 0.4);
  const tail = max - head;
  return `${text.slice(0, head).toWellFormed()}\n[... ${text.length - max} characters left out${more} ...]\n${text.slice(-tail).toWellFormed()}`;
}
