import { utf8 } from "./cut.ts";
import { asDeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import { fitted } from "./items.ts";
import type { Message, ToolSpec } from "./ports.ts";
import { withRetries } from "./retrying.ts";
import type { Session } from "./session.ts";

/** Bytes of each output that the summariser reads when it cannot read all of them. */
const OUTPUTS = [2_000, 300] as const;

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
 * was run. Throws what `Model.ask` throws, but for MODEL_OVERFLOW: a service that is away is no reason to forget anything.
 */
export async function summarise(session: Session, { hands, signal, tools, window, longest }: Asking): Promise<string> {
  const words: Message = { role: "user", content: hands.prompts.summarise.trimEnd() };
  const whole = session.history.messages();
  const fits = session.history.tokens().tokens < window * 0.9;
  for (const bytes of fits ? [Number.POSITIVE_INFINITY, ...OUTPUTS] : OUTPUTS) {
    const messages = [...whole.map((message) => lesser(message, bytes)), words];
    try {
      const { answer } = await withRetries({ messages, tools, choice: "none" }, session, hands, signal);
      if (answer.text.trim() !== "") return fitted(hands.redact(answer.text.trim()), longest);
    } catch (thrown) {
      const { code } = asDeckhandError(thrown);
      if (signal.aborted || code !== "MODEL_OVERFLOW") throw thrown;
      hands.trace.warn("summary-failed", { conversation: session.conversation, code });
    }
  }
  return fitted(listOf(whole), longest);
}

function lesser(message: Message, bytes: number): Message {
  return message.role === "tool" && utf8(message.content) > bytes ? { ...message, content: fitted(message.content, bytes) } : message;
}

/** What was run, in order. */
function listOf(messages: Message[]): string {
  const lines = messages.flatMap((message) => (message.role === "assistant" ? message.calls.map((call) => `- ${call.arguments}`) : []));
  return `No summary could be made. These calls were made so far:\n${lines.join("\n")}`;
}
