import type { NewEntry } from "./entry.ts";
import type { History, Told } from "./history.ts";
import { PEOPLE, share } from "./items.ts";

/** When nobody says how much the model can read. */
export const WINDOW = 32_768;

/** Shares of the window: old outputs are taken out from here on, a summary is made from here on. */
const PRUNE_AT = 0.7;
const SUMMARISE_AT = 0.8;
/** How full it may be when the endpoint has refused more: nothing is tried a third time. */
const SAFE = 0.6;

/** Newest outputs that stay, and what taking out others must win: tokens, or a share of a small window. */
const PROTECTED = { tokens: 30_000, share: 0.3 };
const GAIN = { tokens: 15_000, share: 0.15 };
/** What a summary must win. */
const WORTH = { tokens: 8_000, share: 0.1 };
/** The newest whole steps that a summary leaves as they are: of what is not the same in every request. */
const KEPT = { tokens: 15_000, share: 0.4 };
/** A summary ends about here. */
export const SUMMARY = { tokens: 3_000, share: 0.1 };
/** The share of a small window that the repository's notes get, and the bytes of a token, at least. */
const NOTES = { share: 0.05, bytes: 3 };
/** What a placeholder takes. */
const PLACEHOLDER = 60;

/** What has to happen before the next request: entries without a summary as they are; `summarise`: up to which entry. */
export interface Room {
  summarise: number | null;
  squeezes: NewEntry<"compacted">[];
  /** What a summary is to be marked with. */
  marks: Pick<NewEntry<"compacted">, "tokens" | "window" | "overflow">;
}

type Squeeze = Pick<NewEntry<"compacted">, "upto" | "outputs" | "words" | "said" | "notes">;

/** Bytes that the repository's notes may have. */
export function notesIn(window: number): number {
  return Math.floor(window * NOTES.share * NOTES.bytes);
}

/**
 * Decides whether the messages still fit, before each request and once more when the endpoint says that they do not
 * (`overflowed`). What it wants changes what was sent once; all of it is done at once, so that a crossing costs the
 * endpoint's cache once. Null: there is room, or nothing is left that could go.
 */
export function makeRoom(history: History, window: number, overflowed: boolean): Room | null {
  const { tokens, fixed } = history.tokens();
  if (tokens < window * PRUNE_AT && !overflowed) return null;
  // What was refused is too much, whatever we thought that fits.
  const most = overflowed ? Math.min(window, tokens) : window;
  const limit = most * (overflowed ? SAFE : SUMMARISE_AT);
  const marks = { tokens, window: most, ...(overflowed ? { overflow: true as const } : {}) };
  const plan = (summarise: number | null, squeezes: Squeeze[]): Room => ({
    ...{ summarise, marks, squeezes: squeezes.map((squeeze) => ({ type: "compacted", ...squeeze, ...marks })) },
  });

  const steps = history.steps();
  const kept = share(KEPT, Math.max(0, limit - fixed));
  const { upto, newest, wins } = cutAt(steps, kept, share(PEOPLE, most));
  const old = oldOutputs(steps, most);
  const pruned = old.gain >= share(GAIN, most) ? old.gain : 0;
  const prune = pruned > 0 ? [{ upto: old.upto, outputs: 0 }] : [];
  // Where much else has gathered, outputs alone would have to go again soon.
  const isEnough = wins - pruned < share(WORTH, most);
  if (isEnough && pruned > 0 && tokens - pruned < limit) return plan(null, prune);
  if (tokens < window * SUMMARISE_AT && !overflowed) return null;

  const [less, shorter] = lessOfNewest(history, newest, kept);
  const smaller = [...less, ...(overflowed ? lessNotes(history, most) : [])];
  if (isEnough && smaller.length > 0 && tokens - pruned - shorter < limit) return plan(null, [...prune, ...smaller]);
  if (wins >= share(WORTH, most)) return plan(upto, smaller);
  return prune.length + smaller.length > 0 ? plan(null, [...prune, ...smaller]) : null;
}

/** What makes the newest steps fit, when even they are too much, and how many tokens that wins, about. */
function lessOfNewest(history: History, newest: Told[], kept: number): [Squeeze[], number] {
  const all = newest.reduce((total, step) => total + step.tokens, 0);
  const long = newest.reduce((total, step) => total + step.long + step.outputs.length + (step.said > 0 ? 1 : 0), 0);
  if (all <= kept || long === 0) return [[], 0];
  const bytes = history.bytesOf(kept / long);
  const words = newest.some((step) => step.long > 0 && step.words > kept / long) ? { words: bytes } : {};
  const said = newest.some((step) => step.said > kept / long) ? { said: bytes } : {};
  return [[{ upto: newest.at(-1)?.seq ?? 0, outputs: bytes, ...words, ...said }], all - kept];
}

/** Less of what the repository says, when it is much for what the endpoint can read. */
function lessNotes(history: History, window: number): Squeeze[] {
  const notes = history.notes();
  const isMuch = notes !== null && notes.tokens > window * NOTES.share * 2;
  // There was no output yet when it was told.
  return isMuch ? [{ upto: notes.seq, outputs: 0, notes: notesIn(window) }] : [];
}

/** All outputs but the newest, and what they take. */
function oldOutputs(steps: Told[], window: number): { upto: number; gain: number } {
  let room = share(PROTECTED, window);
  let upto = 0;
  let gain = 0;
  const ran = steps.filter(({ outputs }) => outputs.length > 0);
  for (const { seq, outputs } of ran.toReversed()) {
    room -= outputs.reduce((all, each) => all + each, 0);
    // The results of one step go or stay together, and the newest step stays.
    if (upto === 0 && (room >= 0 || seq === ran.at(-1)?.seq)) continue;
    upto = Math.max(upto, seq);
    gain += outputs.reduce((all, each) => all + Math.max(0, each - PLACEHOLDER), 0);
  }
  return { upto, gain };
}

/** Up to which entry a summary would stand for what happened, all but the newest whole steps, and what it would win. */
function cutAt(steps: Told[], kept: number, people: number): { upto: number; newest: Told[]; wins: number } {
  let room = kept;
  let at = steps.length;
  while (at > 0 && (at === steps.length || room - (steps[at - 1]?.tokens ?? 0) >= 0)) {
    at -= 1;
    room -= steps[at]?.tokens ?? 0;
  }
  const replaced = steps.slice(0, at);
  const words = replaced.reduce((all, step) => all + step.words, 0);
  const wins = replaced.reduce((all, step) => all + step.tokens - step.words, 0) + Math.max(0, words - people);
  const upto = Math.max(0, ...replaced.map(({ seq }) => seq));
  return { upto, newest: steps.slice(at).filter(({ seq }) => seq > upto), wins };
}
