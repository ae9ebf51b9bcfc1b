import type { Message, ToolSpec } from "../core/ports.ts";
import { type Manner, type Mended, mended } from "./mend.ts";

/** An item as Responses takes it. */
export type InputItem = Record<string, unknown>;

export interface InputManner extends Manner {
  /** Whether encrypted thoughts go back. */
  encrypted: boolean;
}

/**
 * The same history for a Responses request that keeps nothing at the vendor's: the system message as instructions, calls
 * and results by our own ids, thoughts as they came from this very model.
 */
export function toInput(
  messages: Message[],
  tools: ToolSpec[],
  manner: InputManner,
): { instructions?: string; input: InputItem[]; tools?: object[] } {
  const list = mended(messages, manner);
  const [first] = list;
  const input = list.flatMap((message) => itemsOf(message, manner));
  return {
    ...(first?.role === "system" ? { instructions: first.content } : {}),
    input,
    // Without `strict: false` the vendor turns schemas into stricter ones.
    ...(tools.length > 0 ? { tools: tools.map((tool) => ({ type: "function", ...tool, strict: false })) } : {}),
  };
}

function itemsOf(message: Mended, manner: InputManner): InputItem[] {
  switch (message.role) {
    case "system":
      return [];
    case "tool":
      return [{ type: "function_call_output", call_id: message.call, output: message.content }];
    case "user": {
      const { content, images } = message;
      if (images.length === 0) return [{ type: "message", role: "user", content }];
      const seen = images.map(({ type, data }) => ({ type: "input_image", detail: "auto", image_url: `data:${type};base64,${data}` }));
      return [{ type: "message", role: "user", content: [{ type: "input_text", text: content }, ...seen] }];
    }
    case "assistant":
      return assistantItems(message, manner);
  }
}

/** Thoughts stand before what they led to, as they came: the echo names the places of text and calls among them. */
function assistantItems({ content, calls, echo = [] }: Mended & { role: "assistant" }, manner: InputManner): InputItem[] {
  const items: InputItem[] = [];
  let said = content === null;
  const left = [...calls];
  const say = (phase: unknown): void => {
    if (!said) items.push({ type: "message", role: "assistant", content, ...(typeof phase === "string" ? { phase } : {}) });
    said = true;
  };
  const call = (next: (typeof calls)[number] | undefined): void => {
    if (next) items.push({ type: "function_call", call_id: next.id, name: next.name, arguments: next.arguments });
  };
  for (const each of echo) {
    if (each["type"] === "message") say(each["phase"]);
    else if (each["type"] === "function_call") call(left.shift());
    else if (each["type"] === "reasoning" && manner.encrypted) items.push(each);
  }
  say(undefined);
  for (const next of left) call(next);
  // A thought that leads to nothing is refused.
  return items.slice(0, items.findLastIndex((item) => item["type"] !== "reasoning") + 1);
}
