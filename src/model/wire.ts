import type { Message, ToolSpec } from "../core/ports.ts";
import { type Manner, type Mended, mended } from "./mend.ts";

export interface WireCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  [extra: string]: unknown;
}

type WirePart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

/** A message as Chat Completions takes it. The content key is always there; parts only where there is an image. */
export type WireMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | WirePart[] }
  | {
      role: "assistant";
      content: string | null;
      tool_calls?: WireCall[];
      reasoning_content?: string;
      reasoning_details?: Record<string, unknown>[];
    }
  | { role: "tool"; tool_call_id: string; content: string };

export interface WireTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

export interface ChatManner extends Manner {
  /** The content of a message that has only calls. */
  content: null | "" | " ";
  /** Whether thoughts go back: as they were, with every message (empty where there were none), or never. */
  reasoning: "echo" | "always" | "never";
}

/** The messages and tools of a Chat Completions request, valid whatever the history went through; see `mended`. */
export function toWire(messages: Message[], tools: ToolSpec[], manner: ChatManner): { messages: WireMessage[]; tools?: WireTool[] } {
  const wire = mended(messages, manner).map((message) => wireOf(message, manner));
  if (tools.length === 0) return { messages: wire };
  return { messages: wire, tools: tools.map((tool) => ({ type: "function", function: { ...tool } })) };
}

function wireOf(message: Mended, manner: ChatManner): WireMessage {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "tool":
      return { role: "tool", tool_call_id: message.call, content: message.content };
    case "user": {
      const { content, images } = message;
      if (images.length === 0) return { role: "user", content };
      const seen = images.map(({ type, data }): WirePart => ({ type: "image_url", image_url: { url: `data:${type};base64,${data}` } }));
      return { role: "user", content: [{ type: "text", text: content }, ...seen] };
    }
    case "assistant":
      return assistantWire(message, manner);
  }
}

function assistantWire({ content, calls, reasoning, echo }: Mended & { role: "assistant" }, manner: ChatManner): WireMessage {
  const thoughts = manner.reasoning === "never" ? undefined : (reasoning ?? (manner.reasoning === "always" ? "" : undefined));
  const details = manner.reasoning === "never" ? [] : (echo ?? []).filter((each) => String(each["type"]).startsWith("reasoning."));
  return {
    role: "assistant",
    content: content ?? manner.content,
    ...(calls.length > 0 ? { tool_calls: calls.map(wireCall) } : {}),
    ...(thoughts === undefined ? {} : { reasoning_content: thoughts }),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
  };
}

function wireCall({ id, name, arguments: text, extra }: (Mended & { role: "assistant" })["calls"][number]): WireCall {
  return { ...extra, id, type: "function", function: { name, arguments: text } };
}
