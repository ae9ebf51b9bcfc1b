import type { Message, ModelRequest } from "../core/ports.ts";
import type { Capabilities } from "./capabilities.ts";
import { toInput } from "./input.ts";
import type { Sent } from "./lessons.ts";
import { toWire, type WireMessage } from "./wire.ts";

/** A request in one of the forms, and what has to be known of it. */
export interface Built {
  body: object;
  sent: Sent;
  /** Characters of its messages: what a server reads must have something to do with that. */
  characters: number;
}

/** We send what every vendor takes: no token limit, no temperature, no role `developer`, no strict schemas. */
export function chatRequest(model: string, request: ModelRequest, can: Capabilities): Built {
  const { messages, tools } = toWire(request.messages, request.tools, can.manner);
  const body = {
    model,
    messages,
    ...(tools ? { tools } : {}),
    ...choiceOf(request, can),
    ...cacheOf(request),
    stream: true,
    ...(can.streamOptions ? { stream_options: { include_usage: true } } : {}),
  };
  return { body, sent: sentIn(messages), characters: charactersIn(request.messages) };
}

/** Nothing is kept at the vendor's: the history is ours, thoughts come and go encrypted. */
export function responsesRequest(model: string, request: ModelRequest, can: Capabilities): Built {
  const body = {
    model,
    ...toInput(request.messages, request.tools, can.manner),
    ...choiceOf(request, can),
    ...cacheOf(request),
    stream: true,
    ...(can.store ? { store: false } : {}),
    ...(can.manner.encrypted ? { include: ["reasoning.encrypted_content"] } : {}),
  };
  const images = can.manner.images && request.messages.some((message) => message.role === "user" && (message.images ?? []).length > 0);
  const sent = { bareCalls: false, manyCalls: false, reasoning: false, userAfterTool: false, images };
  return { body, sent, characters: charactersIn(request.messages) };
}

function cacheOf({ cacheKey }: ModelRequest): { prompt_cache_key?: string } {
  return cacheKey === undefined ? {} : { prompt_cache_key: cacheKey };
}

function choiceOf({ choice, tools }: ModelRequest, { toolChoice }: Capabilities): { tool_choice?: "none" } {
  return choice === undefined || tools.length === 0 || !toolChoice ? {} : { tool_choice: choice };
}

function sentIn(messages: WireMessage[]): Sent {
  const assistants = messages.filter((message) => message.role === "assistant");
  return {
    bareCalls: assistants.some(({ content, tool_calls: calls }) => calls !== undefined && (content ?? "").trim() === ""),
    manyCalls: assistants.some(({ tool_calls: calls }) => (calls?.length ?? 0) > 1),
    reasoning: assistants.some((message) => message.reasoning_content !== undefined || message.reasoning_details !== undefined),
    images: messages.some((message) => message.role === "user" && Array.isArray(message.content)),
    userAfterTool: messages.some((message, at) => message.role === "user" && messages[at - 1]?.role === "tool"),
  };
}

function charactersIn(messages: Message[]): number {
  return messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
}
