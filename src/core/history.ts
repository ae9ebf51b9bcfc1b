import { headAndTail, utf8 } from "./cut.ts";
import { type Entry, isEntry } from "./entry.ts";
import type { Message } from "./ports.ts";
import { resultText } from "./prompt.ts";
import { type Redact, redacted } from "./redactor.ts";

/** Bytes that one token stands for: what commands print is denser than what people write. */
const OUTPUT_BYTES = 2.2;
const PROSE_BYTES = 3.5;
/** What a message costs beside its words. */
const FRAME = 8;

/** Tokens of people's words that a summary does not replace, newest first; the very first words stay anyway. */
const PEOPLE = 10_000;

const NO_RESULT = "Not known: the work was interrupted before this call had a result.";

const PARKED = "(Note from Deckhand: this work ended its worker several times in a row. Look before you go on.)";

/** One message, the entry that it comes from, and about how many tokens it has. */
interface Item {
  message: Message;
  seq: number;
  from: "system" | "person" | "note" | "model" | "result" | "summary";
  tokens: number;
}

/** Words that wait for the next request: what they say is settled by then. */
interface Waiting {
  entry: Entry<"message" | "edited" | "final" | "failed" | "brief" | "choice">;
}

/**
 * The model's messages, folded from the log an entry at a time. A message that lands between a request and its answer
 * comes after the answer (by `read`), and nothing that was sent once changes but where a `compacted` entry says so: each
 * request extends the one before. The same entries give the same messages in every worker.
 */
export class History {
  #items: Item[];
  #waiting: Waiting[] = [];
  readonly #results = new Map<string, Item>();
  /** The call of each run that ended, by the seq of its end. */
  readonly #ended = new Map<number, string>();
  readonly #redact: Redact;
  /** Of each message event: the words as they are now, and up to where the request that sent them had read. */
  readonly #edits = new Map<string, Entry<"edited">[]>();
  readonly #removed = new Map<string, number>();
  readonly #readUpTo = new Map<string, number>();
  /** The tokens that the endpoint counted for the first so many messages. */
  #measured: { messages: number; tokens: number } | null = null;

  constructor(system: string, redact: Redact) {
    this.#redact = redact;
    this.#items = [itemOf({ role: "system", content: redact(system) }, 0, "system")];
  }

  add(entries: Entry[]): void {
    for (const entry of entries) this.#take(entry);
  }

  /** The messages of a request that is made now. */
  messages(): Message[] {
    return [...this.#items, ...this.#settle(Number.POSITIVE_INFINITY)].map((item) => item.message);
  }

  /** About how many tokens these messages have; `measured` when the endpoint has counted a part of them. */
  tokens(): { tokens: number; measured: boolean } {
    const items = [...this.#items, ...this.#settle(Number.POSITIVE_INFINITY)];
    const all = sum(items);
    if (!this.#measured) return { tokens: all, measured: false };
    const counted = sum(items.slice(0, this.#measured.messages));
    const factor = Math.min(2, Math.max(0.6, this.#measured.tokens / Math.max(1, counted)));
    return { tokens: Math.ceil(all * factor), measured: true };
  }

  /** Results of commands, oldest first: the entry of their step, and the tokens that each takes. */
  results(): { seq: number; tokens: number }[] {
    return this.#items.filter((item) => item.from === "result").map(({ seq, tokens }) => ({ seq, tokens }));
  }

  /** Steps and words that a summary could stand for, oldest first. */
  steps(): { seq: number; tokens: number }[] {
    const steps: { seq: number; tokens: number }[] = [];
    for (const { seq, tokens, from } of this.#items) {
      if (from === "system" || from === "summary") continue;
      const last = steps.at(-1);
      if (last?.seq === seq) last.tokens += tokens;
      else steps.push({ seq, tokens });
    }
    return steps;
  }

  #take(entry: Entry): void {
    if (isEntry(entry, "model")) return this.#answer(entry);
    if (isEntry(entry, "run-ended")) return this.#result(redacted(entry, this.#redact));
    if (isEntry(entry, "removed")) return void this.#removed.set(entry.event, entry.seq);
    if (isEntry(entry, "compacted")) return this.#compact(entry);
    if (isEntry(entry, "edited")) {
      const edit = redacted(entry, this.#redact);
      this.#edits.set(entry.event, [...(this.#edits.get(entry.event) ?? []), edit]);
      this.#waiting.push({ entry: edit });
    } else if (
      isEntry(entry, "message") ||
      isEntry(entry, "final") ||
      isEntry(entry, "failed") ||
      isEntry(entry, "brief") ||
      isEntry(entry, "choice")
    ) {
      this.#waiting.push({ entry: redacted(entry, this.#redact) });
    }
  }

  #answer(entry: Entry<"model">): void {
    this.#items.push(...this.#settle(entry.read));
    for (const { entry: word } of this.#waiting) {
      if (isEntry(word, "message") && word.seq <= entry.read) this.#readUpTo.set(word.event, entry.read);
    }
    this.#waiting = this.#waiting.filter((each) => each.entry.seq > entry.read);
    if (entry.usage.prompt !== null) this.#measured = { messages: this.#items.length, tokens: entry.usage.prompt };
    const hidden = redacted(entry, this.#redact);
    if (!hidden.text && hidden.calls.length === 0) return;
    const calls = hidden.calls.map((call, index) => {
      // An endpoint reads only its own words in what it needs back with a call.
      const extra = entry.calls[index]?.extra;
      return { id: call.id, name: call.name, arguments: JSON.stringify(call.args ?? {}), ...(extra ? { extra } : {}) };
    });
    const reasoning = hidden.reasoning ? { reasoning: hidden.reasoning } : {};
    const own = { ...(entry.by ? { by: entry.by } : {}), ...(entry.echo ? { echo: entry.echo } : {}) };
    this.#items.push(itemOf({ role: "assistant", content: hidden.text || null, calls, ...reasoning, ...own }, entry.seq, "model"));
    for (const { id } of calls) {
      const item = itemOf({ role: "tool", call: id, content: NO_RESULT }, entry.seq, "result");
      this.#results.set(id, item);
      this.#items.push(item);
    }
  }

  #result(ended: Entry<"run-ended">): void {
    const item = this.#results.get(ended.call);
    this.#ended.set(ended.seq, ended.call);
    if (item) replace(item, resultText(ended));
  }

  /** The words of people and notes that a request which has read so far sends, in order. */
  #settle(read: number): Item[] {
    return this.#waiting.flatMap(({ entry }) => {
      if (entry.seq > read) return [];
      const text = this.#textOf(entry, read);
      const from = isEntry(entry, "message") || isEntry(entry, "edited") || isEntry(entry, "brief") ? "person" : "note";
      return text === null ? [] : [itemOf({ role: "user", content: text }, entry.seq, from)];
    });
  }

  #textOf(entry: Waiting["entry"], read: number): string | null {
    if (isEntry(entry, "brief")) return entry.text;
    if (isEntry(entry, "final")) return entry.reason === "answer" ? null : `(Note from Deckhand: ${entry.text})`;
    if (isEntry(entry, "choice")) return entry.choice === "leave" ? this.#left(entry) : null;
    if (isEntry(entry, "failed") && entry.parked) return PARKED;
    if (isEntry(entry, "failed")) return `(Note from Deckhand: the work stopped here. ${entry.text})`;
    if (isEntry(entry, "message")) return this.#words(entry, read);
    // An edit of words that the model has not read is already in those words.
    const sent = this.#readUpTo.get(entry.event);
    return sent === undefined || entry.seq <= sent ? null : `(An earlier message was changed by its writer. It now says: ${entry.text})`;
  }

  #left({ of, by }: Entry<"choice">): string {
    return `(Note from Deckhand: ${by.name} leaves the interrupted command of call ${this.#ended.get(of) ?? ""} as it is.)`;
  }

  #words(entry: Entry<"message">, read: number): string | null {
    const removed = this.#removed.get(entry.event);
    if (removed !== undefined && removed <= read) return null;
    const edits = (this.#edits.get(entry.event) ?? []).filter((edit) => edit.seq <= read);
    const text = edits.at(-1)?.text ?? entry.text;
    const files = (entry.files ?? []).map((f) => `\n(attached: ${f.name}, ${f.type}, ${f.bytes} bytes; not downloaded)`);
    const to = entry.to === "thread" ? " (to the others in the thread, for your information)" : "";
    return `${entry.by.name}${to}: ${text}${files.join("")}`;
  }

  #compact({ upto, outputs, summary }: Entry<"compacted">): void {
    this.#measured = null;
    for (const item of this.#items) {
      if (item.from === "result" && item.seq <= upto) shorten(item, outputs);
    }
    if (summary === undefined) return;
    const [system, ...rest] = this.#items as [Item, ...Item[]];
    const people = rest.filter((item) => item.from === "person" && item.seq <= upto);
    const said = `(Note from Deckhand: this conversation grew long. What happened so far, in short:\n${summary}\nWhat people wrote stands above in their own words.)`;
    const told = itemOf({ role: "user", content: this.#redact(said) }, upto, "summary");
    this.#items = [system, ...newest(people), told, ...rest.filter((item) => item.seq > upto)];
  }
}

function itemOf(message: Message, seq: number, from: Item["from"]): Item {
  return { message, seq, from, tokens: tokensOf(message) };
}

function tokensOf(message: Message): number {
  const words = utf8(message.content ?? "");
  if (message.role === "tool") return Math.ceil(words / OUTPUT_BYTES) + FRAME;
  const calls = message.role === "assistant" ? utf8(JSON.stringify(message.calls)) / OUTPUT_BYTES : 0;
  const reasoning = message.role === "assistant" ? utf8(message.reasoning ?? "") / PROSE_BYTES : 0;
  return Math.ceil(words / PROSE_BYTES + calls + reasoning) + FRAME;
}

function sum(items: Item[]): number {
  return items.reduce((total, item) => total + item.tokens, 0);
}

function replace(item: Item, content: string): void {
  if (item.message.role !== "tool") return;
  item.message = { ...item.message, content };
  item.tokens = tokensOf(item.message);
}

/** At most so many bytes of a result; what it said at its end stays. */
function shorten(item: Item, outputs: number): void {
  const content = item.message.content ?? "";
  const bytes = utf8(content);
  if (bytes <= Math.max(outputs, 300)) return;
  const rest = outputs > 0 ? `${headAndTail(content, outputs)}\n` : "";
  replace(item, `${rest}[The output of this command (${bytes} bytes) was taken out to make room. Run it again if you need it.]`);
}

/** The first words, and of the others the newest, in the order in which they were said. */
function newest(people: Item[]): Item[] {
  const [first, ...others] = people;
  if (!first) return [];
  let room = PEOPLE - first.tokens;
  const kept = others.reverse().filter((item) => (room -= item.tokens) >= 0);
  return [first, ...kept.reverse()];
}
