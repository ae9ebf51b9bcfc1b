import { clean } from "../core/clean.ts";
import type { Redact } from "../core/redactor.ts";
import { beginOfKey } from "../core/token-shapes.ts";
import { LIMITS } from "../limits.ts";
import { SKIPPED } from "./capture.ts";

/** An unfinished line of so many characters is shown with what is known of it, and its rest never. */
const LONG = 4 * LIMITS.outputLine;
/** What may be the rest of a private key whose beginning was skipped. */
const REST_OF_KEY = /^(?:[A-Za-z0-9+/=]{20,}\r?\n)*(?:[A-Za-z0-9+/=]*\r?\n?-----END [^\n]*\n)?/;

export interface LiveText {
  add(data: Uint8Array): void;
  /** Shows the last line, finished or not. */
  end(): void;
}

/**
 * Turns a command's bytes into live text, whole lines at a time, so that no secret and no character is shown in
 * halves: what may become a private key waits for its end, and a line that does not end is cut like any output.
 */
export function liveText(redact: Redact, onText: (text: string) => void): LiveText {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let held = "";
  /** The beginning of this line was shown: the rest of it is not. */
  let cut = false;
  /** Something was skipped, and nothing has come since that is no part of a key. */
  let skipped = false;

  function putAll(text: string, isCut: boolean): void {
    const pieces = text.split(SKIPPED);
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) onText(SKIPPED);
      if (index > 0) skipped = true;
      put(piece, isCut || index < pieces.length - 1);
    }
  }

  function put(text: string, isCut: boolean): void {
    const rest = skipped ? text.replace(REST_OF_KEY, "") : text;
    if (rest === "") return;
    skipped = false;
    const lineEnd = rest.endsWith("\n") ? "\n" : "";
    onText(redact(clean(rest.slice(0, rest.length - lineEnd.length)), { end: isCut }) + lineEnd);
  }

  function putLong(): void {
    const shown = redact(clean(held), { end: true });
    onText(`${shown.slice(0, shown.lastIndexOf("\n") + 1 + LIMITS.outputLine).toWellFormed()} …\n`);
    held = "";
    cut = true;
  }

  return {
    add: (data) => {
      held += decoder.decode(data, { stream: true });
      if (cut) {
        const lineEnd = held.indexOf("\n");
        cut = lineEnd === -1;
        held = cut ? "" : held.slice(lineEnd + 1);
      }
      const lines = held.lastIndexOf("\n") + 1;
      const key = beginOfKey(held.slice(0, lines));
      const upTo = key === -1 ? lines : held.lastIndexOf("\n", key) + 1;
      putAll(held.slice(0, upTo), false);
      held = held.slice(upTo);
      if (held.length - held.lastIndexOf("\n") > LONG) held = withoutProgress(held);
      if (held.length - held.lastIndexOf("\n") > LONG) putLong();
    },
    end: () => {
      held += decoder.decode();
      if (!cut) putAll(held, true);
      held = "";
    },
  };
}

/** The unfinished line without what a terminal would have written over. */
function withoutProgress(text: string): string {
  const last = text.lastIndexOf("\n") + 1;
  const over = text.lastIndexOf("\r", text.length - 2);
  return over >= last ? text.slice(0, last) + text.slice(over + 1) : text;
}
