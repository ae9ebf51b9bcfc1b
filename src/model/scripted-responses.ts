import { asRecord, asText } from "./json.ts";
import type { Step } from "./script.ts";
import type { WireMessage, WireTool } from "./wire.ts";

/** The messages and tools of a Responses request as a script reads them. */
export function asChat(body: Record<string, unknown>): { messages: WireMessage[]; tools: WireTool[] } {
  const records = (list: unknown) => (Array.isArray(list) ? list.map((each: unknown) => asRecord(each) ?? {}) : []);
  const messages: WireMessage[] = body["instructions"] === undefined ? [] : [{ role: "system", content: asText(body["instructions"]) }];
  for (const item of records(body["input"])) {
    const last = messages.at(-1);
    if (item["type"] === "message" && item["role"] === "user") {
      const { content } = item;
      messages.push({ role: "user", content: typeof content === "string" ? content : asText(records(content)[0]?.["text"]) });
    } else if (item["type"] === "message") messages.push({ role: "assistant", content: asText(item["content"]) });
    else if (item["type"] === "function_call_output") {
      messages.push({ role: "tool", tool_call_id: asText(item["call_id"]), content: asText(item["output"]) });
    } else if (item["type"] === "function_call") {
      const made = { name: asText(item["name"]), arguments: asText(item["arguments"]) };
      const call = { id: asText(item["call_id"]), type: "function" as const, function: made };
      if (last?.role === "assistant") last.tool_calls = [...(last.tool_calls ?? []), call];
      else messages.push({ role: "assistant", content: null, tool_calls: [call] });
    }
  }
  const tools = records(body["tools"]).map((tool) => {
    const made = { name: asText(tool["name"]), description: asText(tool["description"]), parameters: asRecord(tool["parameters"]) ?? {} };
    return { type: "function" as const, function: made };
  });
  return { messages, tools };
}

/** The events of a step, in the manner of OpenAI; `asked`: characters of the request. */
export function eventsOf(step: Step, model: string, asked: number, pieces: (text: string) => string[]): object[] {
  const output: object[] = [];
  const events: object[] = [{ type: "response.created", response: { object: "response", status: "in_progress", model, output: [] } }];
  const text = step.text ?? "";
  let said = text.length;
  if (text !== "") {
    const [at, item] = [
      { output_index: output.length, item_id: "msg_1", content_index: 0 },
      { id: "msg_1", type: "message", role: "assistant" },
    ];
    const done = { ...item, status: "completed", content: [{ type: "output_text", text, annotations: [] }] };
    events.push({ type: "response.output_item.added", ...at, item: { ...item, status: "in_progress", content: [] } });
    events.push(...pieces(text).map((delta) => ({ type: "response.output_text.delta", ...at, delta })));
    events.push({ type: "response.output_text.done", ...at, text }, { type: "response.output_item.done", ...at, item: done });
    output.push(done);
  }
  for (const [nth, call] of (step.calls ?? []).entries()) {
    const given = typeof call.args === "string" ? call.args : JSON.stringify(call.args);
    const id = `fc_${nth + 1}`;
    const at = { output_index: output.length, item_id: id };
    const item = { id, type: "function_call", call_id: call.id ?? `call_${nth + 1}`, name: call.name };
    const done = { ...item, status: step.finish === "length" ? "incomplete" : "completed", arguments: given };
    events.push({ type: "response.output_item.added", ...at, item: { ...item, status: "in_progress", arguments: "" } });
    events.push(...pieces(given).map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })));
    events.push({ type: "response.function_call_arguments.done", ...at, arguments: given });
    events.push({ type: "response.output_item.done", ...at, item: done });
    output.push(done);
    said += given.length;
  }
  const reason = { length: "max_output_tokens", content_filter: "content_filter" }[step.finish ?? ""];
  const status = reason === undefined ? "completed" : "incomplete";
  const usage = { input_tokens: Math.ceil(asked / 4), output_tokens: Math.ceil(said / 4), total_tokens: Math.ceil((asked + said) / 4) };
  const details = reason === undefined ? null : { reason };
  const response = { object: "response", status, model, output, error: null, incomplete_details: details, usage };
  events.push({ type: `response.${status}`, response });
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}
