import { HIDDEN, hideEnded, hideShapes, hideShapesAndBegun } from "./token-shapes.ts";

/** At which ends a text was cut out of a longer one: half a secret may stand there. */
export interface Cut {
  start?: boolean;
  end?: boolean;
}

/** A text with `[secret]` for every secret in it; the same text always gives the same, and hiding twice is hiding once. */
export type Redact = (text: string, cut?: Cut) => string;

/** Shorter values would match by chance and tear holes into every text. */
export const SHORTEST_SECRET = 8;
/** From this many characters on, the half of a known value is told from chance. */
const HALF = 4;

const encoder = new TextEncoder();

/**
 * Made once for all secrets that are known by value; those that show by their form are always hidden. Linear in the
 * length of the text, a few milliseconds a megabyte.
 */
export function redactor(secrets: readonly string[]): Redact {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter((form) => form.length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
  const known = forms.length === 0 ? null : new RegExp(forms.map(literally).join("|"), "g");
  return (text, { start = false, end = false } = {}) => {
    if (text.length < SHORTEST_SECRET && !start && !end) return text;
    let out = known === null ? text : text.replace(known, HIDDEN);
    if (start) out = hideEnded(withoutHalf(out, forms, (form, length) => out.startsWith(form.slice(-length)), "start"));
    if (end) out = withoutHalf(out, forms, (form, length) => out.endsWith(form.slice(0, length)), "end");
    return end ? hideShapesAndBegun(out) : hideShapes(out);
  };
}

/** Every string in a value, redacted; its keys too. Without a secret it is the value itself. What runs is never made from this. */
export function redacted<T>(value: T, redact: Redact): T {
  // Nearly always there is none, which one look at all texts together tells: what stands between two of them is a border
  // to every form of a secret, so that one that shows in a text alone shows here too.
  const all = textsIn(value).join("\0");
  if (redact(all) === all) return value;
  const walk = (part: unknown): unknown => {
    if (typeof part === "string") return redact(part);
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [redact(key), walk(inner)]));
  };
  return walk(value) as T;
}

/** All that is long enough for a secret. */
function textsIn(part: unknown, texts: string[] = []): string[] {
  if (typeof part === "string") {
    if (part.length >= SHORTEST_SECRET) texts.push(part);
  } else if (Array.isArray(part)) {
    for (const inner of part) textsIn(inner, texts);
  } else if (typeof part === "object" && part !== null) {
    for (const [key, inner] of Object.entries(part)) {
      textsIn(key, texts);
      textsIn(inner, texts);
    }
  }
  return texts;
}

/** The ways in which a value is written: as it is, in addresses, in JSON, in base64; the long lines of one of several lines. */
function formsOf(secret: string): string[] {
  const value = secret.trim().toWellFormed();
  if (value.length < SHORTEST_SECRET) return [];
  const lines = value.includes("\n") ? value.split("\n").filter((line) => line.length >= 16 && !line.startsWith("-----")) : [];
  return [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), ...base64(value), ...lines];
}

/** What is always the same of a value in base64, whatever stands before and after it. */
function base64(value: string): string[] {
  const bytes = encoder.encode(value);
  return [0, 1, 2].flatMap((before) => {
    const text = btoa("\0".repeat(before) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    const own = text.slice(before === 0 ? 0 : before + 1, Math.floor(((before + bytes.length) * 8) / 6));
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function withoutHalf(text: string, forms: string[], stands: (form: string, length: number) => boolean, at: "start" | "end"): string {
  let most = 0;
  for (const form of forms) {
    for (let length = form.length - 1; length >= HALF && length > most; length -= 1) {
      if (stands(form, length)) most = length;
    }
  }
  if (most === 0) return text;
  return at === "start" ? HIDDEN + text.slice(most) : text.slice(0, -most) + HIDDEN;
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
