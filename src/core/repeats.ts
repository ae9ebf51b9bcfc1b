import type { Call, NewEntry } from "./entry.ts";

/** How many of the newest calls are remembered. */
const REMEMBERED = 16;

/** From here on the model is told that it goes round in circles, and from there on people are asked. */
export const REPEATS = { told: 3, asked: 5, cycles: 4 } as const;

/** What a call did and what came of it, as text to compare; how long it took does not count. */
export function signatureOf(call: Call, ended: NewEntry<"run-ended">): string {
  return JSON.stringify([call.name, sorted(call.args) ?? call.raw, ended.how, ended.exit, ended.why ?? ""]) + ended.output.text;
}

/** Adds the newest signature; the list stays short. */
export function remembering(recent: readonly string[], signature: string): string[] {
  return [...recent.slice(1 - REMEMBERED), signature];
}

/** How many times in a row the newest call did the same with the same outcome; 0 when there is none. */
export function sameInARow(recent: readonly string[]): number {
  const last = recent.at(-1);
  const other = recent.findLastIndex((each) => each !== last);
  return recent.length - 1 - other;
}

const ROUND =
  "Note from Deckhand: this is the {} time in a row that you made this very call, and the same came of it. Do something else, or say what keeps you from going on.";

/** The newest step of a turn, and what is remembered of the calls before. */
interface Round {
  step: { entry: { again?: number }; calls: { call: Call }[] } | null;
  turn: { recent: string[] } | null;
}

/** The same entries; a result that comes again and again tells the model so, in the log, so that each request repeats it. */
export function noted(news: NewEntry[], { step, turn }: Round): NewEntry[] {
  let recent = turn?.recent ?? [];
  return news.map((entry) => {
    // What people want counts for nothing against the model.
    const call =
      entry.type === "run-ended" && step?.entry.again === undefined && step?.calls.find((each) => each.call.id === entry.call)?.call;
    if (!call) return entry;
    recent = remembering(recent, signatureOf(call, entry));
    const times = sameInARow(recent);
    if (times < REPEATS.told) return entry;
    return { ...entry, notes: [...(entry.notes ?? []), ROUND.replace("{}", `${times}${times === 3 ? "rd" : "th"}`)] };
  });
}

/** How many times in a row two different calls took turns with the same outcomes: A-B-A-B is two. */
export function takingTurns(recent: readonly string[]): number {
  const [a, b] = [recent.at(-2), recent.at(-1)];
  if (a === undefined || a === b) return 0;
  let cycles = 0;
  for (let at = recent.length - 2; at >= 0 && recent[at] === a && recent[at + 1] === b; at -= 2) cycles += 1;
  return cycles;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
