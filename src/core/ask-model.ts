import { checkpoint } from "./checkpoint.ts";
import type { NewEntry } from "./entry.ts";
import { DeckhandError, asDeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import type { Message, ModelAnswer } from "./ports.ts";
import { toMessages } from "./prompt.ts";
import type { Session } from "./session.ts";
import { settingOf } from "./bound.ts";

const NUDGE = "(Note from Deckhand: your last answer was empty. Call the bash tool, or answer in words.)";

/** One model request: a `model` entry, or `failed` with a line for the thread, or nothing when it was stopped. */
export async function askModel(session: Session, hands: Hands, signal: AbortSignal): Promise<NewEntry[]> {
  const read = session.state.seq;
  const messages = toMessages(session.entries, settingOf(session, hands), hands.redact);
  const started = hands.clock.now();
  try {
    const { answer, tries } = await answered(messages, session, hands, signal);
    const { calls, ...rest } = answer;
    const minted = calls.map((call) => ({ id: hands.ids.call(), ...call }));
    return [{ type: "model", read, ...rest, calls: minted, ms: hands.clock.now() - started, tries }];
  } catch (thrown) {
    if (signal.aborted) return [];
    const error = asDeckhandError(thrown);
    hands.trace.warn("model-failed", { conversation: session.conversation, code: error.code, error: error.what });
    const answers = session.state.unanswered.filter((m) => m.seq <= read).map((m) => m.seq);
    return [{ type: "failed", code: error.code, text: error.line(), answers }];
  }
}

/** An answer that says something: an empty one gets one nudge, which is not kept. */
async function answered(
  messages: Message[],
  session: Session,
  hands: Hands,
  signal: AbortSignal,
): Promise<{ answer: ModelAnswer; tries: number }> {
  const first = await withRetries(messages, session, hands, signal);
  if (!isEmpty(first.answer)) return first;
  const second = await withRetries([...messages, { role: "user", content: NUDGE }], session, hands, signal);
  if (isEmpty(second.answer)) throw new DeckhandError("MODEL_EMPTY");
  return { answer: second.answer, tries: first.tries + second.tries };
}

function isEmpty(answer: ModelAnswer): boolean {
  return answer.calls.length === 0 && answer.text.trim() === "" && answer.finish !== "filter";
}

/** The one owner of retries: the transport and the queue never repeat a request. */
async function withRetries(
  messages: Message[],
  session: Session,
  hands: Hands,
  signal: AbortSignal,
): Promise<{ answer: ModelAnswer; tries: number }> {
  const tools = [...hands.tools.values()].map((tool) => tool.spec).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (let tries = 1; ; tries += 1) {
    try {
      checkpoint("asking-model");
      return { answer: await hands.model.ask({ messages, tools }, { signal }), tries };
    } catch (thrown) {
      const error = asDeckhandError(thrown);
      const waitMs = signal.aborted ? null : retryWait(error, tries, session, hands);
      if (waitMs === null) throw thrown;
      hands.trace.info("model-retry", { conversation: session.conversation, code: error.code, waitMs, tries });
      await hands.clock.sleep(waitMs, signal);
      if (signal.aborted) throw thrown;
    }
  }
}

/** Milliseconds until the next try; null when there is none. The endpoint's own wish is honoured, else full jitter. */
function retryWait(error: DeckhandError, tries: number, session: Session, hands: Hands): number | null {
  const { retry } = hands;
  if (error.retryAfterMs === undefined || tries >= retry.tries || error.retryAfterMs > retry.retryAfterMaxMs) return null;
  if (error.retryAfterMs > 0) return error.retryAfterMs;
  const share = Number.parseInt(hands.ids.digest(`${session.conversation}/${session.state.seq}/${tries}`).slice(0, 6), 16) / 0xffffff;
  return Math.min(retry.maxMs, retry.baseMs * 2 ** (tries - 1)) * (0.5 + share / 2);
}
