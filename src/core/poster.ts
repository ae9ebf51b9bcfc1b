import { messageOf } from "./errors.ts";
import type { Entry } from "./entry.ts";
import type { Log, PostState } from "./log.ts";
import { type Chat, ChatError, type Chunk, type Clock, type Ids, type Limiter, type Trace, type Wake, isEntry } from "./ports.ts";
import type { Block, Post } from "./post.ts";
import { type Due, headAndTail, render } from "./render.ts";

export interface PosterDeps {
  log: Log;
  limiter: Limiter;
  clock: Clock;
  ids: Ids;
  trace: Trace;
  chats: Map<string, Chat>;
  banner: string | null;
  /** Ends the work of a thread that can no longer be reached; must not throw. */
  abandon: (conversation: string, code: string) => Promise<void>;
}

/** Why a drain stopped early: the budget or the platform says when to come again. */
type Outcome = "done" | { waitMs: number } | { gone: string } | "fenced";

/** From this many waiting commands on, they share one post. */
const FOLD_FROM = 3;
const FOLDED_OUTPUT = 500;

/**
 * Brings one thread up to date with its log: the log is the outbox. Posts go in order; each send is noted with
 * its nonce before it happens, so that after a crash it is found or sent again under the same nonce.
 */
export async function drainPosts(wake: Wake, deps: PosterDeps): Promise<void> {
  const claim = await deps.log.takePosts(wake.conversation, wake.lock);
  if (!claim) return;
  const thread = new ThreadPoster(wake.conversation, claim.epoch, claim.state, deps);
  while (!wake.signal.aborted) {
    const entries = await deps.log.read(wake.conversation, 0);
    const outcome = await thread.bringUpToDate(entries);
    if (outcome === "fenced") return;
    if (outcome !== "done" && "waitMs" in outcome) return await deps.log.postAt(wake.conversation, deps.clock.now() + outcome.waitMs);
    if (outcome !== "done") await thread.park(outcome.gone, entries);
    const settled = await deps.log.settlePosts(wake.conversation, claim.epoch, thread.state.cursor);
    if (settled !== "more") return;
  }
}

class ThreadPoster {
  readonly state: PostState;
  private readonly thread: string;
  private readonly epoch: number;
  private readonly deps: PosterDeps;

  constructor(thread: string, epoch: number, state: PostState, deps: PosterDeps) {
    this.thread = thread;
    this.epoch = epoch;
    this.state = state;
    this.deps = deps;
  }

  async bringUpToDate(entries: Entry[]): Promise<Outcome> {
    const chat = this.deps.chats.get(entries[0]?.type === "opened" ? entries[0].platform : "");
    if (!chat) return "fenced"; // another gateway serves this platform
    const view = render(entries, this.deps.banner);
    if (this.state.unreachable) {
      const heard = entries.some((e) => isEntry(e, "message") && e.seq > this.state.cursor);
      if (!heard) return this.passOver(view.seq);
      delete this.state.unreachable;
    }
    const outcome = await this.postDue(view.due, chat);
    if (outcome !== "done") return outcome;
    this.state.cursor = view.seq;
    for (const { post } of view.statuses) {
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
      if (outcome !== "done") return outcome;
      due = due.slice(bundle.count);
      this.state.cursor = Math.max(this.state.cursor, (due[0]?.seq ?? bundle.seq + 1) - 1);
    }
    return "done";
  }

  /** The next post; when several commands wait already, they become one. A fold that was begun stays as it was. */
  private bundle(due: Due[]): { post: Post; count: number; seq: number } {
    const first = due[0] as Due;
    let run = due.findIndex((d) => d.post.lane !== "output");
    if (run === -1) run = due.length;
    const begun = /^fold:(\d+)-(\d+)$/.exec(this.state.pending?.key ?? "");
    if (begun && Number(begun[1]) === first.seq) run = due.findIndex((d) => d.seq === Number(begun[2])) + 1;
    else if (this.state.pending?.key === first.post.key) run = 1;
    if (run < FOLD_FROM) return { post: first.post, count: 1, seq: first.seq };
    const folded = due.slice(0, run);
    const last = folded.at(-1) as Due;
    const blocks = folded.flatMap((d) => d.post.blocks.map(shorten));
    return { post: { key: `fold:${first.seq}-${last.seq}`, lane: "output", blocks }, count: run, seq: last.seq };
  }

  /** Sends a post, or edits it when it is there and reads otherwise. Twice is the same as once. */
  private async deliver(post: Post, chat: Chat): Promise<Outcome> {
    const shows = this.deps.ids.digest(JSON.stringify(post));
    const record = (this.state.sent[post.key] ??= { refs: [], shows: "" });
    if (record.shows === shows) return "done";
    const chunks = chat.layout(post);
    const isEdit = record.shows !== "";
    for (const [index, chunk] of chunks.entries()) {
      const ref = record.refs[index];
      if (ref && !isEdit) continue;
      const outcome = ref ? await this.edit(ref, chunk, post, chat) : await this.send({ chunk, key: post.key, index }, record.refs, chat);
      if (outcome !== "done") return outcome;
    }
    record.shows = shows;
    return await this.save();
  }

  private async edit(ref: string, chunk: Chunk, post: Post, chat: Chat): Promise<Outcome> {
    const buckets = chat.buckets(this.thread, post.lane === "status" ? "status" : "edit");
    const { waitMs } = await this.deps.limiter.take(buckets, this.deps.clock.now());
    if (waitMs > 0) return { waitMs };
    try {
      await chat.edit(this.thread, ref, chunk);
      return "done";
    } catch (thrown) {
      const refusal = refusalOf(thrown);
      this.deps.trace.warn("edit-failed", { conversation: this.thread, key: post.key, code: refusal.code });
      if (refusal.kind === "refused") return "done"; // deleted by somebody, or a form that the platform does not take
      return await this.comeAgain(refusal, buckets[0]?.name ?? "");
    }
  }

  private async send(item: { chunk: Chunk; key: string; index: number }, refs: string[], chat: Chat): Promise<Outcome> {
    const nonce = `${this.thread}/${item.key}/${item.index}`;
    const buckets = chat.buckets(this.thread, "send");
    try {
      if (this.state.pending?.nonce === nonce) {
        const found = await chat.find(this.thread, nonce, this.state.pending.at);
        if (found) {
          refs.push(found);
          return await this.save(true);
        }
      }
      const { waitMs } = await this.deps.limiter.take(buckets, this.deps.clock.now());
      if (waitMs > 0) return { waitMs };
      this.state.pending = { key: item.key, chunk: item.index, nonce, at: this.deps.clock.now() };
      if ((await this.save()) === "fenced") return "fenced";
      refs.push(await this.sendSomehow(item.chunk, nonce, chat));
      return await this.save(true);
    } catch (thrown) {
      return await this.comeAgain(refusalOf(thrown), buckets[0]?.name ?? "");
    }
  }

  /** What the platform refuses goes as bare text, then as a file, then as a line that says so. */
  private async sendSomehow(chunk: Chunk, nonce: string, chat: Chat): Promise<string> {
    const blob = chunk.file ? await this.deps.log.getBlob(chunk.file.blob) : null;
    const asText = (text: string): Chunk => chat.layout({ key: "", lane: "output", blocks: [{ kind: "text", text }] })[0] as Chunk;
    const forms: [Chunk, Uint8Array | undefined][] = [
      [chunk, blob ?? undefined],
      [asText(headAndTail(chunk.plain, 2_000)), undefined],
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

  private async comeAgain(refusal: ChatError["refusal"], bucket: string): Promise<Outcome> {
    if (refusal.kind === "gone") return { gone: refusal.code };
    const waitMs = refusal.retryAfterMs ?? 2_000;
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

  private async save(sent = false): Promise<"done" | "fenced"> {
    if (sent) delete this.state.pending;
    const saved = await this.deps.log.savePosts(this.thread, this.epoch, this.state);
    return saved === "saved" ? "done" : "fenced";
  }
}

function hasButtons(due: Due[], key: string): boolean {
  const last = due.findLast((d) => d.post.key === key);
  return last?.post.blocks.some((b) => b.kind === "buttons") ?? false;
}

function shorten(block: Block): Block {
  return block.kind === "code" ? { kind: "code", text: headAndTail(block.text, FOLDED_OUTPUT) } : block;
}

function refusalOf(thrown: unknown): ChatError["refusal"] {
  if (thrown instanceof ChatError) return thrown.refusal;
  return { kind: "doubtful", code: messageOf(thrown) };
}
