import type { Image, Message } from "../core/ports.ts";
import { asRecord, parseJson } from "./json.ts";
import { withoutTokens } from "./tokens.ts";

export interface MendedCall {
  id: string;
  name: string;
  /** Always the text of one JSON object. */
  arguments: string;
  extra?: Record<string, unknown>;
}

/** A message of a history that any vendor takes. No text is empty but an assistant's, which is then null. */
export type Mended =
  | { role: "system"; content: string }
  | { role: "user"; content: string; images: Image[] }
  | { role: "assistant"; content: string | null; calls: MendedCall[]; reasoning?: string; echo?: Record<string, unknown>[] }
  | { role: "tool"; call: string; content: string };

type Assistant = Mended & { role: "assistant" };

/** What the history must be like for the endpoint and model that it goes to. */
export interface Manner {
  /** Whose reasoning, signatures and echoes may stay in it: those of others are left out. */
  by: string;
  /** The model sees images; else a note says that there was one. */
  images: boolean;
  /** An answer must stand between a result and what a person says. */
  bridge: boolean;
  /** At most one call a message: others follow in messages of their own. */
  single: boolean;
}

const NO_RESULT = "No result: the work was interrupted. It is not known whether this ran.";
const LEFT_OUT = "(What came before is left out.)";
const GO_ON = "Go on.";
const BRIDGE = "(I read what people wrote meanwhile.)";
const NO_EYES = "(There was an image here. You cannot see images.)";

/**
 * The history as any vendor takes it, whatever it went through: one system message, then people first; neighbours of one
 * kind merged; each call answered right after its message; results without a call, a second result and messages that say
 * nothing left out; arguments always one JSON object; no lone surrogates; control tokens of templates only in what the model
 * itself wrote. Pure: the same history gives the same messages, and what is added at its end changes nothing before it.
 */
export function mended(messages: Message[], manner: Manner): Mended[] {
  const takeResult = resultsOf(messages);
  const nameCall = callNames();
  const out: Mended[] = [];
  messages.forEach((message, at) => {
    if (message.role === "tool") return;
    if (message.role !== "assistant") {
      const words = wordsOf(message, manner);
      const first = message.role === "system" && out.every((each) => each.role === "system");
      if (words.content.trim() !== "") place(out, first ? { role: "system", content: words.content } : { role: "user", ...words }, manner);
      return;
    }
    const assistant = assistantOf(message, manner);
    if (!assistant) return;
    const results = assistant.calls.map((call) => {
      const content = takeResult(call.id, at) ?? NO_RESULT;
      call.id = nameCall(call.id);
      return { role: "tool" as const, call: call.id, content };
    });
    if (!manner.single || results.length < 2) {
      place(out, assistant, manner);
      out.push(...results);
      return;
    }
    results.forEach((result, nth) => {
      const calls = assistant.calls.slice(nth, nth + 1);
      place(out, nth === 0 ? { ...assistant, calls } : { role: "assistant", content: null, calls }, manner);
      out.push(result);
    });
  });
  const last = out.at(-1)?.role;
  if (last !== "user" && last !== "tool") place(out, user(last === "assistant" ? GO_ON : LEFT_OUT), manner);
  return out;
}

function user(content: string): Mended & { role: "user" } {
  return { role: "user", content, images: [] };
}

function wordsOf(message: Message & { role: "system" | "user" }, manner: Manner): { content: string; images: Image[] } {
  const content = withoutTokens(message.content.toWellFormed());
  const images = message.role === "user" ? (message.images ?? []) : [];
  if (images.length === 0) return { content, images };
  if (!manner.images)
    return { content: [content, ...images.map(() => NO_EYES)].filter((text) => text.trim() !== "").join("\n"), images: [] };
  return { content: content.trim() === "" ? "(an image)" : content, images };
}

/** Nine letters or digits, each once in a conversation: what has that form already stays. */
function callNames(): (id: string) => string {
  const used = new Set<string>();
  return (id) => {
    const plain = id.replace(/[^a-zA-Z0-9]/g, "").padEnd(9, "0");
    let name = plain.slice(0, 9);
    for (let nth = 2; used.has(name); nth++) name = plain.slice(0, 9 - String(nth).length) + String(nth);
    used.add(name);
    return name;
  };
}

/** Gives the first result of a call that comes after its message and was not given yet. */
function resultsOf(messages: Message[]): (call: string, after: number) => string | undefined {
  const results = new Map<string, { at: number; content: string }[]>();
  messages.forEach((message, at) => {
    if (message.role !== "tool") return;
    const content = once(message, () => (message.content.trim() === "" ? "(no output)" : withoutTokens(message.content.toWellFormed())));
    const kept = results.get(message.call);
    if (kept) kept.push({ at, content });
    else results.set(message.call, [{ at, content }]);
  });
  return (call, after) => {
    const kept = results.get(call) ?? [];
    const index = kept.findIndex((each) => each.at > after);
    return index < 0 ? undefined : kept.splice(index, 1)[0]?.content;
  };
}

/** Some templates refuse two messages of one kind in a row, or an answer before any question. */
function place(out: Mended[], next: Exclude<Mended, { role: "tool" }>, manner: Manner): void {
  const last = out.at(-1);
  if (next.role === "assistant" && (!last || last.role === "system")) out.push(user(LEFT_OUT));
  if (next.role === "user" && last?.role === "tool" && manner.bridge) out.push({ role: "assistant", content: BRIDGE, calls: [] });
  if (next.role === "assistant" && last?.role === "assistant" && last.calls.length === 0) {
    const content = [last.content, next.content].filter((text) => text !== null).join("\n\n");
    out[out.length - 1] = { ...next, content };
  } else if (next.role === "user" && last?.role === "user") {
    out[out.length - 1] = { role: "user", content: `${last.content}\n\n${next.content}`, images: [...last.images, ...next.images] };
  } else if (next.role === "system" && last?.role === "system") {
    last.content += `\n\n${next.content}`;
  } else out.push(next);
}

function assistantOf(message: Message & { role: "assistant" }, manner: Manner): Assistant | null {
  const own = message.by === undefined || message.by === manner.by;
  const ids = new Set<string>();
  const calls = message.calls.filter(({ id }) => !ids.has(id) && ids.add(id)).map((call) => callOf(call, own));
  const text = message.content?.toWellFormed() ?? "";
  const content = text.trim() === "" ? null : text;
  if (content === null && calls.length === 0) return null;
  const reasoning = own ? (message.reasoning?.toWellFormed() ?? "") : "";
  const echo = own ? (message.echo ?? []) : [];
  return { role: "assistant", content, calls, ...(reasoning === "" ? {} : { reasoning }), ...(echo.length > 0 ? { echo } : {}) };
}

function callOf(call: (Message & { role: "assistant" })["calls"][number], own: boolean): MendedCall {
  const name = call.name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
  return {
    id: call.id,
    name,
    arguments: once(call, () => argumentsText(call.arguments)),
    ...(own && call.extra ? { extra: call.extra } : {}),
  };
}

/** Texts of results and calls by what they were made of: each request has them all again, and the history changes none in place. */
const made = new WeakMap<object, string>();

function once(of: object, make: () => string): string {
  const known = made.get(of);
  if (known !== undefined) return known;
  const text = make();
  made.set(of, text);
  return text;
}

/** Unchanged when it is one JSON object; servers that parse the history refuse anything else for ever. */
function argumentsText(text: string): string {
  const value = asRecord(parseJson(text));
  if (!value) return JSON.stringify({ _invalid: text.toWellFormed() });
  const mayBeIllFormed = !text.isWellFormed() || /\\ud[89a-f]/i.test(text);
  return mayBeIllFormed ? JSON.stringify(value, (_, each: unknown) => (typeof each === "string" ? each.toWellFormed() : each)) : text;
}
