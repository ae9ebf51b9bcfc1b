import type { Usage } from "../core/entry.ts";
import type { ModelAnswer, RawCall } from "../core/ports.ts";
import { type AnswerReader, checkSize, concluded, nameOf } from "./answer.ts";
import { faultIn, StreamFault } from "./errors.ts";
import { gather, type Gathered, nothing, NO_USAGE, textOf, usageOf } from "./gather.ts";
import { asRecord, asText, parseArguments } from "./json.ts";

/** A call while its pieces come in. */
interface Slot {
  id: string;
  index: number | null;
  /** The different pieces of its name, in order. */
  names: string[];
  raw: string;
  extra?: Record<string, unknown>;
}

/** One answer while its chunks come in. */
interface Joining {
  text: Gathered;
  reasoning: Gathered;
  refusal: string;
  slots: Slot[];
  /** Signed or encrypted thoughts (OpenRouter), which have to come back whole; by their place. */
  details: Map<string, Record<string, unknown>>;
  /** Every finish reason that was sent, in lower case. */
  finishes: Set<string>;
  usage: Usage;
  model: string;
  ended: boolean;
}

/** Reads an answer of Chat Completions, in chunks or whole, in any of the forms that servers send. */
export function chatReader(tools: string[], asked: string): AnswerReader {
  const joining: Joining = {
    ...{ text: nothing(), reasoning: nothing(), refusal: "", slots: [], details: new Map<string, Record<string, unknown>>() },
    ...{ finishes: new Set<string>(), usage: NO_USAGE, model: asked, ended: false },
  };
  const finished = () => joining.ended || joining.finishes.size > 0;
  return {
    take: (value) => join(joining, value),
    end: () => void (joining.ended = true),
    finished,
    thinking: () => false,
    size: () => size(joining),
    over: () => joining.ended,
    answer: () => answerOf(joining, finished(), tools),
  };
}

function join(joining: Joining, chunk: unknown): { text: string; progress: boolean } {
  const data = asRecord(chunk);
  if (!data) return { text: "", progress: false };
  const fault = faultIn(data);
  if (fault !== undefined) throw new StreamFault(fault);

  const choice = asRecord(Array.isArray(data["choices"]) ? data["choices"][0] : null) ?? {};
  joining.model = asText(data["model"]) || joining.model;
  joining.usage = usageOf(data["usage"] ?? choice["usage"] ?? asRecord(data["x_groq"])?.["usage"], joining.usage);
  const finish = asText(choice["finish_reason"]).toLowerCase();
  if (finish !== "") joining.finishes.add(finish);

  const delta = asRecord(choice["delta"]) ?? asRecord(choice["message"]) ?? {};
  const before = size(joining);
  const text = contentText(delta["content"]);
  gather(joining.text, text);
  gather(joining.reasoning, asText(delta["reasoning_content"]) || asText(delta["reasoning"]));
  joining.refusal += asText(delta["refusal"]);
  if (Array.isArray(delta["reasoning_details"])) delta["reasoning_details"].forEach((detail) => addDetail(joining.details, detail));
  const touched = new Set<Slot>();
  const pieces: unknown[] = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
  const named = pieces.map((piece) => addPiece(joining, asRecord(piece) ?? {}, touched)).includes(true);
  const after = size(joining);
  checkSize(after);
  return { text, progress: after > before || named };
}

function addDetail(details: Joining["details"], sent: unknown): void {
  const detail = asRecord(sent);
  if (!detail) return;
  const key = `${String(detail["index"])} ${asText(detail["type"])}`;
  const before = details.get(key) ?? {};
  const joined = ["text", "summary", "data"].map((name) => [name, asText(before[name]) + asText(detail[name])] as const);
  details.set(key, { ...before, ...detail, ...Object.fromEntries(joined.filter(([, text]) => text !== "")) });
}

function size(joining: Joining): number {
  const pieces = joining.slots.reduce((sum, slot) => sum + slot.raw.length, 0);
  return joining.text.length + joining.reasoning.length + joining.refusal.length + pieces;
}

/** Content is a string; some servers send parts instead, thoughts among them. */
function contentText(content: unknown): string {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part: unknown) => (asRecord(part)?.["type"] === "text" ? asText(asRecord(part)?.["text"]) : "")).join("");
}

/** Returns whether the piece says anything new about which call it belongs to. */
function addPiece(joining: Joining, piece: Record<string, unknown>, touched: Set<Slot>): boolean {
  const made = asRecord(piece["function"]) ?? {};
  const id = asText(piece["id"]);
  const index = Number.isInteger(piece["index"]) ? (piece["index"] as number) : null;
  const name = asText(made["name"]);
  const given = made["arguments"] ?? "";
  const raw = typeof given === "string" ? given : JSON.stringify(given);
  if (id === "" && name === "" && raw === "" && index === null) return false;

  let slot = slotFor(joining.slots, { id, index, name }, touched);
  if (!slot) {
    slot = { id, index, names: [], raw: "" };
    joining.slots.push(slot);
  }
  touched.add(slot);
  slot.id ||= id;
  const fresh = name !== "" && slot.names.at(-1) !== name;
  if (fresh) slot.names.push(name);
  slot.raw += raw;
  const extra = asRecord(piece["extra_content"]);
  if (extra) slot.extra = { extra_content: extra };
  return fresh;
}

/**
 * The call that a piece goes on with: by index, else by id, else the last one. Undefined when the piece begins a
 * new call: a name for a call that this chunk has named already, a new id on a used index, or a name without any
 * key when the last call is whole. Positions within a chunk mean nothing from one chunk to the next.
 */
function slotFor(slots: Slot[], piece: { id: string; index: number | null; name: string }, touched: Set<Slot>): Slot | undefined {
  const { id, index, name } = piece;
  const keyed = index !== null || id !== "";
  const slot = slots.findLast((each) => (index !== null ? each.index === index : id === "" || each.id === id));
  if (!slot || (name !== "" && touched.has(slot))) return undefined;
  const otherId = index !== null && id !== "" && slot.id !== "" && slot.id !== id;
  if (otherId && (name !== "" || isWhole(slot))) return undefined;
  if (!keyed && name !== "" && isWhole(slot)) return undefined;
  return slot;
}

function isWhole(slot: Slot): boolean {
  return slot.raw !== "" && parseArguments(slot.raw) !== null;
}

const OVERFLOW = ["model_context_window_exceeded"];
const LENGTH = ["length", "max_tokens", "max_output_tokens", "model_length"];
const FILTER = ["content_filter", "safety", "sensitive"];
const BROKEN = ["error", "network_error", "cancel", "cancelled", "abort", "aborted", "insufficient_system_resource"];

function answerOf(joining: Joining, ended: boolean, tools: string[]): ModelAnswer {
  const said = (reasons: string[]) => reasons.some((reason) => joining.finishes.has(reason));
  const whys = [
    ["overflow", OVERFLOW],
    ["broken", BROKEN],
    ["filter", FILTER],
    ["cut", LENGTH],
  ] as const;
  const why = whys.find(([, reasons]) => said(reasons))?.[0] ?? null;
  const { refusal, usage, model } = joining;
  const [text, reasoning] = [textOf(joining.text), textOf(joining.reasoning)];
  const details = [...joining.details.values()];
  const echo = details.some(({ data, signature }) => asText(data ?? signature) !== "") ? { echo: details } : {};
  return concluded({ text, refusal, reasoning, calls: callsOf(joining, tools), usage, model, ended, why, ...echo });
}

function callsOf(joining: Joining, tools: string[]): RawCall[] {
  const calls: RawCall[] = [];
  let before: Slot | undefined;
  for (const slot of joining.slots) {
    const keyless = slot.index === null && slot.id === "";
    // A server that gives no key at all and says the same twice has said it once.
    const again = keyless && before?.raw === slot.raw && before.names.join() === slot.names.join();
    before = slot;
    if (again || (slot.names.length === 0 && slot.raw === "")) continue;
    const name = nameOf(slot.names, tools);
    calls.push({ name, raw: slot.raw, args: parseArguments(slot.raw), ...(slot.extra ? { extra: slot.extra } : {}) });
  }
  return calls;
}
