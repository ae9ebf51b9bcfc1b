import { DeckhandError } from "../core/errors.ts";
import type { Usage } from "../core/entry.ts";
import type { ModelAnswer, RawCall } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { faultIn, StreamFault } from "./errors.ts";
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

/** Text from very many pieces: `+=` alone would keep each of them in memory until the end. */
interface Gathered {
  blocks: string[];
  recent: string[];
  length: number;
}

/** One answer while its chunks come in. */
export interface Joining {
  /** Names of the tools that were offered. */
  tools: string[];
  text: Gathered;
  reasoning: Gathered;
  refusal: string;
  slots: Slot[];
  /** Every finish reason that was sent, in lower case. */
  finishes: Set<string>;
  usage: Usage;
  model: string;
  /** Set by the reader when the server said that the answer is over (`[DONE]`, a whole JSON document). */
  ended: boolean;
}

export function startJoining(tools: string[], model: string): Joining {
  const usage = { prompt: null, completion: null, cached: null };
  const nothing = (): Gathered => ({ blocks: [], recent: [], length: 0 });
  return { tools, text: nothing(), reasoning: nothing(), refusal: "", slots: [], finishes: new Set(), usage, model, ended: false };
}

/**
 * Adds one chunk (or one whole completion) in any of the forms that servers send. Returns the text that came
 * and whether anything of the message came at all: keep-alives do not count. Throws StreamFault for an error
 * in the stream, MODEL_CUT for an answer without end.
 */
export function join(joining: Joining, chunk: unknown): { text: string; progress: boolean } {
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
  const touched = new Set<Slot>();
  const pieces: unknown[] = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
  const named = pieces.map((piece) => addPiece(joining, asRecord(piece) ?? {}, touched)).includes(true);
  const after = size(joining);
  if (after > LIMITS.modelAnswer) throw new DeckhandError("MODEL_CUT", "it did not end");
  return { text, progress: after > before || named };
}

function gather(into: Gathered, piece: string): void {
  if (piece === "") return;
  into.length += piece.length;
  into.recent.push(piece);
  if (into.recent.length < 1_024) return;
  into.blocks.push(into.recent.join(""));
  into.recent = [];
}

function textOf(gathered: Gathered): string {
  return [...gathered.blocks, ...gathered.recent].join("");
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

/** Figures come in chunks of their own, on the last chunk or in the choice; a later one stands, a missing one is null. */
function usageOf(sent: unknown, known: Usage): Usage {
  const usage = asRecord(sent);
  if (!usage) return known;
  const figure = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : null);
  const promptDetails = asRecord(usage["prompt_tokens_details"]);
  const thought = figure(asRecord(usage["completion_tokens_details"])?.["reasoning_tokens"]);
  const completion = figure(usage["completion_tokens"]);
  const cached = promptDetails?.["cached_tokens"] ?? usage["prompt_cache_hit_tokens"] ?? usage["cached_tokens"];
  return {
    prompt: figure(usage["prompt_tokens"]) ?? known.prompt,
    // Some count the answer without its thoughts, or as 0 beside them.
    completion: (completion === null ? thought : Math.max(completion, thought ?? 0)) ?? known.completion,
    cached: figure(cached) ?? known.cached,
  };
}

const LENGTH = ["length", "max_tokens", "max_output_tokens", "model_length"];
const FILTER = ["content_filter", "safety", "sensitive"];
const BROKEN = ["error", "network_error", "cancel", "cancelled", "abort", "aborted", "insufficient_system_resource"];

/** Whether the server has said how the message ends. */
export function isFinished(joining: Joining): boolean {
  return joining.ended || joining.finishes.size > 0;
}

/**
 * The joined answer. How it ends is decided by what is there, not by what the server calls it. Calls are kept
 * with `cut` so that each can be answered, and left out with `filter` and `refusal`. An answer that says nothing is
 * an answer too; who asked knows what to do about it. Throws MODEL_CUT when the
 * connection or the service broke it off in the middle, and MODEL_OVERFLOW.
 */
export function answerOf(joining: Joining): ModelAnswer {
  const said = (reasons: string[]) => reasons.some((reason) => joining.finishes.has(reason));
  if (said(["model_context_window_exceeded"])) throw new DeckhandError("MODEL_OVERFLOW");
  if (said(BROKEN)) throw new DeckhandError("MODEL_CUT", "the service broke it off", { retryAfterMs: 0 });
  if (!isFinished(joining)) throw new DeckhandError("MODEL_CUT", "the connection ended early", { retryAfterMs: 0 });

  const { refusal, usage, model } = joining;
  const [text, reasoning] = [textOf(joining.text), textOf(joining.reasoning)];
  const rest = { usage, model, ...(reasoning === "" ? {} : { reasoning }) };
  if (said(FILTER)) return { text: text || refusal, calls: [], finish: "filter", ...rest };
  if (refusal !== "") return { text: text || refusal, calls: [], finish: "refusal", ...rest };
  const calls = callsOf(joining);
  if (said(LENGTH) || calls.some((call) => call.args === null)) return { text, calls, finish: "cut", ...rest };
  if (calls.length > 0) return { text, calls, finish: "calls", ...rest };
  return { text, calls, finish: "stop", ...rest };
}

function callsOf(joining: Joining): RawCall[] {
  const calls: RawCall[] = [];
  let before: Slot | undefined;
  for (const slot of joining.slots) {
    const keyless = slot.index === null && slot.id === "";
    // A server that gives no key at all and says the same twice has said it once.
    const again = keyless && before?.raw === slot.raw && before.names.join() === slot.names.join();
    before = slot;
    if (again || (slot.names.length === 0 && slot.raw === "")) continue;
    const name = nameOf(slot.names, joining.tools);
    calls.push({ name, raw: slot.raw, args: parseArguments(slot.raw), ...(slot.extra ? { extra: slot.extra } : {}) });
  }
  return calls;
}

/** A name may come in pieces, again, or with the control tokens of the model's template in it. */
function nameOf(pieces: string[], tools: string[]): string {
  const clean = (name: string) => (name.split("<|")[0] as string).trim().replace(/^functions\./, "");
  const joined = clean(pieces.join(""));
  const candidates = [joined, clean(pieces.at(-1) ?? ""), clean(pieces[0] ?? "")];
  return candidates.find((name) => tools.includes(name)) ?? joined;
}
