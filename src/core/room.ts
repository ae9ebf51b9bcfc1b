import type { NewEntry } from "./entry.ts";
import type { History } from "./history.ts";

/** When nobody says how much the model can read. */
export const WINDOW = 32_768;

/** Shares of the window: old outputs are taken out from here on, a summary is made from here on. */
const PRUNE_AT = 0.7;
const SUMMARISE_AT = 0.8;

/** Newest outputs that stay, and what taking out others must win: tokens, or a share of a small window. */
const PROTECTED = { tokens: 30_000, share: 0.3 };
const GAIN = { tokens: 15_000, share: 0.15 };
/** The newest whole steps that a summary leaves as they are. */
const KEPT = { tokens: 15_000, share: 0.3 };
/** Bytes of an output that stay when even the newest are too much. */
const SQUEEZED = 2_000;

/** What has to happen before the next request. `squeeze` takes out outputs; `summarise` asks the model for a summary of all up to `upto`. */
export type Room = { do: "squeeze"; entry: NewEntry<"compacted"> } | { do: "summarise"; upto: number; tokens: number } | null;

/**
 * Decides whether the messages still fit, before each request and once more when the endpoint says that they do not
 * (`overflowed`). Each crossing changes what was sent once. Null: there is room, or nothing is left that could go.
 */
export function makeRoom(history: History, window: number, overflowed: boolean): Room {
  const { tokens } = history.tokens();
  if (tokens < window * PRUNE_AT && !overflowed) return null;
  const old = oldOutputs(history, window);
  const squeeze = (upto: number, outputs: number): Room => ({ do: "squeeze", entry: { type: "compacted", upto, outputs, tokens, window } });
  const enough = overflowed || tokens - old.gain < window * SUMMARISE_AT;
  if (old.gain >= share(GAIN, window) && enough) return squeeze(old.upto, 0);
  if (tokens < window * SUMMARISE_AT && !overflowed) return null;
  const upto = summarisedUpTo(history, window);
  if (upto > 0) return { do: "summarise", upto, tokens };
  const results = history.results();
  const big = results.filter((each) => each.tokens > SQUEEZED);
  return big.length > 0 ? squeeze(results.at(-1)?.seq ?? 0, SQUEEZED) : null;
}

function share({ tokens, share: of }: { tokens: number; share: number }, window: number): number {
  return Math.min(tokens, Math.floor(window * of));
}

/** All outputs but the newest, and what they take. */
function oldOutputs(history: History, window: number): { upto: number; gain: number } {
  let room = share(PROTECTED, window);
  let upto = 0;
  let gain = 0;
  for (const { seq, tokens } of history.results().reverse()) {
    room -= tokens;
    // The results of one step go or stay together, and the newest step stays.
    if (upto === 0 && (room >= 0 || seq === history.results().at(-1)?.seq)) continue;
    upto = Math.max(upto, seq);
    gain += Math.max(0, tokens - 60);
  }
  return { upto, gain };
}

/** Up to which entry a summary stands for what happened: all but the newest whole steps. 0 when that would be nothing. */
function summarisedUpTo(history: History, window: number): number {
  let room = share(KEPT, window);
  const steps = history.steps();
  for (let at = steps.length - 1; at >= 0; at -= 1) {
    const step = steps[at];
    room -= step?.tokens ?? 0;
    if (room < 0 && at < steps.length - 1) return step?.seq ?? 0;
  }
  return 0;
}
