import { DeckhandError } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import { asRecord, parseJson } from "./json.ts";
import { repetitions } from "./left-out.ts";

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

/** Who takes the items. */
interface Hearer {
  /** Characters that it knows by now and that may be said once more, whole; 0 where nothing is said twice. See `repetitions`. */
  heard(): number;
  /** Some bytes of the body were no text. */
  spoil(): void;
}

export function bodyReader(hearer: Hearer = { heard: () => 0, spoil() {} }): BodyReader {
  const lines = lineSplitter(hearer);
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

function lineSplitter({ heard, spoil }: Hearer) {
  const repeated = repetitions(heard);
  let rest = "";
  /** A `\r` at the end of a piece may be the half of `\r\n`. */
  let halfEnd = "";
  return {
    decode: decoder(spoil),
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
      rest = repeated.from(rest);
      return lines;
    },
  };
}

/** Decodes piece by piece; without bytes: what is left. */
function decoder(spoil: () => void): (bytes?: Uint8Array) => string {
  let utf8 = new TextDecoder("utf-8", { fatal: true });
  return (bytes) => {
    try {
      return bytes ? utf8.decode(bytes, { stream: true }) : utf8.decode();
    } catch {
      // Not text. It is read on, so that what can be read is told; what a command was meant to be is not known any more.
      spoil();
      utf8 = new TextDecoder();
      return bytes ? utf8.decode(bytes, { stream: true }) : "\ufffd";
    }
  };
}

function eventJoiner() {
  let data: string[] = [];
  let name = "";
  let held = 0;
  function dispatch(last: boolean): Item[] {
    const [payload, event] = [data, name];
    data = [];
    name = "";
    held = 0;
    return payload.length === 0 ? [] : itemsOf(payload, event, last);
  }
  return {
    line(line: string): Item[] {
      if (line === "") return dispatch(false);
      held += line.length;
      if (held > LIMITS.modelAnswer) throw endless();
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
