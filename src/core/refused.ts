import type { NewEntry, Refused } from "./entry.ts";
import { asDeckhandError, type DeckhandError, type ErrorCode } from "./errors.ts";
import type { Hands } from "./hands.ts";
import type { Message } from "./ports.ts";
import type { Session } from "./session.ts";
import { LIMITS } from "../limits.ts";

/**
 * What one request was refused for, each later one of its thread would be refused for, too. Services say that in a hundred ways, so
 * their words are not asked: the same is asked once more without what may be at fault, and what an answer came without is left out
 * from then on. Where no answer comes either, nothing is changed.
 */

/** Refusals of what was said. */
const OF_WORDS: ErrorCode[] = ["MODEL_REFUSED", "MODEL_HISTORY", "MODEL_FILTER"];
/** What services that cannot take a picture were seen to answer, beside those: a broken request, a wrong place, an error of their own. */
const OF_PICTURES: ErrorCode[] = [
  ...OF_WORDS,
  ...(["MODEL_TOOLS", "MODEL_CALL", "MODEL_URL", "MODEL_MISSING", "MODEL_OVERFLOW", "MODEL_DOWN", "MODEL_CUT"] as const),
];

interface Asking {
  session: Session;
  hands: Hands;
  signal: AbortSignal;
  /** One request with these messages. */
  ask: (messages: Message[], hands: Hands) => Promise<NewEntry<"model">>;
}

/** The answer that comes without what may have been refused, and what that is; null: there is none. */
export async function withoutRefused(refusal: DeckhandError, { session, hands, signal, ask }: Asking): Promise<NewEntry[] | null> {
  const { history, conversation } = session;
  // It was tried often enough with it.
  const once: Hands = { ...hands, retry: { ...hands.retry, tries: Math.min(hands.retry.tries, 2) } };
  const gone: NewEntry<"compacted">[] = [];
  for (const entry of suspects(refusal, session)) {
    if (!history.changes(entry)) continue;
    gone.push(entry);
    try {
      const answer = await ask(history.messagesWith(gone), once);
      hands.trace.warn("refused-left-out", { conversation, code: refusal.code, without: gone.map(({ without }) => without).join(", ") });
      return [...gone, answer];
    } catch (thrown) {
      if (signal.aborted) return null;
      hands.trace.warn("model-failed", { conversation, code: asDeckhandError(thrown).code, without: entry.without });
    }
  }
  return null;
}

/** What may be at fault, in the order in which it is left out. */
function suspects({ code }: DeckhandError, { state, history }: Session): NewEntry<"compacted">[] {
  const { tokens } = history.tokens();
  const entry = (without: Refused, upto: number): NewEntry<"compacted"> => {
    return { type: "compacted", upto, outputs: LIMITS.outputModel, without, tokens, window: tokens };
  };
  const earlier = (state.turn?.first ?? 1) - 1;
  const words = OF_WORDS.includes(code) ? [entry("outputs", state.seq), entry("step", state.seq), entry("words", earlier)] : [];
  return OF_PICTURES.includes(code) ? [entry("pictures", state.seq), ...words] : [];
}
