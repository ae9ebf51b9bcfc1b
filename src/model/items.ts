import { DeckhandError } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import { checkCalls } from "./answer.ts";
import { meaningOf } from "./finish.ts";
import { type Gathered, nothing, textOf } from "./gather.ts";
import { asRecord, asText, textFor, weigh } from "./json.ts";
import { leftOut } from "./left-out.ts";

export type Kind = "message" | "function_call" | "reasoning";

/** A piece of an item that has a text of its own. */
export interface Part {
  which: "text" | "refusal" | "thought";
  /** Which list of the item it stands in. */
  list: "summary" | "content";
  key: string;
  pieces: Gathered;
  /** As its `done` said. */
  whole: string | null;
}

/** An item of a Responses answer while its events come in. */
export interface Item {
  kind: Kind;
  id: string;
  index: number | null;
  name: string;
  parts: Part[];
  /** The arguments of a call: in pieces, and as their `done` said. */
  raw: Gathered;
  whole: string | null;
  /** The item as its own `done` said. */
  done: Record<string, unknown> | null;
  /** Its status, as it was said last; one that means a cut stays. */
  status: string;
  /** Something was left out of its events that its pieces have not said whole. */
  lost: boolean;
}

export function sayStatus(item: Item, sent: Record<string, unknown>): void {
  if (item.done === null || meaningOf(item.status) === null) item.status = asText(sent["status"]) || item.status;
}

/** What kind an item is; null for the kinds that we never asked for. */
export function kindOf(item: Record<string, unknown> | null): Kind | null {
  const type = item?.["type"];
  return type === "message" || type === "function_call" || type === "reasoning" ? type : null;
}

function indexOf(event: Record<string, unknown>): number | null {
  return Number.isInteger(event["output_index"]) ? (event["output_index"] as number) : null;
}

function make(items: Item[], kind: Kind, id: string, index: number | null): Item {
  const item: Item = { kind, id, index, name: "", parts: [], raw: nothing(), whole: null, done: null, status: "", lost: false };
  items.push(item);
  checkItems(items.length);
  if (kind === "function_call") checkCalls(items.filter((each) => each.kind === kind).length);
  return item;
}

/** Throws MODEL_CUT for more items in an answer, or parts in an item, than any has. */
export function checkItems(count: number): void {
  if (count > LIMITS.modelItems) throw new DeckhandError("MODEL_CUT", "it did not end");
}

/** The item that an `added` begins; the same one when it is told twice. */
export function itemOf(items: Item[], event: Record<string, unknown>, sent: Record<string, unknown>, kind: Kind): Item {
  const [id, index] = [asText(sent["id"]), indexOf(event)];
  const same = items.find((item) => item.kind === kind && item.index === index && item.id === id && id !== "");
  return same ?? make(items, kind, id, index);
}

/**
 * The item that an event goes on with. Some servers give every item the same index, others a new id with each event: the
 * index decides when only one item has it, else the id, else the last of its kind. A new one when there is none.
 */
export function itemFor(items: Item[], event: Record<string, unknown>, kind: Kind): Item {
  const index = indexOf(event);
  const id = asText(event["item_id"]) || asText(asRecord(event["item"])?.["id"]);
  const alike = items.filter((item) => item.kind === kind);
  const placed = index === null ? alike : alike.filter((item) => item.index === index);
  const named = placed.find((item) => item.id === id && id !== "");
  if (named) return named;
  const fits = index === null && id !== "" ? placed.filter((item) => item.id === "") : placed;
  const last = fits.findLast((item) => item.done === null) ?? fits.at(-1);
  const another = last !== undefined && last.done !== null && id !== "" && last.id !== "";
  return last && !another ? last : make(items, kind, id, index);
}

/** The part of an item that an event speaks of. */
export function partOf(item: Item, event: Record<string, unknown>, which: Part["which"]): Part {
  const list = /summary/.test(asText(event["type"])) ? "summary" : "content";
  const places = ["content_index", "summary_index"].map((name) => (Number.isInteger(event[name]) ? Number(event[name]) : 0));
  const key = [which, list, ...places].join(" ");
  const known = item.parts.find((part) => part.key === key);
  if (known) return known;
  const part: Part = { which, list, key, pieces: nothing(), whole: null };
  item.parts.push(part);
  checkItems(item.parts.length);
  return part;
}

/** A part as its `done` says it: its pieces are not needed any more. */
export function sayWhole(item: Item, part: Part, text: string): void {
  const left = leftOut(text);
  if (left !== null) item.lost ||= left !== part.pieces.length;
  if (left !== null || text === "") return;
  part.whole = text;
  part.pieces.blocks = [];
}

/** The arguments of a call as their `done` says them. */
export function sayArguments(item: Item, text: string): void {
  const left = leftOut(text);
  if (left !== null) item.lost ||= left !== item.raw.length;
  else item.whole = text || item.whole;
}

/**
 * An item as its own `done` says it; what that says of its text needs no other record. A second one changes nothing.
 * Returns whether it was the first.
 */
export function finish(item: Item, sent: Record<string, unknown>): boolean {
  sayStatus(item, sent);
  if (item.done !== null) return false;
  item.done = withPieces(item, sent);
  if (textIn({ ...item, parts: [] }, item.kind === "reasoning" ? "thought" : "text") !== "") {
    item.parts = item.parts.filter((part) => part.which === "refusal");
  }
  return true;
}

/** What a `done` says of an item, without what was left out of it: there its pieces count, when they are as long. */
function withPieces(item: Item, sent: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, weigh(value, 1) === Infinity ? textFor(value) : value]),
  );
  const left = leftOut(asText(sent["arguments"]));
  if (left !== null) {
    item.lost ||= left !== whole(item).length;
    delete kept["arguments"];
  }
  for (const list of ["summary", "content"] as const) {
    const texts = (Array.isArray(sent[list]) ? sent[list] : [sent[list]]).map(textOfPart);
    if (texts.every((text) => leftOut(text) === null)) continue;
    const said = texts.reduce((sum, text) => sum + (leftOut(text) ?? text.length), 0);
    const parts = item.parts.filter((part) => part.list === list);
    item.lost ||= said !== parts.reduce((sum, { whole: all, pieces }) => sum + (all ?? pieces).length, 0);
    delete kept[list];
  }
  return kept;
}

function textOfPart(sent: unknown): string {
  const part = asRecord(sent);
  return asText(part ? (part["text"] ?? part["refusal"]) : sent);
}

/** The arguments of a call as text: what was said last of them counts most. */
export function whole(item: Item): string {
  return textFor(item.done?.["arguments"] ?? "") || item.whole || textOf(item.raw);
}

const TYPES = { text: ["output_text", "text"], refusal: ["refusal"], thought: ["summary_text", "reasoning_text"] };

/** The text of an item: as its `done` said, else as its parts did, else in pieces. */
export function textIn({ kind, done, parts }: Item, which: Part["which"]): string {
  if ((kind === "reasoning") !== (which === "thought") || kind === "function_call") return "";
  const heard = parts.filter((part) => part.which === which).map((part) => part.whole ?? textOf(part.pieces));
  const lists = [done?.["summary"], done?.["content"]];
  const said = lists
    .map((list) => (typeof list === "string" && which === "text" ? list : textsOf(list, which)))
    .find((text) => text !== "");
  return said ?? heard.join("");
}

function textsOf(list: unknown, which: Part["which"]): string {
  if (!Array.isArray(list)) return "";
  const parts = list.map((part: unknown) => asRecord(part) ?? {});
  return parts.map((part) => (TYPES[which].includes(asText(part["type"])) ? textOfPart(part) : "")).join("");
}
