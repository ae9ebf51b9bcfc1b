import { LIMITS } from "../limits.ts";
import { shortWords } from "./bundle.ts";
import { checkpoint } from "./checkpoint.ts";
import { messageOf } from "./errors.ts";
import { type Foretold, nonceOf } from "./foretold.ts";
import type { Log, Pending, PostClaim, PostState, SentPost } from "./log.ts";
import { backoff } from "./patience.ts";
import {
  type Bucket,
  type Chat,
  ChatError,
  type ChatRefusal,
  type Chunk,
  type Clock,
  type Found,
  type Ids,
  type Limiter,
  type Trace,
  type Wake,
} from "./ports.ts";
import type { Block, Lane, Post } from "./post.ts";
import type { Redact } from "./redactor.ts";

export interface DeliveryDeps {
  log: Log;
  limiter: Limiter;
  clock: Clock;
  ids: Ids;
  trace: Trace;
  redact: Redact;
}

/** Anything but `done` ends a drain early: the budget or the platform says when to come again. With the end what is unsaved must be saved. */
export type Outcome = "done" | { waitMs: number } | { gone: string } | "fenced";

/** One message to be made; `shows` is a digest of its content. */
interface Piece {
  chunk: Chunk;
  post: Post;
  index: number;
  shows: string;
  lane: Lane;
}

/** Whether somebody said to begin nothing more. */
export function isOver({ signal, leaving }: Wake): boolean {
  return signal.aborted || leaving?.aborted === true;
}

/**
 * How one post gets into its thread. Each send is noted with its nonce before it happens, so that after a crash it is
 * found, or sent again under the same nonce, or, when nobody can tell any more, sent again with a note.
 */
export class Delivery {
  readonly state: PostState;
  private readonly wake: Wake;
  private readonly thread: string;
  private readonly epoch: number;
  private readonly chat: Chat;
  private readonly deps: DeliveryDeps;
  private foretold: Foretold | null;

  constructor(wake: Wake, claim: PostClaim, chat: Chat, deps: DeliveryDeps, foretold: Foretold | null) {
    this.wake = wake;
    this.thread = wake.conversation;
    this.epoch = claim.epoch;
    this.state = claim.state;
    this.chat = chat;
    this.deps = deps;
    this.foretold = foretold;
  }

  /** Sends a post in this lane; of what is there already it edits what reads otherwise. Twice is the same as once. */
  async deliver(post: Post, lane: Lane): Promise<Outcome> {
    const record = (this.state.sent[post.key] ??= { refs: [], shows: [] });
    const cleared = await this.clearDoubt(post, record);
    if (cleared !== "done") return cleared;
    for (const [index, chunk] of this.layout(post, record).entries()) {
      const shows = this.deps.ids.digest(JSON.stringify(chunk));
      const isThere = record.refs[index] !== undefined;
      if (isThere && record.shows[index] === shows) continue;
      if (isOver(this.wake)) return "fenced";
      const piece = { chunk, post, index, shows, lane };
      const outcome = isThere ? await this.edit(piece, record) : await this.send(piece, record);
      if (outcome !== "done") return outcome;
    }
    return "done";
  }

  /** What it takes to bring the thread up to date with it: messages to be sent, and all calls. */
  left(post: Post): { sends: number; calls: number } {
    const record = this.state.sent[post.key] ?? { refs: [], shows: [] };
    const chunks = this.layout(post, record);
    const stale = chunks.filter((chunk, index) => record.shows[index] !== this.deps.ids.digest(JSON.stringify(chunk)));
    return { sends: chunks.length - record.refs.length, calls: stale.length };
  }

  async save(): Promise<"done" | "fenced"> {
    const saved = await this.deps.log.savePosts(this.thread, this.epoch, this.state);
    return saved === "saved" ? "done" : "fenced";
  }

  /** Who was told to let go, or stood still since it saved, may have a successor that has looked for this very message. */
  private async saveJustNow(): Promise<"done" | "fenced"> {
    for (let tries = 1; ; tries += 1) {
      const began = this.deps.clock.now();
      if ((await this.save()) === "fenced" || this.wake.signal.aborted) return "fenced";
      if (tries >= LIMITS.noteTries || this.deps.clock.now() - began < LIMITS.noteFresh) return "done";
    }
  }

  private layout(post: Post, record: SentPost): Chunk[] {
    const note: Block = { kind: "note", text: "(may be a duplicate)" };
    const chunks = this.chat.layout(record.doubted ? { ...post, blocks: [...post.blocks, note] } : post);
    // What a longer form of the post took is emptied: its buttons must not stay.
    while (chunks.length < record.refs.length) chunks.push(this.plainly("…", { ...post, blocks: [] }));
    return chunks;
  }

  /** What became of a send of this post whose outcome is not known. Without anything found it goes again. */
  private async clearDoubt(post: Post, record: SentPost): Promise<Outcome> {
    const { pending } = this.state;
    if (pending?.key !== post.key) return "done";
    const chunk = this.layout(post, record)[pending.chunk];
    const found = await this.lookFor(pending, chunk);
    if (typeof found === "object" && "ref" in found) {
      // What is found is that of the first try that came through.
      this.sent(record, found.ref, pending.tries > 1 ? "" : pending.shows);
      return "done";
    }
    if (found !== "absent" && found !== "unknown") return found;
    // The post has become shorter: nothing is to be sent there any more.
    if (!chunk) delete this.state.pending;
    else if (found === "unknown") record.doubted = true;
    return "done";
  }

  private async lookFor(pending: Pending, chunk: Chunk | undefined): Promise<Found | Outcome> {
    const { nonce, at, tries } = pending;
    const { last } = this.state;
    try {
      return await this.chat.find(this.thread, { nonce, since: at, ...(chunk && { chunk }), ...(last !== undefined && { last }) });
    } catch (thrown) {
      const { kind, code, retryAfterMs } = refusalOf(thrown);
      if (kind === "gone") return { gone: code };
      const now = this.deps.clock.now();
      const left = (pending.looked ??= now) + LIMITS.doubtfulLook - now;
      this.deps.trace.warn("post-not-looked-for", { conversation: this.thread, kind, code, left });
      if (kind === "refused" || left <= 0) return "unknown";
      return { waitMs: Math.min(left, retryAfterMs ?? backoff(tries, LIMITS.doubtfulWait, LIMITS.doubtfulWaitMax, 1)) };
    }
  }

  /** What is sent may have become old when it is found: the log has grown meanwhile. */
  private async send(piece: Piece, record: SentPost): Promise<Outcome> {
    const { chunk, post, index, shows, lane } = piece;
    const nonce = nonceOf(this.thread, post, index);
    const buckets = this.chat.buckets(this.thread, chunk.file ? "file" : "send", lane);
    const told = this.foretold?.note.nonce === nonce && this.foretold.note.shows === shows ? this.foretold : null;
    this.foretold = null;
    const now = told?.note.at ?? this.deps.clock.now();
    const before = this.state.pending?.nonce === nonce ? this.state.pending : undefined;
    const tries = (before?.tries ?? 0) + 1;
    this.state.pending = { key: post.key, chunk: index, nonce, at: before?.at ?? now, shows, tries };
    // Both at once: the note is written in vain where the budget is empty, but a send never waits for two answers.
    const [{ waitMs }, noted] = told ? [told, "done"] : await Promise.all([this.deps.limiter.take(buckets, now), this.save()]);
    if (noted === "fenced" || this.wake.signal.aborted) return "fenced";
    if (waitMs > 0) {
      this.notSent(post.key, before);
      return { waitMs };
    }
    if (this.deps.clock.now() - now >= LIMITS.noteFresh && (await this.saveJustNow()) === "fenced") return "fenced";
    checkpoint("before-send");
    try {
      const ref = await this.sendSomehow(piece, nonce, tries);
      checkpoint("after-send");
      this.sent(record, ref, shows);
      checkpoint("after-sent");
      return "done";
    } catch (thrown) {
      if (!(thrown instanceof ChatError)) throw thrown;
      if (thrown.refusal.kind === "later") this.notSent(post.key, before);
      return await this.comeAgain(thrown.refusal, buckets, tries);
    }
  }

  /** This try has certainly not come through: what is in doubt is what was before. */
  private notSent(key: string, before: Pending | undefined): void {
    if (before) this.state.pending = before;
    else delete this.state.pending;
    // Not begun: it may still be folded.
    if (!before && this.state.sent[key]?.refs.length === 0) delete this.state.sent[key];
  }

  /** Saved with what comes next: until then its note stands, and a successor finds it. */
  private sent(record: SentPost, ref: string, shows: string): void {
    record.refs.push(ref);
    record.shows.push(shows);
    this.state.last = ref;
    delete this.state.pending;
  }

  /** What the platform refuses goes as bare text, then as a file, then as a line that says so. Throws ChatError. */
  private async sendSomehow({ chunk, post }: Piece, nonce: string, tries: number): Promise<string> {
    const blob = chunk.file ? await this.fileOf(chunk.file.blob) : null;
    const asText = (text: string): Chunk => this.plainly(text, post);
    const first: [Chunk, Uint8Array | undefined][] = tries > LIMITS.doubtfulTries ? [] : [[chunk, blob ?? undefined]];
    const forms: [Chunk, Uint8Array | undefined][] = [
      ...first,
      [asText(chunk.plain), undefined],
      [
        { ...asText("This could only be shown as a file."), file: { name: "message.txt", blob: "" } },
        new TextEncoder().encode(chunk.plain || " "),
      ],
    ];
    let code = "";
    for (const [form, file] of forms) {
      try {
        return await this.chat.send(this.thread, form, nonce, file);
      } catch (thrown) {
        const refusal = refusalOf(thrown);
        if (refusal.kind !== "refused") throw new ChatError(refusal, thrown);
        code = refusal.code;
        this.deps.trace.warn("post-refused", { conversation: this.thread, code });
      }
    }
    return await this.chat.send(this.thread, asText(`Something could not be shown here (${code}). \`deckhand trace\` has it.`), nonce);
  }

  private async fileOf(key: string): Promise<Uint8Array | null> {
    const bytes = await this.deps.log.getBlob(key);
    return bytes && new TextEncoder().encode(this.deps.redact(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)));
  }

  private async edit(piece: Piece, record: SentPost): Promise<Outcome> {
    const { chunk, index, shows, lane } = piece;
    const buckets = this.chat.buckets(this.thread, "edit", lane);
    const { waitMs } = await this.deps.limiter.take(buckets, this.deps.clock.now());
    if (waitMs > 0) return { waitMs };
    const ref = record.refs[index] as string;
    // Until it is done nobody knows what the message shows; and who has a successor must not undo what that one did.
    record.shows[index] = "";
    if ((await this.save()) === "fenced" || this.wake.signal.aborted) return "fenced";
    try {
      const moved = await this.chat.edit(this.thread, ref, chunk);
      if (moved !== undefined) this.state.last = record.refs[index] = moved;
    } catch (thrown) {
      const outcome = await this.editFailed(refusalOf(thrown), piece, record, buckets);
      if (outcome !== "done") return outcome;
    }
    checkpoint("after-edit");
    record.shows[index] = shows;
    delete record.fails;
    return "done";
  }

  /** The bare words, in case it was the form; a message that somebody deleted refuses these too, and is left alone. */
  private async editFailed(refusal: ChatRefusal, { chunk, post, index }: Piece, record: SentPost, buckets: Bucket[]): Promise<Outcome> {
    this.deps.trace.warn("edit-failed", { conversation: this.thread, key: post.key, code: refusal.code });
    let why = refusal;
    if (why.kind === "refused") {
      try {
        await this.chat.edit(this.thread, record.refs[index] as string, this.plainly(chunk.plain, post));
        return "done";
      } catch (thrown) {
        why = refusalOf(thrown);
        if (why.kind === "refused") return "done";
      }
    }
    if (why.kind === "doubtful") record.fails = (record.fails ?? 0) + 1;
    // One message must not take the budget of all others for ever.
    if ((record.fails ?? 0) > LIMITS.doubtfulTries) return "done";
    return await this.comeAgain(why, buckets, record.fails ?? 1);
  }

  private async comeAgain(refusal: ChatRefusal, buckets: Bucket[], tries: number): Promise<Outcome> {
    const { kind, code, limit } = refusal;
    if (kind === "gone") return { gone: code };
    const waitMs = refusal.retryAfterMs ?? backoff(tries, LIMITS.doubtfulWait, LIMITS.doubtfulWaitMax, 1);
    this.deps.trace.warn("post-waits", { conversation: this.thread, kind, code, tries, waitMs });
    const closed = limit && buckets.at(limit === "here" ? 0 : -1);
    if (closed) await this.deps.limiter.block(closed.name, this.deps.clock.now() + waitMs);
    return { waitMs };
  }

  /** Words alone, in one message, with the buttons of the post: a card without them could never be decided. */
  private plainly(text: string, post: Post): Chunk {
    const buttons = post.blocks.filter((block) => block.kind === "buttons");
    for (let max = 2_000; ; max /= 2) {
      const blocks: Block[] = [{ kind: "text", text: shortWords(text, post, Math.floor(max)) }, ...buttons];
      const chunks = this.chat.layout({ key: "", lane: post.lane, blocks });
      if (chunks.length === 1 || max < 500) return chunks.at(-1) as Chunk;
    }
  }
}

function refusalOf(thrown: unknown): ChatRefusal {
  if (thrown instanceof ChatError) return thrown.refusal;
  return { kind: "doubtful", code: messageOf(thrown) };
}
