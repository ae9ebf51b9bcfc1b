import { DeckhandError } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import { asRecord, parseJson } from "./json.ts";

/** One thing that an answer's body says: a JSON value, or that the answer is over. */
export type Item = { done: true } | { done: false; value: unknown };

/**
 * Turns the bytes of an answer into items, whatever form the server gives them: SSE with any line end, comments
 * (also those sent as data), empty events, `[DONE]` with blanks, errors as a field or an event name, JSON lines
 * without `data:`, or one JSON document instead of a stream. Throws MODEL_HTML for a web page and
 * MODEL_CUT for an event whose JSON is broken or a body without end.
 */
export interface BodyReader {
  /** Read them before the next bytes: each is made when it is asked for, so that a long answer leaves little behind. */
  push(bytes: Uint8Array): Iterable<Item>;
  /** The connection ended: what was not ended by a blank line counts when it is whole. */
  end(): Iterable<Item>;
}

/** `heard`: how many characters of the answer are known by now; see `skipped`. */
export function bodyReader(heard: () => number = () => 0): BodyReader {
  const lines = lineSplitter(heard);
  const events = eventJoiner();
  let form: "unknown" | "document" | "events" = "unknown";
  let document = "";
  return {
    *push(bytes) {
      const text = lines.decode(bytes);
      if (form === "unknown") form = formOf(lines.rest() + text);
      for (const line of lines.split(text)) {
        if (form === "events") yield* events.line(line);
        else document += `${line}\n`;
      }
      if (document.length > LIMITS.modelAnswer) throw endless();
    },
    *end() {
      const left = [...lines.split(lines.decode()), lines.rest()];
      if (form !== "document") {
        for (const line of left) yield* events.line(line);
        yield* events.end();
        return;
      }
      document += left.join("\n");
      const value = parseJson(document);
      if (value !== undefined) yield* [{ done: false as const, value }, { done: true as const }];
      else {
        for (const line of document.split("\n")) yield* events.line(line);
        yield* events.end();
      }
    },
  };
}

function formOf(beginning: string): "unknown" | "document" | "events" {
  const first = beginning.trimStart()[0];
  if (first === undefined) return "unknown";
  if (first === "<") throw new DeckhandError("MODEL_HTML");
  return first === "{" || first === "[" ? "document" : "events";
}

function endless(): DeckhandError {
  return new DeckhandError("MODEL_CUT", "it did not end");
}

/** Characters from which on a string counts as long. */
const LONG = 200_000;

function lineSplitter(heard: () => number) {
  const decoder = new TextDecoder();
  const repeated = skipped();
  let rest = "";
  /** A `\r` at the end of a piece may be the half of `\r\n`. */
  let halfEnd = "";
  return {
    /** Without bytes: what is left in the decoder. */
    decode: (bytes?: Uint8Array) => (bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()),
    rest: () => rest,
    split(all: string): string[] {
      const text = repeated.rest(all);
      const halved = text.endsWith("\r");
      const whole = halfEnd + (halved ? text.slice(0, -1) : text);
      const lines = whole.includes("\r") ? whole.split(/\r\n|\n|\r/) : whole.split("\n");
      halfEnd = halved ? "\r" : "";
      lines[0] = rest + (lines[0] as string);
      rest = lines.pop() as string;
      if (rest.length > LIMITS.modelAnswer) throw endless();
      if (heard() > LONG) rest = repeated.from(rest);
      return lines;
    },
  };
}

/**
 * Responses says a text that it has sent in pieces three times more, each time in one string, and each would be in memory
 * several times. When so much was heard already, what stands in a long string is left out: an empty one says that the pieces hold.
 */
function skipped() {
  let inside = false;
  /** The next character belongs to the backslash before it. */
  let escaped = false;
  let look = LONG;
  return {
    /** The unfinished line, without the long string in which it ends. */
    from(line: string): string {
      if (line.length < look) {
        if (line.length < LONG) look = LONG;
        return line;
      }
      const { open, after } = stringAt(line);
      look = 2 * line.length;
      if (open < 0 || line.length - open < LONG) return line;
      inside = true;
      escaped = after;
      return line.slice(0, open + 1);
    },
    /** What follows when such a string is over: it begins with its quote, or with the end of a line that broke off. */
    rest(text: string): string {
      if (!inside) return text;
      const mark = /["\\\r\n]/g;
      mark.lastIndex = escaped ? 1 : 0;
      escaped = false;
      for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
        if (found[0] !== "\\") {
          inside = false;
          return text.slice(found.index);
        }
        escaped = found.index === text.length - 1;
        if (escaped) break;
        mark.lastIndex = found.index + 2;
      }
      return "";
    },
  };
}

/** Where the string begins in which a line of JSON ends, -1 for none; `after`: it ends in a backslash that belongs to what comes. */
function stringAt(line: string): { open: number; after: boolean } {
  let open = -1;
  let after = false;
  for (const { 0: found, index } of line.matchAll(/\\[^]?|"/g)) {
    if (found === '"') open = open < 0 ? index : -1;
    else after = found.length === 1;
  }
  return { open, after };
}

function eventJoiner() {
  let data: string[] = [];
  let name = "";
  function dispatch(last: boolean): Item[] {
    const [payload, event] = [data, name];
    data = [];
    name = "";
    return payload.length === 0 ? [] : itemsOf(payload, event, last);
  }
  return {
    line(line: string): Item[] {
      if (line === "") return dispatch(false);
      const value = line.slice(line.indexOf(":") + 1);
      // Some servers leave out `data:`; a field's name never begins like this.
      if (line.startsWith("{")) data.push(line);
      else if (line.startsWith("data:")) data.push(value);
      else if (line.startsWith("event:")) name = value.trim();
      else if (line.startsWith("error:")) return [{ done: false, value: { error: parseJson(value) ?? value } }];
      return [];
    },
    end: () => dispatch(true),
  };
}

function itemsOf(payload: string[], event: string, last: boolean): Item[] {
  const text = payload.join("\n").trim();
  if (event === "error") return [{ done: false, value: asError(parseJson(text) ?? text) }];
  if (text === "[DONE]") return [{ done: true }];
  const value = parseJson(text);
  if (Array.isArray(value)) return value.map((each: unknown) => ({ done: false, value: each }));
  const record = asRecord(value);
  // Responses names each event twice; some servers do it once.
  if (record) return [{ done: false, value: event.startsWith("response.") ? { type: event, ...record } : record }];
  // Events that only a line end parts, not a blank line.
  if (payload.length > 1) return payload.flatMap((line) => itemsOf([line], event, last));
  // What does not begin like an object is a heartbeat or a comment; a broken last event is a cut, which shows itself.
  if (!text.startsWith("{") || last) return [];
  throw new DeckhandError("MODEL_CUT", "a piece of it cannot be read", { retryAfterMs: 0 });
}

function asError(value: unknown): unknown {
  return asRecord(value)?.["error"] === undefined ? { error: value } : value;
}
