import { type Entry, isEntry, type NewEntry } from "./entry.ts";
import type { Image, Message } from "./ports.ts";
import { resultText } from "./prompt.ts";
import { type Redact, redacted } from "./redactor.ts";
import { afterRoom, isLong, type Item, itemOf, newestWords, outputBytes, type Since, tokensIn } from "./items.ts";
import { attachedLine, indented, speaker } from "./speakers.ts";

const NO_RESULT = "Not known: the work was interrupted before this call had a result.";

const PARKED = "(Note from Deckhand: this work ended its worker several times in a row. Look before you go on.)";

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
  #items: Item[] = [];
  /** Of all items together. */
  #tokens = 0;
  #waiting: Waiting[] = [];
  readonly #results = new Map<string, Item>();
  /** The call of each run that ended, by the seq of its end. */
  readonly #ended = new Map<number, string>();
  readonly #redact: Redact;
  /** Of each message event: the words as they are now, and up to where the request that sent them had read. */
  readonly #edits = new Map<string, Entry<"edited">[]>();
  readonly #removed = new Map<string, number>();
  readonly #readUpTo = new Map<string, number>();
  /** What has to be done to words that still wait. */
  readonly #made: ((item: Item) => Item)[] = [];
  #since: Since = { step: 0, read: 0, summary: false };
  /** By the key of their bytes, which stands in their place in the items. */
  readonly #pictures = new Map<string, string | null>();
  /** Messages of which a brief says what became of their files, and its seq. */
  readonly #filed = new Map<number, number>();
  /** What the endpoint counted for each of our tokens, in the newest request of which it said so. */
  #factor = 1;

  /** `beside`: what goes along with every request, as text; its tokens count. */
  constructor(system: string, redact: Redact, beside = "") {
    this.#redact = redact;
    const first = itemOf({ role: "system", content: redact(system) }, 0, "system");
    this.#push({ ...first, tokens: first.tokens + tokensIn(beside) });
  }

  add(entries: Entry[]): void {
    for (const entry of entries) this.#take(entry);
  }

  /** The messages of a request that is made now. */
  messages(): Message[] {
    return this.#all().map((item) => this.#withPictures(item.message));
  }

  /** The same as they would be with these entries. */
  messagesWith(made: NewEntry<"compacted">[]): Message[] {
    const changed = (item: Item): Item => made.reduce((all, entry) => afterRoom(all, entry, this.#since), item);
    return this.#all().map((item) => this.#withPictures(changed(item).message));
  }

  /** Whether this entry would change a request of now. */
  changes(made: NewEntry<"compacted">): boolean {
    return this.#all().some((item) => afterRoom(item, made, this.#since) !== item);
  }

  /** What the repository says: its entry, and about how many tokens it takes. */
  notes(): { seq: number; tokens: number } | null {
    const item = this.#all().find(({ from }) => from === "brief");
    return item ? { seq: item.seq, tokens: this.#counted(item.tokens) } : null;
  }

  #all(): Item[] {
    return [...this.#items, ...this.#settle(Number.POSITIVE_INFINITY)];
  }

  /** Pictures that a request of now shows and that were not given by `show`. */
  unseen(): string[] {
    const shown = this.#all().flatMap(({ message }) => picturesOf(message));
    return shown.map(({ data }) => data).filter((blob) => !this.#pictures.has(blob));
  }

  /** The bytes of a picture in base64; null when they are not kept any more. */
  show(blob: string, data: string | null): void {
    this.#pictures.set(blob, data);
  }

  /** About how many tokens a request of now has, and those of them that are the same in every request. */
  tokens(): { tokens: number; fixed: number } {
    const waiting = this.#settle(Number.POSITIVE_INFINITY).reduce((total, item) => total + item.tokens, 0);
    return { tokens: this.#counted(this.#tokens + waiting), fixed: this.#counted(this.#items[0]?.tokens ?? 0) };
  }

  /**
   * All that is not always the same, oldest first; what belongs to one step of the model stands together under the entry
   * of that step. `words`: the tokens of people's words among them, `long`: how many of those could be shortened; `said`:
   * the tokens of the model's own message, if it could be; `outputs`: those of each result that could be.
   */
  steps(): Told[] {
    const steps: Told[] = [];
    for (const { seq, tokens, from, message } of this.#all().slice(1)) {
      if (from === "summary" || from === "brief") continue;
      if (steps.at(-1)?.seq !== seq) steps.push({ seq, tokens: 0, words: 0, long: 0, said: 0, outputs: [] });
      const step = steps.at(-1) as Told;
      step.tokens += this.#counted(tokens);
      if (from === "person") step.words += this.#counted(tokens);
      if (from === "person" && isLong(message)) step.long += 1;
      if (from === "model" && isLong(message)) step.said += this.#counted(tokens);
      if (from === "result" && isLong(message)) step.outputs.push(this.#counted(tokens));
    }
    return steps;
  }

  /** About so many bytes of output are so many tokens. */
  bytesOf(tokens: number): number {
    return outputBytes(tokens / this.#factor);
  }

  #counted(tokens: number): number {
    return Math.ceil(tokens * this.#factor);
  }

  #push(...items: Item[]): void {
    this.#items.push(...items);
    for (const { tokens } of items) this.#tokens += tokens;
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
      if (isEntry(entry, "brief") && entry.about === "files") this.#filed.set(entry.parent ?? 0, entry.seq);
      // What the repository says comes before what people want.
      if (isEntry(entry, "brief") && entry.about === "agents") this.#waiting.unshift(...this.#waiting.splice(-1));
    }
  }

  #answer(entry: Entry<"model">): void {
    if (entry.again === undefined) this.#since = { step: entry.seq, read: entry.read, summary: false };
    this.#push(...this.#settle(entry.read));
    for (const { entry: word } of this.#waiting) {
      if (isEntry(word, "message") && word.seq <= entry.read) this.#readUpTo.set(word.event, entry.read);
    }
    this.#waiting = this.#waiting.filter((each) => each.entry.seq > entry.read);
    // Servers that cut a request in silence count too little.
    if (entry.usage.prompt !== null) this.#factor = Math.min(2, Math.max(0.6, entry.usage.prompt / this.#tokens));
    const hidden = redacted(entry, this.#redact);
    if (!hidden.text && hidden.calls.length === 0) return;
    const calls = hidden.calls.map((call, index) => {
      // An endpoint reads only its own words in what it needs back with a call.
      const extra = entry.calls[index]?.extra;
      return { id: call.id, name: call.name, arguments: JSON.stringify(call.args ?? {}), ...(extra ? { extra } : {}) };
    });
    const reasoning = hidden.reasoning ? { reasoning: hidden.reasoning } : {};
    const own = { ...(entry.by ? { by: entry.by } : {}), ...(entry.echo ? { echo: entry.echo } : {}) };
    this.#push(itemOf({ role: "assistant", content: hidden.text || null, calls, ...reasoning, ...own }, entry.seq, "model"));
    for (const { id } of calls) {
      const item = itemOf({ role: "tool", call: id, content: NO_RESULT }, entry.seq, "result");
      this.#results.set(id, item);
      this.#push(item);
    }
  }

  #result(ended: Entry<"run-ended">): void {
    const item = this.#results.get(ended.call);
    this.#ended.set(ended.seq, ended.call);
    if (item)
      this.#becomes(item, {
        ...itemOf({ role: "tool", call: ended.call, content: resultText(ended) }, item.seq, "result"),
        file: ended.output.file,
      });
  }

  /** An item keeps its place; only results and what makes room change one. */
  #becomes(item: Item, changed: Item): void {
    const before = item.tokens;
    Object.assign(item, changed);
    this.#tokens += item.tokens - before;
  }

  /** The words of people and notes that a request which has read so far sends, in order. */
  #settle(read: number): Item[] {
    return this.#waiting.flatMap(({ entry }) => {
      const text = entry.seq > read ? null : this.#textOf(entry, read);
      if (text === null) return [];
      const images = isEntry(entry, "brief") ? entry.pictures?.map(({ type, blob }) => ({ type, data: blob })) : undefined;
      const item = itemOf({ role: "user", content: text, ...(images ? { images } : {}) }, entry.seq, fromOf(entry));
      return [this.#made.reduce((all, change) => change(all), item)];
    });
  }

  #withPictures(message: Message): Message {
    const pictures = picturesOf(message);
    if (pictures.length === 0 || message.role !== "user") return message;
    const images = pictures.flatMap(({ type, data: blob }) => {
      const data = this.#pictures.get(blob);
      return data ? [{ type, data }] : [];
    });
    const gone = images.length < pictures.length ? "\n(A picture of these is not kept any more.)" : "";
    return { role: "user", content: message.content + gone, ...(images.length > 0 ? { images } : {}) };
  }

  #textOf(entry: Waiting["entry"], read: number): string | null {
    if (isEntry(entry, "brief")) return entry.text;
    if (isEntry(entry, "final")) return entry.reason === "answer" ? null : `(Note from Deckhand: ${indented(entry.text)})`;
    if (isEntry(entry, "choice")) return entry.choice === "leave" ? this.#left(entry) : null;
    if (isEntry(entry, "failed") && entry.parked) return PARKED;
    if (isEntry(entry, "failed")) return `(Note from Deckhand: the work stopped here. ${indented(entry.text)})`;
    // To choose another model is nobody's business but Deckhand's.
    if (isEntry(entry, "message")) return entry.use !== undefined && entry.to === "thread" ? null : this.#words(entry, read);
    // An edit of words that the model has not read is already in those words.
    const sent = this.#readUpTo.get(entry.event);
    return sent === undefined || entry.seq <= sent
      ? null
      : `(An earlier message was changed by its writer. It now says: ${indented(entry.text)})`;
  }

  #left({ of, by }: Entry<"choice">): string {
    return `(Note from Deckhand: ${speaker(by.name)} leaves the interrupted command of call ${this.#ended.get(of) ?? ""} as it is.)`;
  }

  #words(entry: Entry<"message">, read: number): string | null {
    const removed = this.#removed.get(entry.event);
    if (removed !== undefined && removed <= read) return null;
    const edits = (this.#edits.get(entry.event) ?? []).filter((edit) => edit.seq <= read);
    const text = edits.at(-1)?.text ?? entry.text;
    const filed = this.#filed.get(entry.seq);
    const left = filed !== undefined && filed <= read ? "" : "; not downloaded";
    const files = (entry.files ?? []).map((file) => `\n${attachedLine(file, left)}`);
    const to = entry.to === "thread" ? " (to the others in the thread, for your information)" : "";
    return `${speaker(entry.by.name)}${to}: ${indented(text)}${files.join("")}`;
  }

  #compact(entry: Entry<"compacted">): void {
    const { upto, summary, window } = entry;
    const since = this.#since;
    const change = (item: Item): Item => afterRoom(item, entry, since);
    this.#made.push(change);
    for (const item of this.#items) this.#becomes(item, change(item));
    if (summary === undefined) return;
    this.#since = { ...since, summary: true };
    const [system, ...rest] = this.#items as [Item, ...Item[]];
    const briefs = rest.filter((item) => item.from === "brief");
    const people = rest.filter((item) => item.from === "person" && item.seq <= upto);
    const said = `(Note from Deckhand: this conversation grew long. What happened so far, in short:\n  ${indented(summary)}\nWhat people wrote stands above in their own words.)`;
    const told = itemOf({ role: "user", content: this.#redact(said) }, upto, "summary");
    const kept = rest.filter((item) => item.from !== "brief" && item.seq > upto);
    this.#items = [];
    this.#tokens = 0;
    this.#push(system, ...briefs, ...newestWords(people, window), told, ...kept);
  }
}

function picturesOf(message: Message): Image[] {
  return message.role === "user" ? (message.images ?? []) : [];
}

function fromOf(entry: Waiting["entry"]): Item["from"] {
  if (isEntry(entry, "brief") && entry.about === "agents") return "brief";
  return isEntry(entry, "message") || isEntry(entry, "edited") || isEntry(entry, "brief") ? "person" : "note";
}

/** What one step of the model, or one message, takes of a request, in tokens. */
export interface Told {
  seq: number;
  tokens: number;
  words: number;
  long: number;
  said: number;
  outputs: number[];
}
