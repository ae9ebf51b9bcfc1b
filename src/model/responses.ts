import type { Usage } from "../core/entry.ts";
import type { ModelAnswer, RawCall } from "../core/ports.ts";
import { type AnswerReader, checkSize, concluded, nameOf } from "./answer.ts";
import { faultIn, StreamFault } from "./errors.ts";
import { gather, NO_USAGE, usageOf } from "./gather.ts";
import { asRecord, asText, parseArguments } from "./json.ts";
import { eventFilter } from "./once.ts";
import { finish, type Item, itemFor, itemOf, type Kind, kindOf, partOf, sayWhole, textIn, whole } from "./items.ts";

/** One answer while its events come in. */
interface Joining {
  items: Item[];
  /** How it ended, and why, as the last event said. */
  last: { status: string; reason: string } | null;
  usage: Usage;
  model: string;
  /** Characters so far. */
  size: number;
  ended: boolean;
}

/**
 * Reads an answer of Responses, as events or as one document. The events are what counts: an item that was never `done`
 * is taken as its pieces say, the list in the last event fills in what no event told, and only the last event makes the
 * answer whole.
 */
export function responsesReader(tools: string[], asked: string): AnswerReader {
  const joining: Joining = { items: [], last: null, usage: NO_USAGE, model: asked, size: 0, ended: false };
  const isNew = eventFilter();
  return {
    take(value) {
      const data = asRecord(value);
      if (!data || !isNew(data)) return { text: "", progress: false };
      return join(joining, data);
    },
    end: () => void (joining.ended = true),
    finished: () => isWhole(joining),
    thinking: () => joining.items.some((item) => item.kind === "reasoning" && item.done === null),
    size: () => joining.size,
    over: () => joining.last !== null || joining.ended,
    answer: () => answerOf(joining, tools),
  };
}

/** `[DONE]` alone is not enough: it may stand behind anything. */
function isWhole({ items, last, ended }: Joining): boolean {
  return last !== null || (ended && items.length > 0 && items.every((item) => item.done !== null));
}

const DELTAS: Record<string, [kind: Kind, part: "text" | "refusal" | "thought"]> = {
  "response.output_text": ["message", "text"],
  "response.refusal": ["message", "refusal"],
  "response.reasoning_summary_text": ["reasoning", "thought"],
  "response.reasoning_text": ["reasoning", "thought"],
};

const ENDS = /^response\.(completed|done|incomplete|cancelled|failed)$/;

function join(joining: Joining, data: Record<string, unknown>): { text: string; progress: boolean } {
  const type = asText(data["type"]);
  const fault = type === "error" ? (data["error"] ?? data) : faultIn(data);
  if (fault !== undefined) throw new StreamFault(fault);
  const response = asRecord(data["response"]) ?? (data["object"] === "response" ? data : null);
  if (response) {
    joining.model = asText(response["model"]) || joining.model;
    joining.usage = usageOf(response["usage"], joining.usage);
    if (type === "response.failed" || response["status"] === "failed") throw new StreamFault(response["error"] ?? "it failed");
    if (ENDS.test(type) || type === "") return conclude(joining, response, type);
  }
  const [, name = "", act] = /^(.*)\.(delta|done|added)$/.exec(type) ?? [];
  if (name === "response.output_item") return takeItem(joining, data);
  if (name === "response.function_call_arguments") return takeArguments(joining, data, act === "done");
  const known = DELTAS[name];
  if (!known || act === "added") return { text: "", progress: false };
  const [kind, which] = known;
  const part = partOf(itemFor(joining.items, data, kind), data, which);
  if (act === "done") {
    const silent = part.pieces.length === 0;
    sayWhole(part, asText(data["text"] ?? data["refusal"]));
    return told(joining, which === "text" && silent ? (part.whole ?? "") : "");
  }
  const piece = asText(data["delta"]);
  gather(part.pieces, piece);
  return grown(joining, piece.length, which === "text" ? piece : "");
}

function grown(joining: Joining, by: number, text: string): { text: string; progress: boolean } {
  joining.size += by;
  checkSize(joining.size);
  return { text, progress: by > 0 };
}

/** What a `done` says is no news to who heard its pieces. */
function told(joining: Joining, text: string): { text: string; progress: boolean } {
  return grown(joining, text.length, text);
}

function takeItem(joining: Joining, data: Record<string, unknown>): { text: string; progress: boolean } {
  const sent = asRecord(data["item"]);
  const kind = kindOf(sent);
  if (!sent || kind === null) return { text: "", progress: false };
  const added = data["type"] === "response.output_item.added";
  const item = added ? itemOf(joining.items, data, sent, kind) : itemFor(joining.items, data, kind);
  item.name ||= asText(sent["name"]);
  if (added) return { text: "", progress: kind === "reasoning" || item.name !== "" };
  const silent = !item.parts.some((part) => part.which === "text" && (part.pieces.length > 0 || part.whole !== null));
  finish(item, sent);
  return told(joining, kind === "message" && silent ? textIn(item, "text") : "");
}

function takeArguments(joining: Joining, data: Record<string, unknown>, done: boolean): { text: string; progress: boolean } {
  const item = itemFor(joining.items, data, "function_call");
  item.name ||= asText(data["name"]);
  const given = data[done ? "arguments" : "delta"] ?? "";
  const text = typeof given === "string" ? given : JSON.stringify(given);
  if (done) item.whole = text || item.whole;
  else gather(item.raw, text);
  return grown(joining, done ? 0 : text.length, "");
}

/** The last event. Its list of items tells what no event of theirs told: the nth of a kind is the nth of that kind. */
function conclude(joining: Joining, response: Record<string, unknown>, type: string): { text: string; progress: boolean } {
  const status = asText(response["status"]) || type.replace("response.", "");
  joining.last ??= { status, reason: asText(asRecord(response["incomplete_details"])?.["reason"]) };
  const seen: Record<Kind, number> = { message: 0, function_call: 0, reasoning: 0 };
  const heard: string[] = [];
  for (const each of Array.isArray(response["output"]) ? (response["output"] as unknown[]) : []) {
    const sent = asRecord(each);
    const kind = kindOf(sent);
    if (!sent || kind === null) continue;
    const nth = joining.items.filter((item) => item.kind === kind)[seen[kind]++];
    const item = nth ?? itemOf(joining.items, {}, sent, kind);
    item.name ||= asText(sent["name"]);
    finish(item, sent);
    if (!nth && kind === "message") heard.push(textIn(item, "text"));
  }
  return told(joining, heard.join("\n\n"));
}

function answerOf(joining: Joining, tools: string[]): ModelAnswer {
  const { items, last, usage, model } = joining;
  const calls = items.filter((item) => item.kind === "function_call").map((item) => callOf(item, tools));
  const halfDone = items.some((item) => item.kind === "function_call" && item.done?.["status"] === "incomplete");
  const texts = (which: "text" | "refusal" | "thought") => items.map((item) => textIn(item, which)).filter((text) => text !== "");
  let why: "broken" | "filter" | "cut" | null = null;
  if (last?.status === "cancelled") why = "broken";
  else if (last?.reason === "content_filter") why = "filter";
  else if (["incomplete", "in_progress", "queued"].includes(last?.status ?? "") || halfDone) why = "cut";
  return concluded({
    ...{ text: texts("text").join("\n\n"), refusal: texts("refusal").join("\n\n"), reasoning: texts("thought").join("\n\n") },
    ...{ calls, usage, model, ended: isWhole(joining), why, ...echoOf(items) },
  });
}

function callOf(item: Item, tools: string[]): RawCall {
  const raw = whole(item);
  return { name: nameOf([item.name], tools), raw, args: parseArguments(raw) };
}

/** Thoughts that only the endpoint can read, and where text and calls stood among them; see `toInput`. */
function echoOf(items: Item[]): { echo?: Record<string, unknown>[] } {
  const echo = items.flatMap(({ kind, done }): Record<string, unknown>[] => {
    if (kind === "function_call") return [{ type: kind }];
    if (kind === "message") return [{ type: kind, ...(typeof done?.["phase"] === "string" ? { phase: done["phase"] } : {}) }];
    if (asText(done?.["encrypted_content"]) === "") return [];
    const { id, summary, encrypted_content } = done as Record<string, unknown>;
    return [{ type: kind, ...(asText(id) === "" ? {} : { id }), summary: Array.isArray(summary) ? summary : [], encrypted_content }];
  });
  return echo.some((each) => each["type"] === "reasoning" || each["phase"] !== undefined) ? { echo } : {};
}
