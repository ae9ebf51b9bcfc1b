import { asDeckhandError, type ErrorCode } from "./errors.ts";
import type { Hands } from "./hands.ts";
import { fitted, lesser } from "./items.ts";
import type { Message, ModelAnswer, ToolSpec } from "./ports.ts";
import { withRetries } from "./retrying.ts";
import type { Session } from "./session.ts";
import { isWrittenCall } from "./written-call.ts";

/** Bytes of each message that the summariser reads when it cannot read all of them. */
const LESS = [2_000, 300] as const;

/** What is about this request, and not about a service that is away. */
const REFUSALS: ErrorCode[] = ["MODEL_OVERFLOW", "MODEL_REFUSED", "MODEL_HISTORY", "MODEL_FILTER", "MODEL_CALL", "MODEL_TOOLS"];

interface Asking {
  hands: Hands;
  signal: AbortSignal;
  tools: ToolSpec[];
  /** Tokens that fit into one request, answer included. */
  window: number;
  /** Bytes of the summary, whatever the model makes of it. */
  longest: number;
}

/**
 * Asks the model to write down what whoever goes on must know. A model that does not do that is replaced by a list of what
 * was run. Throws what `Model.ask` throws when the service is away: that is no reason to forget anything.
 */
export async function summarise(session: Session, { hands, signal, tools, window, longest }: Asking): Promise<string> {
  const words: Message = { role: "user", content: hands.prompts.summarise.trimEnd() };
  const whole = session.history.messages();
  const fits = session.history.tokens().tokens < window * 0.9;
  const shorter = LESS.map((bytes) => whole.map((message) => lesser(message, bytes)));
  for (const messages of fits ? [whole, ...shorter] : shorter) {
    try {
      const { answer } = await withRetries({ messages: [...messages, words], tools, choice: "none" }, session, hands, signal);
      if (isSummary(answer, tools)) return fitted(hands.redact(answer.text.trim()), longest);
      hands.trace.warn("summary-failed", { conversation: session.conversation, finish: answer.finish, calls: answer.calls.length });
    } catch (thrown) {
      const { code } = asDeckhandError(thrown);
      if (signal.aborted || !REFUSALS.includes(code)) throw thrown;
      hands.trace.warn("summary-failed", { conversation: session.conversation, code });
    }
  }
  return fitted(listOf(whole), longest);
}

/** Words, all of them, and nothing else: what is believed here is all that is left of the work. */
function isSummary({ text, calls, finish }: ModelAnswer, tools: ToolSpec[]): boolean {
  const names = tools.map(({ name }) => name);
  return finish === "stop" && calls.length === 0 && text.trim() !== "" && !isWrittenCall(text, names);
}

/** What was run, in order. */
function listOf(messages: Message[]): string {
  const lines = messages.flatMap((message) => (message.role === "assistant" ? message.calls.map((call) => `- ${call.arguments}`) : []));
  return `No summary could be made. These calls were made so far:\n${lines.join("\n")}`;
}
