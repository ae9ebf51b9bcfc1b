import { settingOf } from "./bound.ts";
import { checkpoint } from "./checkpoint.ts";
import type { State } from "./conversation.ts";
import type { NewEntry } from "./entry.ts";
import { DeckhandError, asDeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import { History } from "./history.ts";
import type { Message, ModelAnswer, ToolSpec } from "./ports.ts";
import { systemPrompt } from "./prompt.ts";
import { makeRoom, WINDOW } from "./room.ts";
import type { Session } from "./session.ts";
import { summarise } from "./summarise.ts";

/** What the model is told in a conversation, from its beginning. */
export function historyOf(state: State, hands: Hands): History {
  return new History(systemPrompt(settingOf({ state }, hands), hands.prompts), hands.redact);
}

/**
 * One model request: a `model` entry, or `failed` with a line for the thread, or nothing when it was stopped. Before
 * that, when the conversation has grown too long for the model, the `compacted` entry that makes room.
 */
export async function askModel(session: Session, hands: Hands, signal: AbortSignal): Promise<NewEntry[]> {
  const read = session.state.seq;
  try {
    const room = await roomFor(session, hands, signal, false);
    if (room) return [room];
    const started = hands.clock.now();
    const { answer, tries } = await answered(session.history.messages(), session, hands, signal);
    const { calls, ...rest } = answer;
    const minted = calls.map((call) => ({ id: hands.ids.call(), ...call }));
    return [{ type: "model", read, ...rest, calls: minted, ms: hands.clock.now() - started, tries }];
  } catch (thrown) {
    if (signal.aborted) return [];
    const error = asDeckhandError(thrown);
    hands.trace.warn("model-failed", { conversation: session.conversation, code: error.code, error: error.what });
    const room = error.code === "MODEL_OVERFLOW" && !justMadeRoom(session) ? await roomFor(session, hands, signal, true) : null;
    if (room) return [room];
    const answers = session.state.unanswered.filter((m) => m.seq <= read).map((m) => m.seq);
    return [{ type: "failed", code: error.code, text: error.line(), answers }];
  }
}

async function roomFor(session: Session, hands: Hands, signal: AbortSignal, overflowed: boolean): Promise<NewEntry | null> {
  const window = (await hands.model.window()) ?? WINDOW;
  const room = makeRoom(session.history, window, overflowed);
  if (room === null || room.do === "squeeze") return room?.entry ?? null;
  const summary = await summarise(session.history, window, { hands, signal, tools: toolsOf(hands) });
  return { type: "compacted", upto: room.upto, outputs: 0, summary, tokens: room.tokens, window };
}

/** The second overflow in a row: to make room again would not help. */
function justMadeRoom({ entries }: Session): boolean {
  const asked = entries.findLastIndex(({ type }) => type === "model");
  return entries.slice(asked + 1).filter(({ type }) => type === "compacted").length > 1;
}

/** The same in every request, so that each extends the one before. */
function toolsOf({ tools }: Hands): ToolSpec[] {
  return [...tools.values()].map((tool) => tool.spec).sort((a, b) => (a.name < b.name ? -1 : 1));
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
  const second = await withRetries(
    [...messages, { role: "user", content: hands.prompts["empty-answer"].trimEnd() }],
    session,
    hands,
    signal,
  );
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
  const tools = toolsOf(hands);
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
