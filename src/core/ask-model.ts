import { afterOverflow, beforeRequest, toolsOf } from "./context.ts";
import type { NewEntry } from "./entry.ts";
import { asDeckhandError, type DeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import { showPictures } from "./inbox.ts";
import type { Message, ModelAnswer } from "./ports.ts";
import { withoutRefused } from "./refused.ts";
import { answered, FALLBACK } from "./retrying.ts";
import type { Session } from "./session.ts";
import { LIMITS } from "../limits.ts";

/**
 * One model request: a `model` entry, or `failed` with a line for the thread, or nothing when it was stopped. Before
 * that, when the conversation has grown too long for the model, the `compacted` entry that makes room; with the answer, when it
 * came only without something that the service refuses, that as `compacted`.
 */
export async function askModel(session: Session, all: Hands, signal: AbortSignal): Promise<NewEntry[]> {
  const hands = { ...all, model: all.modelFor(session.state) };
  const read = session.state.seq;
  const started = hands.clock.now();
  let isAsking = false;
  async function ask(messages: Message[], patient: Hands): Promise<NewEntry<"model">> {
    const { answer, ...how } = await answered({ messages, tools: toolsOf(hands) }, session, patient, signal);
    warnWhenCut(answer, session, hands);
    const { calls, ...rest } = answer;
    // Of too many none is run: to say so, no more of them are needed.
    const minted = calls.slice(0, LIMITS.callsPerStep + 1).map((call) => ({ id: hands.ids.call(), ...call }));
    return { type: "model", read, ...rest, calls: minted, ms: hands.clock.now() - started, ...how };
  }
  try {
    await showPictures(session.history, hands.log);
    const before = await beforeRequest(session, hands, signal);
    if (before.length > 0) return before;
    isAsking = true;
    return [await ask(session.history.messages(), hands)];
  } catch (thrown) {
    const again = (error: DeckhandError) => (isAsking ? withoutRefused(error, { session, hands, signal, ask }) : null);
    return await unanswered(thrown, { session, hands, signal, again });
  }
}

/** Some servers cut what is too long for them and say nothing: the prompt goes first. What they count gives them away. */
function warnWhenCut({ usage }: ModelAnswer, { conversation, history }: Session, { trace }: Hands): void {
  const { tokens } = history.tokens();
  if (usage.prompt === null || tokens < 3_000 || usage.prompt > tokens * 0.4) return;
  trace.warn("request-cut", { conversation, counted: usage.prompt, estimated: tokens, hint: "give the server a larger context" });
}

interface Failing {
  session: Session;
  hands: Hands;
  signal: AbortSignal;
  /** What comes of asking once more in another form; null: nothing. */
  again: (error: DeckhandError) => Promise<NewEntry[] | null> | null;
}

async function unanswered(thrown: unknown, failing: Failing): Promise<NewEntry[]> {
  const { session, hands, signal, again } = failing;
  if (signal.aborted) return [];
  const read = session.state.seq;
  const error = asDeckhandError(thrown);
  hands.trace.warn("model-failed", { conversation: session.conversation, code: error.code, error: error.what });
  try {
    const room = error.code === "MODEL_OVERFLOW" ? await afterOverflow(session, hands, signal, error.cause === FALLBACK) : [];
    if (room.length > 0) return room;
  } catch (other) {
    // That the summary could not be made is the newer word.
    return await unanswered(other, { ...failing, again: () => null });
  }
  const news = await again(error);
  if (news !== null || signal.aborted) return news ?? [];
  const answers = session.state.unanswered.filter((m) => m.seq <= read).map((m) => m.seq);
  return [{ type: "failed", code: error.code, text: error.line(), answers }];
}
