import { LIMITS } from "../limits.ts";
import { headAndTail, takeHead, utf8 } from "./cut.ts";
import type { NewEntry, Refused } from "./entry.ts";
import type { Message } from "./ports.ts";
import { indented } from "./speakers.ts";

/** Bytes that one token stands for: what commands print is denser than what people write. */
const OUTPUT_BYTES = 2.2;
const PROSE_BYTES = 3.5;
/** What a message costs beside its words, and what a picture costs. */
const FRAME = 8;
const PICTURE = 1_600;

/** Tokens of people's words that a summary does not replace, and their share of a small window. */
export const PEOPLE = { tokens: 10_000, share: 0.2 };

/** Results and words that are shorter than this are left as they are. */
const SHORT = 300;
/** The same for a message of the model, its frame included. */
const LONG_SAID = 1_000;
/** What stays at least of a part of it. */
const LEAST = 100;

/** One message that the model is told, the entry that it comes from, and about how many tokens it has. */
export interface Item {
  message: Message;
  seq: number;
  from: "system" | "brief" | "person" | "note" | "model" | "result" | "summary";
  tokens: number;
  /** Where all of this output is. */
  file?: string | undefined;
  /** Of something that was shortened: how many bytes it had before. */
  had?: number;
}

export function itemOf(message: Message, seq: number, from: Item["from"]): Item {
  return { message, seq, from, tokens: tokensOf(message) };
}

/** Tokens of words, about. */
export function tokensIn(words: string): number {
  return utf8(words) / PROSE_BYTES;
}

export function outputBytes(tokens: number): number {
  return Math.floor(tokens * OUTPUT_BYTES);
}

/** The smaller of a number of tokens and a share of the window. */
export function share({ tokens, share: of }: { tokens: number; share: number }, window: number): number {
  return Math.min(tokens, Math.floor(window * of));
}

function tokensOf(message: Message): number {
  const words = message.content ?? "";
  if (message.role === "tool") return Math.ceil(utf8(words) / OUTPUT_BYTES) + FRAME;
  if (message.role !== "assistant") {
    const pictures = message.role === "user" ? (message.images?.length ?? 0) : 0;
    return Math.ceil(tokensIn(words)) + pictures * PICTURE + FRAME;
  }
  const calls = utf8(JSON.stringify(message.calls)) / OUTPUT_BYTES;
  const own = message.echo ? utf8(JSON.stringify(message.echo)) / PROSE_BYTES : 0;
  return Math.ceil(tokensIn(words) + tokensIn(message.reasoning ?? "") + calls + own) + FRAME;
}

/** At most so many bytes: the beginning and the end, with a line that says what is left out. */
export function fitted(text: string, bytes: number): string {
  let cut = text;
  for (let max = bytes; utf8(cut) > bytes && max > 0; max = Math.floor(max * 0.8)) cut = headAndTail(text, max);
  return cut;
}

/** Whether there is anything to be won by shortening it. */
export function isLong(message: Message): boolean {
  if (message.role === "assistant") return utf8(JSON.stringify(message)) > LONG_SAID;
  return utf8(message.content ?? "") > SHORT || (message.role === "user" && message.images !== undefined);
}

/** A result with at most so many bytes of its output; 0: it is taken out. */
export function lessOf(item: Item, outputs: number): Item {
  const content = item.message.content ?? "";
  const bytes = utf8(content);
  if (bytes <= Math.max(outputs, SHORT) || item.message.role !== "tool") return item;
  const had = item.had ?? bytes;
  const where = item.file === undefined ? "Run it again if you need it." : `All of it is in ${item.file}.`;
  const rest = outputs > 0 ? `${fitted(content, outputs)}\n` : "";
  const said = `${rest}[${rest ? "Most of the" : "The"} output of this command (${had} bytes) was taken out to make room. ${where}]`;
  return { ...item, ...itemOf({ ...item.message, content: said }, item.seq, item.from), had };
}

/** Words of a person with at most so many bytes, and without pictures when they are too many. */
export function shortened(item: Item, bytes: number): Item {
  const { message } = item;
  if (message.role !== "user" || item.tokens <= Math.max(bytes, SHORT) / PROSE_BYTES + FRAME) return item;
  const { images = [], content } = message;
  const gone = images.length > 0 ? "\n(A picture was attached; it was taken out to make room.)" : "";
  const words = indented(fitted(content, Math.max(bytes, SHORT)));
  return { ...item, ...itemOf({ role: "user", content: `${words}${gone}` }, item.seq, item.from) };
}

/** What room-making leaves of an item. `since`: see `unrefused`. */
export function afterRoom(item: Item, entry: NewEntry<"compacted">, since: Since): Item {
  const { upto, outputs, words, said, notes, without } = entry;
  if (item.seq > upto) return item;
  if (without !== undefined) return unrefused(item, without, since);
  if (item.from === "result") return lessOf(item, outputs);
  if (item.from === "person" && words !== undefined) return shortened(item, words);
  if (item.from === "model" && said !== undefined) return { ...item, ...itemOf(lesser(item.message, said), item.seq, item.from) };
  return item.from === "brief" && notes !== undefined ? lessNotes(item, notes) : item;
}

/** The newest answer that a request got, up to where that request had read, and whether a summary was made after it. */
export interface Since {
  step: number;
  read: number;
  summary: boolean;
}

/** An item without what an endpoint refused; the same item when there is nothing of it there. */
export function unrefused(item: Item, without: Refused, { step, read, summary }: Since): Item {
  const { message, seq, from } = item;
  const now = (changed: Message): Item =>
    JSON.stringify(changed) === JSON.stringify(message) ? item : { ...item, ...itemOf(changed, seq, from) };
  const why = "because the model's service refused it";
  if (without === "pictures" && message.role === "user" && message.images)
    return now({ role: "user", content: `${message.content}\n(A picture was attached; it was taken out, ${why}.)` });
  if (without === "outputs" && message.role === "tool" && seq >= step)
    return now({ ...message, content: `[The output of this command was taken out, ${why}. Do not print the same again.]` });
  if (without === "step" && message.role === "assistant" && seq >= step) return now(silenced(message, `[taken out, ${why}]`));
  if (without === "step" && ((from === "brief" && seq > read) || (from === "summary" && summary)))
    return now({ role: "user", content: `(Note from Deckhand: what was told here was taken out, ${why}.)` });
  if (without === "words" && from === "person" && seq > read)
    return now({ role: "user", content: `(Note from Deckhand: what somebody wrote here was taken out, ${why}.)` });
  return item;
}

/** A message of the model in its form, without anything that it said. */
function silenced({ content, calls, by }: Extract<Message, { role: "assistant" }>, note: string): Message {
  const nothing = (text: string): string => {
    const names = Object.keys(JSON.parse(text) as Record<string, unknown>);
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, note])));
  };
  const silent = calls.map((call) => ({ ...call, arguments: nothing(call.arguments) }));
  return { role: "assistant", content: content === null ? null : note, calls: silent, ...(by === undefined ? {} : { by }) };
}

/** A message of which each part has at most about so many bytes, without pictures. What the system says stays. */
export function lesser(message: Message, bytes: number): Message {
  if (message.role === "system") return message;
  if (message.role === "user") {
    const { content, images } = message;
    if (utf8(content) <= bytes && !images) return message;
    return { role: "user", content: `${indented(fitted(content, bytes))}${images ? "\n(A picture was attached.)" : ""}` };
  }
  if (message.role === "tool") return { ...message, content: fitted(message.content, bytes) };
  if (utf8(JSON.stringify(message)) <= bytes) return message;
  // Thoughts belong to the words that were thought of: they go together.
  const { reasoning: _, echo: __, ...rest } = message;
  const each = Math.max(LEAST, Math.floor(bytes / (message.calls.length + 1)));
  const content = message.content === null ? null : fitted(message.content, each);
  return { ...rest, content, calls: message.calls.map((call) => ({ ...call, arguments: lessArguments(call.arguments, each) })) };
}

/** Still one JSON object: a model is shown no call in a form that it should not repeat. */
function lessArguments(text: string, bytes: number): string {
  if (utf8(text) <= bytes) return text;
  const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
  const each = Math.max(LEAST, Math.floor(bytes / Math.max(1, entries.length)));
  const shorter = entries.map(([name, value]) => [name, typeof value === "string" ? fitted(value, each) : value]);
  const made = JSON.stringify(Object.fromEntries(shorter));
  return utf8(made) <= 2 * bytes ? made : JSON.stringify({ shortened: fitted(text, bytes) });
}

/** The beginning of what the repository says. */
function lessNotes(item: Item, bytes: number): Item {
  const { message } = item;
  if (message.role !== "user" || utf8(message.content) <= bytes) return item;
  const { text } = takeHead(message.content, bytes, LIMITS.outputLine);
  return { ...item, ...itemOf({ role: "user", content: `${text}[... the rest is left out to make room ...]` }, item.seq, item.from) };
}

/** The first words, and of the others the newest, in the order in which they were said; whole where there is room for them. */
export function newestWords(people: Item[], window: number): Item[] {
  const all = share(PEOPLE, window);
  const [whole, ...others] = people;
  if (!whole) return [];
  const first = shortened(whole, (others.length > 0 ? all / 2 : all) * PROSE_BYTES);
  let room = all - first.tokens;
  const kept: Item[] = [];
  for (const item of others.reverse()) {
    // What does not fit, and all before it, is in the summary only; of the newest words there is always something.
    const fits = kept.length === 0 ? shortened(item, room * PROSE_BYTES) : item;
    room -= fits.tokens;
    if (room < 0 && kept.length > 0) break;
    kept.push(fits);
  }
  return [first, ...kept.reverse()];
}
