/** Reading JSON that others wrote. */

/** The value when it is a plain object, else null. */
export function asRecord(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

/** The value when it is a string with something in it, else "". */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Parses, or undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is an answer here, not an accident: every caller asks for it.
    return undefined;
  }
}

/** How deeply a value may be nested: nobody means more, and what goes through it level by level has no room for very many. */
const DEEPEST = 100;

/** About how many characters a value takes as JSON; Infinity when it is nested too deeply. */
export function weigh(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  if (depth >= DEEPEST) return Infinity;
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + weigh(each, depth + 1), 2);
  return Object.entries(value).reduce((sum, [name, each]) => sum + name.length + 4 + weigh(each, depth + 1), 2);
}

/** A string as it is, else the value as JSON; what is nested too deeply as a text that is none. */
export function textFor(value: unknown): string {
  if (typeof value === "string") return value;
  return weigh(value) === Infinity ? "(nested too deeply)" : JSON.stringify(value);
}

/**
 * The arguments of a call, or null when the text is not exactly one JSON object. Only what loses nothing is
 * mended: nothing at all is `{}`; a string of JSON is unwrapped twice at most; objects in a row that are equal,
 * or empty beside one that is not, are one. What is unfinished or broken stays null: the beginning of a command
 * is another command.
 */
export function parseArguments(raw: string): Record<string, unknown> | null {
  if (raw.trim() === "" || raw.trim() === "null") return {};
  let value = parseJson(raw);
  if (value === undefined) return onlyObject(raw);
  for (let unwrapped = 0; typeof value === "string" && unwrapped < 2; unwrapped++) value = parseJson(value);
  return shallow(value);
}

function shallow(value: unknown): Record<string, unknown> | null {
  return weigh(value) === Infinity ? null : asRecord(value);
}

/** Objects that one text may say in a row. */
const IN_A_ROW = 1_000;

/** The one object that a run `{..}{..}` says, if it says only one. */
function onlyObject(raw: string): Record<string, unknown> | null {
  const different = new Map<string, Record<string, unknown>>();
  let count = 0;
  for (const part of objectTexts(raw)) {
    const object = shallow(parseJson(part));
    if (!object || ++count > IN_A_ROW) return null;
    if (Object.keys(object).length > 0) different.set(JSON.stringify(object), object);
    if (different.size > 1) return null;
  }
  return different.values().next().value ?? {};
}

/** Cuts after every `}` that closes an object outside of strings. What is left over is a part of its own. */
function* objectTexts(raw: string): Generator<string> {
  let depth = 0;
  let start = 0;
  let inString = false;
  for (let at = 0; at < raw.length; at++) {
    const letter = raw[at];
    if (inString) {
      if (letter === "\\") at++;
      else if (letter === '"') inString = false;
    } else if (letter === '"') inString = true;
    else if (letter === "{") depth++;
    else if (letter === "}" && --depth === 0) {
      yield raw.slice(start, at + 1);
      start = at + 1;
    }
  }
  const rest = raw.slice(start).trim();
  if (rest !== "") yield rest;
}
