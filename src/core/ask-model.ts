import { afterOverflow, beforeRequest, toolsOf } from "./context.ts";
import type { NewEntry } from "./entry.ts";
import { asDeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import { showPictures } from "./inbox.ts";
import type { ModelAnswer } from "./ports.ts";
import { answered } from "./retrying.ts";
import type { Session } from "./session.ts";

/**
 * One model request: a `model` entry, or `failed` with a line for the thread, or nothing when it was stopped. Before
 * that, when the conversation has grown too long for the model, the `compacted` entry that makes room.
 */
export async function askModel(session: Session, all: Hands, signal: AbortSignal): Promise<NewEntry[]> {
  const hands = { ...all, model: all.modelFor(session.state) };
  const read = session.state.seq;
  try {
    await showPictures(session.history, hands.log);
    const before = await beforeRequest(session, hands, signal);
    if (before.length > 0) return before;
    const started = hands.clock.now();
    const { answer, ...how } = await answered({ messages: session.history.messages(), tools: toolsOf(hands) }, session, hands, signal);
    warnWhenCut(answer, session, hands);
    const { calls, ...rest } = answer;
    const minted = calls.map((call) => ({ id: hands.ids.call(), ...call }));
    return [{ type: "model", read, ...rest, calls: minted, ms: hands.clock.now() - started, ...how }];
  } catch (thrown) {
    return await unanswered(thrown, read, session, hands, signal);
  }
}

/** Some servers cut what is too long for them and say nothing: the prompt goes first. What they count gives them away. */
function warnWhenCut({ usage }: ModelAnswer, { conversation, history }: Session, { trace }: Hands): void {
  const { tokens } = history.tokens();
  if (usage.prompt === null || tokens < 3_000 || usage.prompt > tokens * 0.4) return;
  trace.warn("request-cut", { conversation, counted: usage.prompt, estimated: tokens, hint: "give the server a larger context" });
}

async function unanswered(thrown: unknown, read: number, session: Session, hands: Hands, signal: AbortSignal): Promise<NewEntry[]> {
  if (signal.aborted) return [];
  const error = asDeckhandError(thrown);
  hands.trace.warn("model-failed", { conversation: session.conversation, code: error.code, error: error.what });
  try {
    const room = error.code === "MODEL_OVERFLOW" ? await afterOverflow(session, hands, signal) : [];
    if (room.length > 0) return room;
  } catch (other) {
    // That the summary could not be made is the newer word.
    return await unanswered(other, read, session, hands, signal);
  }
  const answers = session.state.unanswered.filter((m) => m.seq <= read).map((m) => m.seq);
  return [{ type: "failed", code: error.code, text: error.line(), answers }];
}
