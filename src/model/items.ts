import { type Gathered, nothing, textOf } from "./gather.ts";
import { asRecord, asText } from "./json.ts";

export type Kind = "message" | "function_call" | "reasoning";

/** A piece of an item that has a text of its own. */
export interface Part {
  which: "text" | "refusal" | "thought";
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
  const item: Item = { kind, id, index, name: "", parts: [], raw: nothing(), whole: null, done: null };
  items.push(item);
  return item;
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
  const { type, content_index: content = 0, summary_index: summary = 0 } = event;
  const key = JSON.stringify([which, /summary/.test(asText(type)), content, summary]);
  const known = item.parts.find((part) => part.key === key);
  if (known) return known;
  const part: Part = { which, key, pieces: nothing(), whole: null };
  item.parts.push(part);
  return part;
}

/** A part as its `done` says it: its pieces are not needed any more. */
export function sayWhole(part: Part, text: string): void {
  if (text === "") return;
  part.whole = text;
  part.pieces.blocks = [];
}

/** An item as its own `done` says it; what that says of its text needs no other record. A second one changes nothing. */
export function finish(item: Item, sent: Record<string, unknown>): void {
  if (item.done !== null) return;
  item.done = sent;
  if (textIn({ ...item, parts: [] }, item.kind === "reasoning" ? "thought" : "text") !== "") {
    item.parts = item.parts.filter((part) => part.which === "refusal");
  }
}

/** The arguments of a call as text: what was said last of them counts most. */
export function whole(item: Item): string {
  const given = item.done?.["arguments"] ?? "";
  const said = typeof given === "string" ? given : JSON.stringify(given);
  return said || item.whole || textOf(item.raw);
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
  return parts.map((part) => (TYPES[which].includes(asText(part["type"])) ? asText(part["text"] ?? part["refusal"]) : "")).join("");
}
