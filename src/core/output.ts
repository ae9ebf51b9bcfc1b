import { LIMITS } from "../limits.ts";
import { clean, cleanInColour, withoutColour } from "./clean.ts";
import { endsOf, leftOut, NOTE_ROOM, takeHead, takeTail, utf8 } from "./cut.ts";
import type { Output } from "./entry.ts";
import type { Cut, Redact } from "./redactor.ts";

/** What was kept of a command's bytes. */
export interface Printed {
  /** From the beginning: all of them when `total` is its length. */
  first: Uint8Array;
  /** Up to the end; may overlap `first`. */
  last: Uint8Array;
  /** Every byte that the command printed, kept or not. */
  total: number;
  /** The command was ended while it may have been printing: its last word may be half a word. */
  broken?: boolean;
}

/** A cut in the middle of a line without end is made so far behind it that no token reaches across. */
const PAST_TOKENS = 4096;
const NEWLINE = 0x0a;

/**
 * A command's bytes as the log keeps them: decoded, cleaned, redacted, long lines shortened, head and tail with a
 * line between them that says how many bytes are left out. `whole` is the file for people, in colour; it is there when
 * the text leaves something out or is more than a post shows.
 */
export function shape(printed: Printed, redact: Redact): { output: Output; whole?: Uint8Array } {
  const pieces = piecesOf(printed);
  const { text, omitted } = pieces.gap === 0 ? inOnePiece(pieces, redact) : inTwo(pieces, printed.total, redact);
  const output = { text, bytes: printed.total, omitted };
  if (omitted === 0 && text.length <= LIMITS.postOutput) return { output };
  return { output, whole: wholeOf(pieces, redact) };
}

interface Pieces {
  first: Uint8Array;
  /** Empty when nothing is missing. */
  last: Uint8Array;
  /** Bytes between them that nobody has. */
  gap: number;
  broken: boolean;
}

function piecesOf({ first, last, total, broken = false }: Printed): Pieces {
  const start = total - last.length;
  const none = new Uint8Array();
  if (first.length >= total) return { first: broken ? wholeCharacters(first) : first, last: none, gap: 0, broken };
  if (start <= first.length) {
    const joined = new Uint8Array(total);
    joined.set(first);
    joined.set(last.subarray(first.length - start), first.length);
    return { first: broken ? wholeCharacters(joined) : joined, last: none, gap: 0, broken };
  }
  const begin = wholeCharacters(first);
  const skipped = pastBrokenWord(last);
  const end = last.subarray(skipped);
  return { first: begin, last: broken ? wholeCharacters(end) : end, gap: start + skipped - begin.length, broken };
}

/** Without the first bytes of a character that was cut at the end. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes.at(-back) ?? 0;
    if (isContinued(byte)) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}

/** Where the first whole line begins, or, in a line that has no end, the first whole word. */
function pastBrokenWord(bytes: Uint8Array): number {
  const lineEnd = bytes.indexOf(NEWLINE);
  if (lineEnd !== -1 && lineEnd < bytes.length - 1) return lineEnd + 1;
  const end = bytes.findIndex((byte, index) => (index >= PAST_TOKENS && !isContinued(byte)) || !isOfToken(byte));
  return end === -1 ? bytes.length : end;
}

/** Not the first byte of a character. */
function isContinued(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Letters, digits, what stands between them in tokens, and every byte of a longer character. */
function isOfToken(byte: number): boolean {
  return byte >= 0x80 || /[\w.~+/=%-]/.test(String.fromCharCode(byte));
}

function inOnePiece({ first, broken }: Pieces, redact: Redact): { text: string; omitted: number } {
  const all = redact(clean(decode(first)), { end: broken });
  const sizes = { max: LIMITS.outputHead + LIMITS.outputTail, head: LIMITS.outputHead, line: LIMITS.outputLine };
  const { head, tail, shown, within } = endsOf(all, sizes);
  const omitted = utf8(all) - shown;
  return { text: tail === null ? head : `${head}${leftOut(omitted - within)}${tail}`, omitted };
}

function inTwo({ first, last, broken }: Pieces, total: number, redact: Redact): { text: string; omitted: number } {
  const begin = redact(clean(decode(first)), { end: true });
  const end = redact(clean(decode(last)), { start: true, end: broken });
  const head = takeHead(begin, LIMITS.outputHead, LIMITS.outputLine);
  const tail = takeTail(lastPart(end), LIMITS.outputTail - NOTE_ROOM, LIMITS.outputLine);
  const omitted = total - head.shown - tail.shown;
  return { text: `${endLine(head.text)}${leftOut(omitted - head.within - tail.within)}${tail.text}`, omitted };
}

/** Of a line that has no beginning only the end is of use. */
function lastPart(text: string): string {
  const lineEnd = text.indexOf("\n");
  const isOneLine = lineEnd === -1 || lineEnd === text.length - 1;
  return isOneLine ? text.slice(-LIMITS.outputLine).replace(/^[\uDC00-\uDFFF]/, "") : text;
}

function wholeOf({ first, last, gap, broken }: Pieces, redact: Redact): Uint8Array {
  const begin = inColour(first, { end: gap > 0 || broken }, redact);
  const text = gap === 0 ? begin : `${endLine(begin)}${leftOut(gap)}${inColour(last, { start: true, end: broken }, redact)}`;
  return new TextEncoder().encode(text);
}

/** For a person's terminal. A secret with colour inside it is found too; then its line loses the colour. */
function inColour(bytes: Uint8Array, cut: Cut, redact: Redact): string {
  const text = redact(cleanInColour(decode(bytes)), cut);
  const isHidden = (plain: string): boolean => redact(plain, cut) === plain;
  const bare = withoutColour(text);
  if (bare === text || isHidden(bare)) return text;
  const lines = text.split("\n").map((line) => {
    const plain = withoutColour(line);
    const hidden = plain === line ? plain : redact(plain);
    return hidden === plain ? line : hidden;
  });
  const mended = lines.join("\n");
  return isHidden(withoutColour(mended)) ? mended : redact(bare, cut);
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
