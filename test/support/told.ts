import type { Entry } from "../../src/core/entry.ts";
import { readPrompts } from "../../src/app/hands.ts";
import { History } from "../../src/core/history.ts";
import type { Message } from "../../src/core/ports.ts";
import { type Setting, systemPrompt } from "../../src/core/prompt.ts";
import type { Redact } from "../../src/core/redactor.ts";

export const prompts = readPrompts();

/** What the model is told in a request that is made after these entries. */
export function toMessages(log: Entry[], setting: Setting, redact: Redact): Message[] {
  const history = new History(systemPrompt(setting, prompts), redact);
  history.add(log);
  return history.messages();
}
