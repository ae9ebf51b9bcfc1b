import type { Frame } from "./fault-server.ts";

/** An event of a Responses stream. */
export function event(type: string, more: object = {}): object {
  return { type: `response.${type}`, ...more };
}

export const completed = (output: object[] = [], more: object = {}): object =>
  event("completed", { response: { object: "response", status: "completed", model: "m-1", output, ...more } });

export const incomplete = (reason: string): object =>
  event("incomplete", { response: { object: "response", status: "incomplete", incomplete_details: { reason }, output: [] } });

export const textItem = (text: string, more: object = {}): object => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
  ...more,
});

export const callItem = (id: string, args: unknown, more: object = {}): object => ({
  id,
  type: "function_call",
  call_id: `call_${id}`,
  name: "bash",
  arguments: args,
  status: "completed",
  ...more,
});

/** A text in pieces, with every event that the vendor sends about it. */
export function textEvents(pieces: string[], index = 0): Frame[] {
  const at = { output_index: index, item_id: "msg_1", content_index: 0 };
  return [
    event("output_item.added", { ...at, item: { id: "msg_1", type: "message", role: "assistant", content: [] } }),
    ...pieces.map((delta) => event("output_text.delta", { ...at, delta })),
    event("output_text.done", { ...at, text: pieces.join("") }),
    event("output_item.done", { ...at, item: textItem(pieces.join("")) }),
  ];
}

/** A call in pieces; `without` leaves out the events that say its arguments whole. */
export function callEvents(id: string, pieces: string[], index: number, without = false): Frame[] {
  const at = { output_index: index, item_id: id };
  const whole = [
    event("function_call_arguments.done", { ...at, arguments: pieces.join("") }),
    event("output_item.done", { ...at, item: callItem(id, pieces.join("")) }),
  ];
  return [
    event("output_item.added", { ...at, item: callItem(id, "", { status: "in_progress" }) }),
    ...pieces.map((delta) => event("function_call_arguments.delta", { ...at, delta })),
    ...(without ? [] : whole),
  ];
}

/** Numbers the events, as the vendor does. */
export function numbered(frames: Frame[]): Frame[] {
  return frames.map((frame, number) => (typeof frame === "object" && "type" in frame ? { ...frame, sequence_number: number } : frame));
}
