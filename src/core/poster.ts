import { LIMITS } from "../limits.ts";
import { checkpoint } from "./checkpoint.ts";
import { headAndTail } from "./cut.ts";
import { messageOf } from "./errors.ts";
import { type Entry, isEntry } from "./entry.ts";
import type { Log, PostState } from "./log.ts";
import { type Chat, ChatError, type Chunk, type Clock, type Ids, type Limiter, type Trace, type Wake } from "./ports.ts";
import type { Block, Post } from "./post.ts";
import type { Redact } from "./redactor.ts";
import { type Due, render } from "./render.ts";
import type { Now } from "./status.ts";

export interface PosterDeps {
  log: Log;
  limiter: Limiter;
  clock: Clock;
  ids: Ids;
  trace: Trace;
  chats: Map<string, Chat>;
  banner: string | null;
  redact: Redact;
  /** What is true of a conversation at this moment. */
  now?: (conversation: string, entries: Entry[]) => Promise<Now>;
  /** Ends the work of a thread that can no longer be reached; must not throw. */
  abandon: (conversation: string, code: string) => Promise<void>;
}

/** Why a drain stopped early: the budget or the platform says when to come again. */
type Outcome = "done" | { waitMs: number } | { gone: string } | "fenced";

/** One message to be sent; `shows` is a digest of its content. */
interface Piece {
  chunk: Chunk;
  post: Post;
  index: number;
  shows: string;
}

/**
 * Brings one thread up to date with its log: the log is the outbox. Posts go in order; each send is noted with
 * its nonce before it happens, so that after a crash it is found or sent again under the same nonce.
 */
export async function drainPosts(wake: Wake, deps: PosterDeps): Promise<void> {
  const claim = await deps.log.takePosts(wake.conversation, wake.lock);
  if (!claim) return;
  checkpoint("post-taken");
  const thread = new ThreadPoster(wake, claim.epoch, claim.state, deps);
  while (!wake.signal.aborted) {
    const entries = await deps.log.read(wake.conversation, 0);
    const outcome = await thread.bringUpToDate(entries);
    if (outcome === "fenced") return;
    if (outcome !== "done" && "waitMs" in outcome) return await deps.log.postAt(wake.conversation, deps.clock.now() + outcome.waitMs);
    if (outcome !== "done") await thread.park(outcome.gone, entries);
    checkpoint("before-posts-settle");
    const settled = await deps.log.settlePosts(wake.conversation, claim.epoch, thread.state.cursor);
    if (settled !== "more") return;
  }
}

class ThreadPoster {
  readonly state: PostState;
  private readonly thread: string;
  private readonly signal: AbortSignal;
  private readonly epoch: number;
  private readonly deps: PosterDeps;

  constructor(wake: Wake, epoch: number, state: PostState, deps: PosterDeps) {
    this.thread = wake.conversation;
    this.signal = wake.signal;
    this.epoch = epoch;
    this.state = state;
    this.deps = deps;
  }

  async bringUpToDate(entries: Entry[]): Promise<Outcome> {
    const chat = this.deps.chats.get(entries[0]?.type === "opened" ? entries[0].platform : "");
    if (!chat) return "fenced"; // another gateway serves this platform
    const { banner, redact } = this.deps;
    const now = (await this.deps.now?.(this.thread, entries)) ?? {};
    const view = render(entries, { banner, redact, after: this.state.cursor, now });
    if (this.state.unreachable) {
      const heard = entries.some((e) => isEntry(e, "message") && e.seq > this.state.cursor);
      if (!heard) return this.passOver(view.seq);
      delete this.state.unreachable;
    }
    const outcome = await this.postDue(view.due, chat);
    if (outcome !== "done") return outcome;
    this.state.cursor = view.seq;
    const cards = view.due.filter((d) => d.post.lane === "approval");
    for (const { post } of [...cards, ...view.statuses]) {
      if (!this.state.sent[post.key]) continue;
      const edited = await this.deliver(post, chat);
      if (edited !== "done") return edited;
    }
    const live = new Set(view.statuses.filter((s) => !s.over).map((s) => s.post.key));
    for (const key of Object.keys(this.state.sent)) {
      const open = live.has(key) || (key.startsWith("approval:") && hasButtons(view.due, key));
      if (!open) delete this.state.sent[key];
    }
    return await this.save();
  }

  private async postDue(all: Due[], chat: Chat): Promise<Outcome> {
    let due = all.filter((d) => d.seq > this.state.cursor);
    while (due.length > 0) {
      const bundle = this.bundle(due);
      const outcome = await this.deliver(bundle.post, chat);
      // An edit has its own, smaller budget: what is new does not wait for it.
      const later = typeof outcome === "object" && "waitMs" in outcome && this.isThere(bundle.post, chat);
      if (outcome !== "done" && !later) return outcome;
      due = due.slice(bundle.count);
      this.state.cursor = Math.max(this.state.cursor, (due[0]?.seq ?? bundle.seq + 1) - 1);
    }
    return "done";
  }

  /** The next post; when several commands wait already, they become one. What was begun stays as it was. */
  private bundle(due: Due[]): { post: Post; count: number; seq: number } {
    const first = due[0] as Due;
    const upTo = Object.keys(this.state.sent).find((key) => key.startsWith(`fold:${first.seq}-`));
    let run = due.findIndex((d) => d.post.lane !== "output" || d.post.file);
    if (run === -1) run = due.length;
    if (upTo) run = due.findIndex((d) => upTo === `fold:${first.seq}-${d.seq}`) + 1;
    else if (this.state.sent[first.post.key] || run < LIMITS.foldFrom) return { post: first.post, count: 1, seq: first.seq };
    const folded = due.slice(0, run);
    const last = folded.at(-1) as Due;
    const blocks = folded.flatMap((d) => d.post.blocks.map(shorten));
    return { post: { key: `fold:${first.seq}-${last.seq}`, lane: "output", blocks }, count: run, seq: last.seq };
  }

  private isThere(post: Post, chat: Chat): boolean {
    return (this.state.sent[post.key]?.refs.length ?? 0) >= chat.layout(post).length;
  }

  /** Sends a post; of what is there already it edits what reads otherwise. Twice is the same as once. */
  private async deliver(post: Post, chat: Chat): Promise<Outcome> {
    const record = (this.state.sent[post.key] ??= { refs: [], shows: [] });
    const chunks = chat.layout(post);
    // What a longer form of the post took is emptied: its buttons must not stay.
    while (chunks.length < record.refs.length) chunks.push(plainly("…", { ...post, blocks: [] }, chat));
    for (const [index, chunk] of chunks.entries()) {
      const shows = this.deps.ids.digest(JSON.stringify(chunk));
      const piece = { chunk, post, index, shows };
      if (record.refs[index] === undefined) {
        const sent = await this.send(piece, record, chat);
        if (sent !== "done") return sent;
      }
      if (record.shows[index] === shows) continue;
      const edited = await this.edit(piece, record.refs, chat);
      if (edited !== "done") return edited;
      record.shows[index] = shows;
      if ((await this.save()) === "fenced") return "fenced";
    }
    return "done";
  }

  private async edit({ chunk, post, index }: Piece, refs: string[], chat: Chat): Promise<Outcome> {
    const buckets = chat.buckets(this.thread, post.lane === "status" ? "status" : "edit");
    const { waitMs } = await this.deps.limiter.take(buckets, this.deps.clock.now());
    if (waitMs > 0) return { waitMs };
    if (this.signal.aborted) return "fenced";
    try {
      refs[index] = (await chat.edit(this.thread, refs[index] as string, chunk)) ?? (refs[index] as string);
      checkpoint("after-edit");
      return "done";
    } catch (thrown) {
      const refusal = refusalOf(thrown);
      this.deps.trace.warn("edit-failed", { conversation: this.thread, key: post.key, code: refusal.code });
      if (refusal.kind === "refused") return await this.editPlainly(refs[index] as string, chunk, post, chat);
      return await this.comeAgain(refusal, buckets[0]?.name ?? "");
    }
  }

  /** The bare words, in case it was the form; a message that somebody deleted refuses these too, and is left alone. */
  private async editPlainly(ref: string, chunk: Chunk, post: Post, chat: Chat): Promise<Outcome> {
    try {
      await chat.edit(this.thread, ref, plainly(chunk.plain, post, chat));
      return "done";
    } catch (thrown) {
      const refusal = refusalOf(thrown);
      return refusal.kind === "refused" ? "done" : await this.comeAgain(refusal, "");
    }
  }

  /** One chunk. What is found may read otherwise than the chunk: the log has grown since it was sent. */
  private async send(item: Piece, record: PostState["sent"][string], chat: Chat): Promise<Outcome> {
    const nonce = `${this.thread}/${item.post.key}/${item.index}`;
    const buckets = chat.buckets(this.thread, "send");
    const { pending } = this.state;
    try {
      const found = pending?.nonce === nonce ? await chat.find(this.thread, nonce, pending.at, item.chunk) : null;
      if (pending && found !== null) return await this.sent(record, found, pending.shows);
      const { waitMs } = await this.deps.limiter.take(buckets, this.deps.clock.now());
      if (waitMs > 0) return { waitMs };
      const tries = pending?.nonce === nonce ? (pending.tries ?? 0) + 1 : 1;
      this.state.pending = { key: item.post.key, chunk: item.index, nonce, at: this.deps.clock.now(), shows: item.shows, tries };
      // Who was told to let go may have a successor that looks for this very message.
      if ((await this.save()) === "fenced" || this.signal.aborted) return "fenced";
      checkpoint("before-send");
      const ref = await this.sendSomehow(item, nonce, chat);
      checkpoint("after-send");
      return await this.sent(record, ref, item.shows);
    } catch (thrown) {
      return await this.comeAgain(refusalOf(thrown), buckets[0]?.name ?? "");
    }
  }

  private async sent(record: PostState["sent"][string], ref: string, shows: string): Promise<"done" | "fenced"> {
    record.refs.push(ref);
    record.shows.push(shows);
    delete this.state.pending;
    const saved = await this.save();
    checkpoint("after-sent");
    return saved;
  }

  /** What the platform refuses goes as bare text, then as a file, then as a line that says so. */
  private async sendSomehow({ chunk, post }: Piece, nonce: string, chat: Chat): Promise<string> {
    const blob = chunk.file ? await this.fileOf(chunk.file.blob) : null;
    const asText = (text: string): Chunk => plainly(text, post, chat);
    const isHopeless = (this.state.pending?.tries ?? 0) > LIMITS.doubtfulTries;
    const first: [Chunk, Uint8Array | undefined][] = isHopeless ? [] : [[chunk, blob ?? undefined]];
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
        return await chat.send(this.thread, form, nonce, file);
      } catch (thrown) {
        const refusal = refusalOf(thrown);
        if (refusal.kind !== "refused") throw thrown;
        code = refusal.code;
        this.deps.trace.warn("post-refused", { conversation: this.thread, code });
      }
    }
    return await chat.send(this.thread, asText(`Something could not be shown here (${code}). \`deckhand trace\` has it.`), nonce);
  }

  private async fileOf(key: string): Promise<Uint8Array | null> {
    const bytes = await this.deps.log.getBlob(key);
    return bytes && new TextEncoder().encode(this.deps.redact(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)));
  }

  private async comeAgain(refusal: ChatError["refusal"], bucket: string): Promise<Outcome> {
    if (refusal.kind === "gone") return { gone: refusal.code };
    const tries = this.state.pending?.tries ?? 1;
    const waitMs = refusal.retryAfterMs ?? Math.min(LIMITS.doubtfulWaitMax, LIMITS.doubtfulWait * 2 ** (tries - 1));
    this.deps.trace.warn("post-waits", { conversation: this.thread, kind: refusal.kind, code: refusal.code, tries, waitMs });
    if (refusal.kind === "later") await this.deps.limiter.block(bucket, this.deps.clock.now() + waitMs);
    return { waitMs };
  }

  /** The thread is gone: nothing more is posted there until somebody writes in it, and its work ends. */
  async park(code: string, entries: Entry[]): Promise<void> {
    this.deps.trace.warn("unreachable", { conversation: this.thread, code });
    this.state.unreachable = code;
    this.state.cursor = entries.at(-1)?.seq ?? this.state.cursor;
    delete this.state.pending;
    await this.save();
    await this.deps.abandon(this.thread, code);
  }

  private async passOver(seq: number): Promise<Outcome> {
    this.state.cursor = seq;
    return await this.save();
  }

  private async save(): Promise<"done" | "fenced"> {
    const saved = await this.deps.log.savePosts(this.thread, this.epoch, this.state);
    return saved === "saved" ? "done" : "fenced";
  }
}

function hasButtons(due: Due[], key: string): boolean {
  const last = due.findLast((d) => d.post.key === key);
  return last?.post.blocks.some((b) => b.kind === "buttons") ?? false;
}

/** Words alone, in one message, with the buttons of the post: a card without them could never be decided. */
function plainly(text: string, post: Post, chat: Chat): Chunk {
  const buttons = post.blocks.filter((block) => block.kind === "buttons");
  for (let max = 2_000; ; max /= 2) {
    const blocks: Block[] = [{ kind: "text", text: headAndTail(text, Math.floor(max)) }, ...buttons];
    const chunks = chat.layout({ key: "", lane: post.lane, blocks });
    if (chunks.length === 1 || max < 500) return chunks.at(-1) as Chunk;
  }
}

function shorten(block: Block): Block {
  return block.kind === "code" ? { kind: "code", text: headAndTail(block.text, LIMITS.foldedOutput) } : block;
}

function refusalOf(thrown: unknown): ChatError["refusal"] {
  if (thrown instanceof ChatError) return thrown.refusal;
  return { kind: "doubtful", code: messageOf(thrown) };
}
