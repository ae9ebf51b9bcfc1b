import { LIMITS } from "../limits.ts";
import type { Output } from "./entry.ts";

/** What was kept of a command's bytes. */
export interface Printed {
  /** From the beginning: all of them when `total` is its length. */
  first: Uint8Array;
  /** Up to the end; may overlap `first`. */
  last: Uint8Array;
  /** Every byte that the command printed, kept or not. */
  total: number;
}

const ESC = String.fromCharCode(0x1b);
const BEL = String.fromCharCode(0x07);
/** Marks a shortened line while text is cut; `clean` leaves none of these behind. */
const MARK = String.fromCharCode(0x01);

const ANSI = new RegExp(
  [`(?:${ESC}\\[|\\u009b)[0-?]*[ -/]*[@-~]?`, `${ESC}[\\]PX^_][^${ESC}${BEL}\\n]*(?:${BEL}|${ESC}\\\\)?`, `${ESC}[ -/]*[0-~]?`].join("|"),
  "g",
);
const OVERSTRUCK = new RegExp(`[^\\n]${String.fromCharCode(0x08)}`, "gu");
const CONTROL = /(?![\t\n])\p{Cc}/gu;
const LONG_LINE = new RegExp(`^([^\\n]{${LIMITS.outputLine}})([^\\n]+)`, "gmu");
const SHORTENED = new RegExp(`${MARK}(\\d+)${MARK}`, "g");

/**
 * Terminal output as plain text: colours and titles gone, progress lines as they stood at the end, other control
 * characters and broken Unicode as U+FFFD. Linear in the length of the text.
 */
export function clean(text: string): string {
  const plain = text.toWellFormed().replace(ANSI, "").replace(OVERSTRUCK, "");
  return foldProgress(plain).replace(CONTROL, "\uFFFD");
}

/** `10%\r50%\r100%` is what a terminal shows at the end: `100%`. */
function foldProgress(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line) => (line.includes("\r") ? (line.split("\r").findLast((part) => part !== "") ?? "") : line))
    .join("\n");
}

/** Puts `[secret]` where a known secret stands. Values under 8 characters are left: they would match by chance. */
export function redact(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    if (secret.length >= 8) out = out.replaceAll(secret, "[secret]");
  }
  return out;
}

/**
 * A command's bytes as the log keeps them: decoded, cleaned, redacted, long lines shortened, head and tail with a
 * line between them that says how many bytes are left out. `whole` is there when something is left out.
 */
export function shape(printed: Printed, secrets: readonly string[]): { output: Output; whole?: Uint8Array } {
  const all = printed.total <= printed.first.length;
  const first = shorten(redact(clean(decode(printed.first)), secrets));
  const { head, tail } = all ? cut(first) : apart(takeHead(first), printed, secrets);
  const shown = size(head) + size(tail ?? "");
  const omitted = Math.max(0, (all ? sizeOfAll(first) : printed.total) - shown);
  const note = `[... ${omitted} bytes left out ...]\n`;
  const joined = tail === null ? head : `${endLine(head)}${note}${tail}`;
  const text = joined.replace(SHORTENED, (_, bytes: string) => ` [... ${bytes} bytes of this line left out ...]`);
  const output: Output = { text, bytes: printed.total, omitted };
  return omitted === 0 ? { output } : { output, whole: wholeOf(printed, all, secrets) };
}

function wholeOf(printed: Printed, all: boolean, secrets: readonly string[]): Uint8Array {
  const begin = decode(printed.first);
  const missing = printed.total - printed.first.length - printed.last.length;
  const note = missing > 0 ? `\n[... ${missing} bytes left out ...]\n` : "";
  const text = all ? begin : `${begin}${note}${decode(printed.last.subarray(Math.max(0, -missing)))}`;
  return new TextEncoder().encode(redact(text, secrets));
}

/** Head and tail that were kept apart: what the head shows is not shown again. */
function apart(head: string, { last, total }: Printed, secrets: readonly string[]): { head: string; tail: string } {
  const again = Math.max(0, sizeOfAll(head) - (total - last.length));
  return { head, tail: endOf(last.subarray(again), secrets) };
}

/** The end of an output whose middle is gone: from the first whole line on. */
function endOf(last: Uint8Array, secrets: readonly string[]): string {
  const text = redact(clean(decode(last)), secrets);
  const lineEnd = text.indexOf("\n");
  if (lineEnd < 0 || lineEnd === text.length - 1) return text.slice(-LIMITS.outputLine).toWellFormed();
  return takeTail(shorten(text.slice(lineEnd + 1)));
}

function cut(text: string): { head: string; tail: string | null } {
  if (text.length <= LIMITS.outputHead + LIMITS.outputTail) return { head: text, tail: null };
  return { head: takeHead(text), tail: takeTail(text) };
}

/** Whole lines from the beginning. Shortened lines are far shorter than the head, so there is at least one. */
function takeHead(text: string): string {
  if (text.length <= LIMITS.outputHead) return text;
  return text.slice(0, text.lastIndexOf("\n", LIMITS.outputHead - 1) + 1);
}

function takeTail(text: string): string {
  if (text.length <= LIMITS.outputTail) return text;
  return text.slice(text.indexOf("\n", text.length - LIMITS.outputTail - 1) + 1);
}

function shorten(text: string): string {
  return text.replace(LONG_LINE, (_, keep: string, rest: string) => `${keep}${MARK}${utf8(rest)}${MARK}`);
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Bytes of a piece as it is shown, without our notes. */
function size(text: string): number {
  return utf8(text.replace(SHORTENED, ""));
}

/** The same with what the notes stand for. */
function sizeOfAll(text: string): number {
  let bytes = size(text);
  for (const found of text.matchAll(SHORTENED)) bytes += Number(found[1]);
  return bytes;
}

function utf8(text: string): number {
  return new TextEncoder().encode(text).length;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
