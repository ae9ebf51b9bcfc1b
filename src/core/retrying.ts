import { LIMITS } from "../limits.ts";
import { checkpoint } from "./checkpoint.ts";
import { headAndTail } from "./cut.ts";
import { asDeckhandError, DeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import type { AnswerEar } from "./live.ts";
import type { Message, Model, ModelAnswer, ModelRequest } from "./ports.ts";
import { filled } from "./prompt.ts";
import type { Session } from "./session.ts";
import { wordByWord } from "./writing.ts";
import { isWrittenCall } from "./written-call.ts";

/** An answer, after how many tries it came, and, when it is the fallback model's, why the first was given up. */
export interface Answered {
  answer: ModelAnswer;
  tries: number;
  instead?: string;
}

/** What of the model's own broken text is said back to it, in bytes. */
const SAID_BACK = 2_000;

/**
 * An answer that says something, or makes its calls: one that does not gets one nudge, which is not kept. People see it while
 * it is written.
 */
export async function answered(request: ModelRequest, session: Session, hands: Hands, signal: AbortSignal): Promise<Answered> {
  const ear = hands.writing({ conversation: session.conversation, read: session.state.seq });
  try {
    const first = await asked(request, session, hands, signal, ear);
    const nudge = nudgeFor(first.answer, request, hands);
    if (nudge === null) return first;
    ear.again();
    const second = await asked({ ...request, messages: [...request.messages, nudge] }, session, hands, signal, ear);
    if (isEmpty(second.answer)) throw new DeckhandError("MODEL_EMPTY");
    return { ...second, tries: first.tries + second.tries };
  } finally {
    ear.end();
  }
}

/** Nothing of it is shown while it is written. */
export async function withRetries(request: ModelRequest, session: Session, hands: Hands, signal: AbortSignal): Promise<Answered> {
  const ear = hands.writing({ conversation: session.conversation, read: session.state.seq });
  try {
    return await asked(request, session, hands, signal, { ...ear, hear: () => {} });
  } finally {
    ear.end();
  }
}

function nudgeFor(answer: ModelAnswer, { tools, choice }: ModelRequest, { prompts, redact }: Hands): Message | null {
  if (isEmpty(answer)) return { role: "user", content: prompts["empty-answer"].trimEnd() };
  const names = tools.map(({ name }) => name);
  const written = answer.calls.length === 0 && answer.finish === "stop" && choice !== "none" && isWrittenCall(answer.text, names);
  return written ? sayBack(answer.text, { prompts, redact }) : null;
}

function isEmpty(answer: ModelAnswer): boolean {
  return answer.calls.length === 0 && answer.text.trim() === "" && answer.finish !== "filter";
}

function sayBack(text: string, { prompts, redact }: Pick<Hands, "prompts" | "redact">): Message {
  return { role: "user", content: filled(prompts["written-call"], { text: headAndTail(redact(text), SAID_BACK) }) };
}

/** As the cause of an overflow: the fallback model's. */
export const FALLBACK = new Error("the fallback model");

/** What is too long for the fallback model is not sent: a server may cut it and say nothing. */
async function fitting(fallback: Model, { choice }: ModelRequest, { history }: Session): Promise<void> {
  // Whoever asks for a summary looks to its length.
  const window = choice === "none" ? null : await fallback.window(true);
  if (window !== null && history.tokens().tokens > window) throw new DeckhandError("MODEL_OVERFLOW");
}

/**
 * The one owner of retries: the transport and the queue never repeat a request. When the service still is not there at the
 * end of them, the fallback model is asked, and goes on being asked until the turn ends.
 */
async function asked(request: ModelRequest, session: Session, hands: Hands, signal: AbortSignal, ear: AnswerEar): Promise<Answered> {
  const { model, fallback } = hands;
  const before = session.state.step?.entry.instead;
  const all = fallback === null || fallback === model ? [model] : before === undefined ? [model, fallback] : [fallback, model];
  const whole = { ...request, cacheKey: hands.ids.digest(session.conversation).slice(0, 32) };
  let failed: DeckhandError | null = null;
  for (const each of all) {
    try {
      if (each !== model) await fitting(each, request, session);
      const answer = await askOne(each, whole, session, hands, signal, ear);
      const why = failed?.what ?? before;
      return each === model || why === undefined ? answer : { ...answer, instead: why };
    } catch (thrown) {
      const error = asDeckhandError(thrown);
      if (signal.aborted) throw thrown;
      if (error.code === "MODEL_OVERFLOW") throw each === model ? thrown : new DeckhandError("MODEL_OVERFLOW", "", { cause: FALLBACK });
      const lasts = each === model && error.retryAfterMs === undefined;
      if (lasts || each === all.at(-1)) throw failed ?? thrown;
      hands.trace.warn("model-given-up", { conversation: session.conversation, code: error.code, error: error.what });
      failed = error;
      ear.again();
    }
  }
  throw failed ?? new DeckhandError("INTERNAL", "no model was asked");
}

async function askOne(
  model: Model,
  request: ModelRequest,
  session: Session,
  hands: Hands,
  signal: AbortSignal,
  ear: AnswerEar,
): Promise<Answered> {
  const { clock, trace } = hands;
  let { messages } = request;
  for (let tries = 1; ; tries += 1) {
    const words = wordByWord(hands.redact, ear.hear);
    try {
      checkpoint("asking-model");
      const answer = await model.ask({ ...request, messages }, { signal, onText: words.hear });
      words.end();
      return { answer, tries };
    } catch (thrown) {
      const error = asDeckhandError(thrown);
      const waitMs = signal.aborted ? null : retryWait(error, tries, session, hands);
      if (waitMs === null) throw thrown;
      trace.info("model-retry", { conversation: session.conversation, code: error.code, waitMs, tries });
      // A call that its own server could not read is said back once.
      if (error.said !== undefined && messages === request.messages) messages = [...messages, sayBack(error.said, hands)];
      ear.again(waitMs >= LIMITS.liveRing ? { why: error.what, at: clock.now() + waitMs } : undefined);
      await clock.sleep(waitMs, signal);
      if (signal.aborted) throw thrown;
      ear.again();
    }
  }
}

/** Milliseconds until the next try; null when there is none. The endpoint's own wish is honoured, else full jitter. */
function retryWait(error: DeckhandError, tries: number, session: Session, hands: Hands): number | null {
  const { retry } = hands;
  if (error.retryAfterMs === undefined || tries >= retry.tries || error.retryAfterMs > retry.retryAfterMaxMs) return null;
  if (error.retryAfterMs > 0) return error.retryAfterMs;
  const share = Number.parseInt(hands.ids.digest(`${session.conversation}/${session.state.seq}/${tries}`).slice(0, 6), 16) / 0xffffff;
  return Math.ceil(Math.min(retry.maxMs, retry.baseMs * 2 ** tries) * share);
}
