import { DeckhandError } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";

/** Characters from which on a string counts as long. */
const LONG = 200_000;

/** What stands in a value for a long string that was left out; no text of a model is like it. */
const MARK = /^\0(\d+)$/;

/** How many characters a string had that was left out of its event; null for a string that is there. */
export function leftOut(text: string): number | null {
  const length = MARK.exec(text)?.[1];
  return length === undefined ? null : Number(length);
}

/**
 * Responses says a text that it has sent in pieces three times more, each time in one string, and each would be in memory
 * several times. When so much was `heard` already, a mark with its length takes the place of such a string: its reader
 * knows whether the pieces were as long. Only what an event repeats is left out, never what it may be the first to say.
 */
export function repetitions(heard: () => number) {
  let inside = false;
  /** The next character belongs to the backslash before it. */
  let escaped = false;
  let length = 0;
  let look = LONG;
  /** Counts the characters of the string that stand here. Returns where it ends, -1 while it goes on. */
  function scan(text: string): number {
    const mark = /["\\\r\n]/g;
    const escape = (at: number) => (length -= text[at] === "u" ? 5 : 1);
    if (escaped && text !== "") {
      escape(0);
      escaped = false;
      mark.lastIndex = 1;
    }
    for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
      if (found[0] !== "\\") {
        length += found.index;
        return found.index;
      }
      escaped = found.index === text.length - 1;
      if (escaped) break;
      escape(found.index + 1);
      mark.lastIndex = found.index + 2;
    }
    length += text.length;
    return -1;
  }
  return {
    /** The unfinished line, without the long string in which it ends. */
    from(line: string): string {
      if (heard() <= LONG) return line;
      if (line.length < look) {
        if (line.length < LONG) look = LONG;
        return line;
      }
      const open = openString(line);
      look = 2 * line.length;
      if (open < 0 || line.length - open < LONG || !repeats(line.slice(0, open))) return line;
      inside = true;
      length = 0;
      scan(line.slice(open + 1));
      return line.slice(0, open + 1);
    },
    /** What follows when such a string is over: it begins with its mark, and its quote or the end of a line that broke off. */
    rest(text: string): string {
      if (!inside) return text;
      const end = scan(text);
      if (length > LIMITS.modelAnswer) throw new DeckhandError("MODEL_CUT", "it did not end");
      if (end < 0) return "";
      inside = false;
      return `\\u0000${length}${text.slice(end)}`;
    },
  };
}

/** Whether the string that comes behind this beginning of a line says again what events before have said. */
function repeats(beginning: string): boolean {
  const type = /"type"\s*:\s*"(response\.[\w.]+)"/.exec(beginning)?.[1] ?? "";
  return /\.(?:done|completed|incomplete)$/.test(type) && /"(?:text|arguments|refusal)"\s*:\s*$/.test(beginning.slice(-40));
}

/** Where the string begins in which a line of JSON ends; -1 for none. */
function openString(line: string): number {
  let open = -1;
  for (const { 0: found, index } of line.matchAll(/\\[^]?|"/g)) {
    if (found === '"') open = open < 0 ? index : -1;
  }
  return open;
}
