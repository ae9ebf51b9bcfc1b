import { headAndTail } from "./cut.ts";
import { asDeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import type { History } from "./history.ts";
import type { Message, ToolSpec } from "./ports.ts";

/** Characters of each output that the summariser reads; fewer when that is still too much. */
const OUTPUTS = [2_000, 300] as const;
/** Characters of a summary, whatever the model makes of it. */
const LONGEST = 12_000;

/**
 * Asks the model to write down what whoever goes on must know. Never rejects but when it is stopped: a model that cannot
 * do that is replaced by a list of what was run.
 */
export async function summarise(
  history: History,
  window: number,
  { hands, signal, tools }: { hands: Hands; signal: AbortSignal; tools: ToolSpec[] },
): Promise<string> {
  const words: Message = { role: "user", content: hands.prompts.summarise.trimEnd() };
  const whole = history.messages();
  const fits = history.tokens().tokens < window * 0.9;
  for (const longest of fits ? [Number.POSITIVE_INFINITY, ...OUTPUTS] : OUTPUTS) {
    const messages = [...whole.map((message) => shortened(message, longest)), words];
    try {
      const { text } = await hands.model.ask({ messages, tools }, { signal });
      if (text.trim() !== "") return hands.redact(headAndTail(text.trim(), LONGEST));
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      hands.trace.warn("summary-failed", { code: asDeckhandError(thrown).code });
    }
  }
  return hands.redact(headAndTail(listOf(whole), LONGEST));
}

function shortened(message: Message, longest: number): Message {
  return message.role === "tool" ? { ...message, content: headAndTail(message.content, longest) } : message;
}

/** What was run, in order. */
function listOf(messages: Message[]): string {
  const lines = messages.flatMap((message) => (message.role === "assistant" ? message.calls.map((call) => `- ${call.arguments}`) : []));
  return `No summary could be made. These calls were made so far:\n${lines.join("\n")}`;
}
