import type { Redact } from "./redactor.ts";

/** Characters that are shown together, when they end with a word; of a very long text more, as a share of what was shown. */
const ENOUGH = 64;
const SHARE = 1 / 256;
/** What of the text before is looked at again: a name may tell that the next word is a secret. */
const CONTEXT = 2_048;

/** Takes a text in pieces. */
export interface Words {
  hear(piece: string): void;
  /** Nothing more comes: shows the rest. */
  end(): void;
}

/**
 * Passes on a text that comes in pieces, some words at a time, so that no secret is shown in halves: what may become one
 * waits for its end.
 */
export function wordByWord(redact: Redact, onText: (text: string) => void): Words {
  let context = "";
  let held = "";
  let next = ENOUGH;
  let total = 0;

  function put(upTo: number): void {
    const text = context + held.slice(0, upTo);
    const before = redact(context);
    const shown = redact(text);
    held = held.slice(upTo);
    total += upTo;
    next = Math.max(ENOUGH, total * SHARE);
    context = text.slice(-CONTEXT);
    const fresh = shown.slice(commonLength(before, shown));
    if (fresh !== "") onText(fresh.toWellFormed());
  }

  return {
    hear(piece) {
      held += piece;
      if (held.length < next) return;
      const upTo = endOfWords(held);
      const text = context + held.slice(0, upTo);
      if (upTo > 0 && redact(text, { end: true }) === redact(text)) put(upTo);
      // Looked at again when twice as much is there: a long secret must not take for ever.
      else next = held.length * 2;
    },
    end: () => put(held.length),
  };
}

/** Behind the last character that no token goes across: a space, or one of a script without spaces. */
function endOfWords(text: string): number {
  let at = text.length;
  while (at > 0 && !/[\s\u2e80-\ud7ff\uf900-\uffff]/.test(text[at - 1] as string)) at -= 1;
  return at;
}

function commonLength(a: string, b: string): number {
  if (b.startsWith(a)) return a.length;
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
