import type { Usage } from "../core/entry.ts";
import type { ModelAnswer, RawCall } from "../core/ports.ts";
import { type AnswerReader, checkSize, concluded, nameOf } from "./answer.ts";
import { faultIn, StreamFault } from "./errors.ts";
import { gravest, meaningOf, type Why } from "./finish.ts";
import { gather, NO_USAGE, usageOf } from "./gather.ts";
import {
  checkItems,
  finish,
  type Item,
  itemFor,
  itemOf,
  type Kind,
  kindOf,
  partOf,
  sayArguments,
  sayStatus,
  sayWhole,
  textIn,
  whole,
} from "./items.ts";
import { asRecord, asText, parseArguments, textFor, weigh } from "./json.ts";
import { matched } from "./last-list.ts";
import { eventFilter } from "./once.ts";

/** One answer while its events come in. */
interface Joining {
  items: Item[];
  /** All that says how it ended, as the last event did; null before that. */
  last: (Why | null)[] | null;
  usage: Usage;
  model: string;
  /** Characters so far, and those of items as their `done` said them. */
  size: number;
  held: number;
  /** Some bytes were no text. */
  spoilt: boolean;
  ended: boolean;
}

/**
 * Reads an answer of Responses, as events or as one document. The events are what counts: an item that was never `done`
 * is taken as its pieces say, the list in the last event fills in what no event told, and only the last event makes the
 * answer whole.
 */
export function responsesReader(tools: string[], asked: string): AnswerReader {
  const joining: Joining = { items: [], last: null, usage: NO_USAGE, model: asked, size: 0, held: 0, spoilt: false, ended: false };
  const over = () => joining.last !== null || joining.ended;
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
    heard: () => joining.size,
    spoil: () => void (joining.spoilt ||= !over()),
    over,
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
  const item = itemFor(joining.items, data, kind);
  const part = partOf(item, data, which);
  if (act === "done") {
    const silent = part.pieces.length === 0;
    sayWhole(item, part, asText(data["text"] ?? data["refusal"]));
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
  sayName(joining, item, sent);
  if (added) {
    sayStatus(item, sent);
    return { text: "", progress: kind === "reasoning" || item.name !== "" };
  }
  const silent = !item.parts.some((part) => part.which === "text" && (part.pieces.length > 0 || part.whole !== null));
  sayDone(joining, item, sent);
  return told(joining, kind === "message" && silent ? textIn(item, "text") : "");
}

function sayName(joining: Joining, item: Item, sent: Record<string, unknown>): void {
  if (item.name !== "") return;
  item.name = asText(sent["name"]);
  grown(joining, item.name.length, "");
}

function sayDone(joining: Joining, item: Item, sent: Record<string, unknown>): void {
  if (!finish(item, sent)) return;
  joining.held += weigh(item.done);
  checkSize(joining.held);
}

function takeArguments(joining: Joining, data: Record<string, unknown>, done: boolean): { text: string; progress: boolean } {
  const item = itemFor(joining.items, data, "function_call");
  sayName(joining, item, data);
  const text = textFor(data[done ? "arguments" : "delta"] ?? "");
  if (done) sayArguments(item, text);
  else gather(item.raw, text);
  return grown(joining, done ? 0 : text.length, "");
}

/** The last event. Its list of items tells what no event of theirs told. */
function conclude(joining: Joining, response: Record<string, unknown>, type: string): { text: string; progress: boolean } {
  joining.last ??= endings(response, type);
  const sent = Array.isArray(response["output"]) ? (response["output"] as unknown[]) : [];
  checkItems(sent.length);
  const list = sent.flatMap((each) => {
    const [item, kind] = [asRecord(each), kindOf(asRecord(each))];
    return item && kind ? [{ kind, sent: item }] : [];
  });
  const heard: string[] = [];
  for (const { kind, sent: each, told: known } of matched(joining.items, list)) {
    if (known === "other") {
      joining.last.push("cut");
      continue;
    }
    const item = known ?? itemOf(joining.items, {}, each, kind);
    sayName(joining, item, each);
    sayDone(joining, item, each);
    if (!known && kind === "message") heard.push(textIn(item, "text"));
  }
  return told(joining, heard.join("\n\n"));
}

/** Its type, its status and its details may each say that it is not whole. */
function endings(response: Record<string, unknown>, type: string): (Why | null)[] {
  const names = [asText(response["status"]), type.replace("response.", "")].filter((name) => !["", "completed", "done"].includes(name));
  const signs = names.map((name) => meaningOf(name) ?? "cut");
  const details = response["incomplete_details"];
  const reason = asText(asRecord(details)?.["reason"]) || asText(details);
  const present = asRecord(details) ? Object.keys(details as object).length > 0 : Boolean(details);
  return present ? [...signs, meaningOf(reason) === "filter" ? "filter" : "cut"] : signs;
}

function answerOf(joining: Joining, tools: string[]): ModelAnswer {
  const { items, last, usage, model } = joining;
  const calls = items.filter((item) => item.kind === "function_call").map((item) => callOf(item, tools));
  const texts = (which: "text" | "refusal" | "thought") => items.map((item) => textIn(item, which)).filter((text) => text !== "");
  const notWhole = joining.spoilt || items.some((item) => item.lost || meaningOf(item.status) !== null);
  const why = gravest([...(last ?? []), notWhole ? "cut" : null]);
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
    const told = Array.isArray(summary) && weigh(summary) < Infinity ? summary : [];
    return [{ type: kind, ...(asText(id) === "" ? {} : { id }), summary: told, encrypted_content }];
  });
  return echo.some((each) => each["type"] === "reasoning" || each["phase"] !== undefined) ? { echo } : {};
}
