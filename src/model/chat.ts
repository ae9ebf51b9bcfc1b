import type { Usage } from "../core/entry.ts";
import type { ModelAnswer, RawCall } from "../core/ports.ts";
import { type AnswerReader, checkCalls, checkSize, concluded, nameOf } from "./answer.ts";
import { faultIn, StreamFault } from "./errors.ts";
import { gravest, meaningOf, type Why } from "./finish.ts";
import { gather, type Gathered, nothing, NO_USAGE, textOf, usageOf } from "./gather.ts";
import { asRecord, asText, parseArguments, textFor, weigh } from "./json.ts";

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
  /** What every finish reason that was sent means. */
  finishes: Set<Why | null>;
  usage: Usage;
  model: string;
  ended: boolean;
  /** Some of it came as a delta. */
  inPieces: boolean;
  /** Characters so far, names and ids included. */
  size: number;
  /** Characters that were read only to see whether a call is whole. */
  tried: number;
}

/** Reads an answer of Chat Completions, in chunks or whole, in any of the forms that servers send. */
export function chatReader(tools: string[], asked: string): AnswerReader {
  const joining: Joining = {
    ...{ text: nothing(), reasoning: nothing(), refusal: "", slots: [], details: new Map<string, Record<string, unknown>>() },
    ...{ finishes: new Set<Why | null>(), usage: NO_USAGE, model: asked, ended: false, inPieces: false, size: 0, tried: 0 },
  };
  const finished = () => joining.ended || joining.finishes.size > 0;
  return {
    take: (value) => join(joining, value),
    end: () => void (joining.ended = true),
    finished,
    thinking: () => false,
    size: () => joining.size,
    heard: () => 0,
    spoil: () => void (joining.ended || joining.finishes.add("cut")),
    over: () => joining.ended,
    answer: () => answerOf(joining, finished(), tools),
  };
}

function join(joining: Joining, chunk: unknown): { text: string; progress: boolean } {
  const data = asRecord(chunk);
  if (!data) return { text: "", progress: false };
  const fault = faultIn(data);
  if (fault !== undefined) throw new StreamFault(fault);

  const choice = firstOf(data["choices"]);
  joining.model = asText(data["model"]) || joining.model;
  joining.usage = usageOf(data["usage"] ?? choice["usage"] ?? asRecord(data["x_groq"])?.["usage"], joining.usage);
  const finish = asText(choice["finish_reason"]);
  if (finish !== "") joining.finishes.add(meaningOf(finish));

  const before = joining.size;
  const delta = asRecord(choice["delta"]);
  const text = joinPiece(joining, delta ?? news(joining, asRecord(choice["message"]) ?? {}));
  checkSize(joining.size);
  const progress = joining.size > before;
  joining.inPieces ||= delta !== null && progress;
  return { text, progress };
}

/** We ask for one answer: others beside it are none of ours. */
function firstOf(choices: unknown): Record<string, unknown> {
  if (!Array.isArray(choices)) return {};
  const isFirst = ({ index }: Record<string, unknown>) => index === 0 || !Number.isInteger(index);
  return choices.map(asRecord).find((choice) => choice !== null && isFirst(choice)) ?? {};
}

/** What a whole message says that the pieces before it did not. */
function news(joining: Joining, message: Record<string, unknown>): Record<string, unknown> {
  if (!joining.inPieces) return message;
  const said = { content: joining.text.length > 0, refusal: joining.refusal !== "", tool_calls: joining.slots.length > 0 };
  const thought = joining.reasoning.length > 0;
  const all = { ...said, reasoning_content: thought, reasoning: thought, reasoning_details: joining.details.size > 0 };
  return Object.fromEntries(Object.entries(all).flatMap(([name, known]) => (known ? [] : [[name, message[name]]])));
}

/** Returns its text. */
function joinPiece(joining: Joining, delta: Record<string, unknown>): string {
  const text = contentText(delta["content"]);
  const thought = asText(delta["reasoning_content"]) || asText(delta["reasoning"]);
  const refusal = asText(delta["refusal"]);
  gather(joining.text, text);
  gather(joining.reasoning, thought);
  joining.refusal += refusal;
  joining.size += text.length + thought.length + refusal.length;
  if (Array.isArray(delta["reasoning_details"])) delta["reasoning_details"].forEach((detail) => addDetail(joining, detail));
  const touched = new Set<Slot>();
  const pieces: unknown[] = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
  for (const piece of pieces) addPiece(joining, asRecord(piece) ?? {}, touched);
  return text;
}

function addDetail(joining: Joining, sent: unknown): void {
  const detail = asRecord(sent);
  const weight = weigh(detail);
  if (!detail || weight === Infinity) return;
  joining.size += weight;
  const place = Number.isInteger(detail["index"]) ? String(detail["index"]) : "";
  const key = `${place} ${asText(detail["type"])}`;
  const before = joining.details.get(key) ?? {};
  const joined = ["text", "summary", "data"].map((name) => [name, asText(before[name]) + asText(detail[name])] as const);
  joining.details.set(key, { ...before, ...detail, ...Object.fromEntries(joined.filter(([, text]) => text !== "")) });
}

/** Content is a string; some servers send parts instead, thoughts among them. */
function contentText(content: unknown): string {
  if (!Array.isArray(content)) return asText(content);
  return content.map((part: unknown) => (asRecord(part)?.["type"] === "text" ? asText(asRecord(part)?.["text"]) : "")).join("");
}

function addPiece(joining: Joining, piece: Record<string, unknown>, touched: Set<Slot>): void {
  const made = asRecord(piece["function"]) ?? {};
  const id = asText(piece["id"]);
  const index = Number.isInteger(piece["index"]) ? (piece["index"] as number) : null;
  const name = asText(made["name"]);
  const raw = textFor(made["arguments"] ?? "");
  if (id === "" && name === "" && raw === "" && index === null) return;

  let slot = slotFor(joining, { id, index, name }, touched);
  if (!slot) {
    slot = { id, index, names: [], raw: "" };
    joining.slots.push(slot);
    checkCalls(joining.slots.length);
    joining.size += id.length;
  }
  touched.add(slot);
  slot.id ||= id;
  if (name !== "" && slot.names.at(-1) !== name) {
    slot.names.push(name);
    joining.size += name.length;
  }
  slot.raw += raw;
  joining.size += raw.length;
  const extra = asRecord(piece["extra_content"]);
  const weight = weigh(extra);
  if (!extra || weight === Infinity) return;
  slot.extra = { extra_content: extra };
  joining.size += weight;
}

/**
 * The call that a piece goes on with: by index, else by id, else the last one. Undefined when the piece begins a
 * new call: a name for a call that this chunk has named already, a new id on a used index, or a name without any
 * key when the last call is whole. Positions within a chunk mean nothing from one chunk to the next.
 */
function slotFor(joining: Joining, piece: Pick<Slot, "id" | "index"> & { name: string }, touched: Set<Slot>): Slot | undefined {
  const { id, index, name } = piece;
  const keyed = index !== null || id !== "";
  const slot = joining.slots.findLast((each) => (index !== null ? each.index === index : id === "" || each.id === id));
  if (!slot || (name !== "" && touched.has(slot))) return undefined;
  const otherId = index !== null && id !== "" && slot.id !== "" && slot.id !== id;
  if (otherId && (name !== "" || isWhole(joining, slot))) return undefined;
  if (!keyed && name !== "" && isWhole(joining, slot)) return undefined;
  return slot;
}

function isWhole(joining: Joining, slot: Slot): boolean {
  if (!/[}"]\s*$/.test(slot.raw.slice(-100))) return false;
  joining.tried += slot.raw.length;
  // Again and again for one long call: such a server does not end.
  checkSize(joining.tried / TRIES);
  return parseArguments(slot.raw) !== null;
}

/** How many times the most of an answer may be read to see whether calls are whole. */
const TRIES = 4;

function answerOf(joining: Joining, ended: boolean, tools: string[]): ModelAnswer {
  const why = gravest(joining.finishes);
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
