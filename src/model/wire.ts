import type { Message, ToolSpec } from "../core/ports.ts";
import { asRecord, parseJson } from "./json.ts";

export interface WireCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  [extra: string]: unknown;
}

/** A message as Chat Completions takes it. The content key is always there. */
export type WireMessage =
  | { role: "system" | "user"; content: string }
  | { role: "assistant"; content: string | null; tool_calls?: WireCall[]; reasoning_content?: string }
  | { role: "tool"; tool_call_id: string; content: string };

export interface WireTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

const NO_RESULT = "No result: the work was interrupted. It is not known whether this ran.";
const LEFT_OUT = "(What came before is left out.)";
const GO_ON = "Go on.";

/**
 * The messages and tools of a request, valid whatever the history went through: one system message, then people
 * first; neighbours of one kind merged; each call answered right after its message; results without a call, a
 * second result and messages that say nothing left out; arguments always one JSON object; no lone surrogates.
 * Pure: the same history gives the same bytes, and what is added at its end changes nothing before it.
 */
export function toWire(messages: Message[], tools: ToolSpec[]): { messages: WireMessage[]; tools?: WireTool[] } {
  const takeResult = resultsOf(messages);
  const wire: WireMessage[] = [];
  messages.forEach((message, at) => {
    if (message.role === "tool") return;
    if (message.role !== "assistant") {
      const content = message.content.toWellFormed();
      const role = message.role === "system" && wire.every((each) => each.role === "system") ? "system" : "user";
      if (content.trim() !== "") place(wire, { role, content });
      return;
    }
    const assistant = assistantOf(message);
    if (!assistant) return;
    place(wire, assistant);
    for (const { id } of assistant.tool_calls ?? []) {
      wire.push({ role: "tool", tool_call_id: id, content: takeResult(id, at) ?? NO_RESULT });
    }
  });
  const last = wire.at(-1)?.role;
  if (last !== "user" && last !== "tool") place(wire, { role: "user", content: last === "assistant" ? GO_ON : LEFT_OUT });
  if (tools.length === 0) return { messages: wire };
  return { messages: wire, tools: tools.map((tool) => ({ type: "function", function: { ...tool } })) };
}

/** Gives the first result of a call that comes after its message and was not given yet. */
function resultsOf(messages: Message[]): (call: string, after: number) => string | undefined {
  const results = new Map<string, { at: number; content: string }[]>();
  messages.forEach((message, at) => {
    if (message.role !== "tool") return;
    const content = message.content.trim() === "" ? "(no output)" : message.content.toWellFormed();
    results.set(message.call, [...(results.get(message.call) ?? []), { at, content }]);
  });
  return (call, after) => {
    const kept = results.get(call) ?? [];
    const index = kept.findIndex((each) => each.at > after);
    return index < 0 ? undefined : kept.splice(index, 1)[0]?.content;
  };
}

/** Some templates refuse two messages of one kind in a row, or an answer before any question. */
function place(wire: WireMessage[], next: WireMessage): void {
  const last = wire.at(-1);
  if (next.role === "assistant" && (!last || last.role === "system")) {
    wire.push({ role: "user", content: LEFT_OUT });
  } else if (last?.role === "assistant" && next.role === "assistant" && !last.tool_calls) {
    const { content, ...rest } = next;
    Object.assign(last, rest, { content: [last.content, content].filter((text) => text !== null).join("\n\n") });
    return;
  } else if (last && last.role === next.role && last.content !== null) {
    last.content += `\n\n${next.content}`;
    return;
  }
  wire.push(next);
}

function assistantOf(message: Message & { role: "assistant" }): (WireMessage & { role: "assistant" }) | null {
  const ids = new Set<string>();
  const calls = message.calls.filter(({ id }) => !ids.has(id) && ids.add(id)).map(callOf);
  const text = message.content?.toWellFormed() ?? "";
  const content = text.trim() === "" ? null : text;
  if (content === null && calls.length === 0) return null;
  const reasoning = message.reasoning?.toWellFormed() ?? "";
  return {
    role: "assistant",
    content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
  };
}

function callOf(call: (Message & { role: "assistant" })["calls"][number]): WireCall {
  const name = call.name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
  return { ...call.extra, id: call.id, type: "function", function: { name, arguments: argumentsText(call.arguments) } };
}

/** Unchanged when it is one JSON object; servers that parse the history refuse anything else for ever. */
function argumentsText(text: string): string {
  const value = asRecord(parseJson(text));
  if (!value) return JSON.stringify({ _invalid: text.toWellFormed() });
  const mayBeIllFormed = !text.isWellFormed() || /\\ud[89a-f]/i.test(text);
  return mayBeIllFormed ? JSON.stringify(value, (_, each: unknown) => (typeof each === "string" ? each.toWellFormed() : each)) : text;
}
