import { headAndTail, utf8 } from "./cut.ts";
import type { Message } from "./ports.ts";

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
  return { ...item, ...itemOf({ role: "user", content: `${fitted(content, Math.max(bytes, SHORT))}${gone}` }, item.seq, item.from) };
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
