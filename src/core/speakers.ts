import type { MessageFile } from "./entry.ts";
import { visible } from "./visible.ts";

/**
 * How the model is told who says what. At the beginning of a line there stands nothing but what Deckhand puts there: the name of
 * a writer, or a note in brackets. Nobody can write a second line of that kind into what they say, nor into a name.
 */

/** Characters of a name. */
const NAME = 80;

/** Every further line of a text stands back by two blanks. */
export function indented(text: string): string {
  return broken(text).replace(/\n(?! {2})/g, "\n  ");
}

/** Whatever may be read as the end of a line is one. */
export function broken(text: string): string {
  return text.replace(/\r\n?|[\u000b\u000c\u0085\u2028\u2029]/g, "\n");
}

/** A name that can pass for no other line. */
export function speaker(name: string): string {
  const plain = visible(name.replace(/[\s:()[\]]+/g, " ")).trim();
  return Array.from(plain).slice(0, NAME).join("") || "somebody";
}

/** The line for an attached file. */
export function attachedLine({ name, type, bytes }: MessageFile, more: string): string {
  const kind = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : "unknown type";
  return `(attached: ${safeName(name)}, ${kind}, ${bytes} bytes${more})`;
}

/** Characters of a file's name. */
const FILE_NAME = 60;

/** A file's name that is nothing but a name: no path, nothing hidden, no dot or dash before it, not long. */
export function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const plain = visible(last.normalize("NFC"))
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_")
    .replace(/^[._-]+/, "");
  const end = /\.[^.]{1,10}$/.exec(plain)?.[0] ?? "";
  const letters = Array.from(plain.slice(0, plain.length - end.length));
  return `${letters.slice(0, FILE_NAME - end.length).join("")}${end}` || "file";
}
