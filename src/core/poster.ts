import { LIMITS } from "../limits.ts";
import { begunBundle, carrying, hasButtons, nextBundle } from "./bundle.ts";
import { checkpoint } from "./checkpoint.ts";
import { Delivery, type DeliveryDeps, isOver, type Outcome } from "./deliver.ts";
import { type Entry, isEntry } from "./entry.ts";
import { beginningOf, type Foretold } from "./foretold.ts";
import type { PostClaim, PostState } from "./log.ts";
import { paced, paceWait } from "./pace.ts";
import type { Chat, Wake } from "./ports.ts";
import type { Lane, Post } from "./post.ts";
import { type Due, render, type View } from "./render.ts";
import type { Now } from "./status.ts";

export interface PosterDeps extends DeliveryDeps {
  chats: Map<string, Chat>;
  banner: string | null;
  /** What the log has of a thread; read anew each time when left out. */
  entries?: (conversation: string) => Promise<Entry[]>;
  /** Begins to fetch what people attached; true while something is left of that. */
  fetch?: (conversation: string, entries: Entry[]) => Promise<boolean>;
  /** What is true of a conversation at this moment. */
  now?: (conversation: string, entries: Entry[]) => Promise<Now>;
  /** Ends the work of a thread that can no longer be reached; must not throw. */
  abandon: (conversation: string, code: string) => Promise<void>;
  /** Aborts when this process ends: from then on the thread's own measure keeps nothing waiting. */
  hurry?: AbortSignal;
}

/**
 * Brings one thread up to date with its log: the log is the outbox. What is due is posted in order, and what is there
 * already is edited where it reads otherwise by now. A drain whose budget is empty ends and is rung for again.
 */
export async function drainPosts(wake: Wake, deps: PosterDeps): Promise<void> {
  const { log, clock, trace } = deps;
  const { conversation } = wake;
  const chat = deps.chats.get(conversation.slice(0, conversation.indexOf(":")));
  // Another gateway serves this platform.
  if (!chat) return await log.postAt(conversation, clock.now() + LIMITS.postElsewhere);
  const entriesOf = deps.entries ?? ((of: string) => log.read(of, 0));
  const begins = wake.coming ? beginningOf(conversation, wake.coming, chat, { ...deps, laneOf: mostUrgent }) : null;
  // Asked together: what was asked of the log before, in this process, is in the answer.
  const [claim, found, budget] = await Promise.all([
    log.takePosts(conversation, wake.lock, begins?.state),
    entriesOf(conversation),
    begins ? deps.limiter.take(begins.buckets, clock.now()) : null,
  ]);
  if (!claim) return;
  checkpoint("post-taken");
  const foretold: Foretold | null = claim.begun && begins && budget ? { note: begins.note, ...budget } : null;
  const thread = new ThreadPoster(wake, claim, chat, deps, foretold);
  if (found.length === 0) trace.error("log-empty", { conversation });
  for (let entries = found; !isOver(wake); entries = await entriesOf(conversation)) {
    const fetching = await deps.fetch?.(conversation, entries);
    const outcome = await thread.bringUpToDate(entries);
    if (outcome === "fenced") break;
    if (outcome !== "done" && "gone" in outcome) await thread.park(outcome.gone, entries);
    const waitMs = outcome !== "done" && "waitMs" in outcome ? Math.min(outcome.waitMs, LIMITS.postWaitMax) : null;
    // It stays marked until the files are there: a ring that is lost on the way is rung again.
    const at = waitMs ?? (outcome === "done" && fetching ? LIMITS.filesAgain : null);
    checkpoint("before-posts-settle");
    const rest = { state: thread.state, lock: wake.lock, ...(at === null ? {} : { at: clock.now() + at }) };
    // Of an empty log nothing will ever be due: whoever sweeps must not ring for it for ever.
    const seq = entries.at(-1)?.seq ?? Number.MAX_SAFE_INTEGER;
    if ((await log.settlePosts(conversation, claim.epoch, seq, rest)) !== "more") return;
  }
  await log.savePosts(conversation, claim.epoch, thread.state);
}

class ThreadPoster {
  readonly state: PostState;
  private readonly thread: string;
  private readonly delivery: Delivery;
  private readonly layout: Chat["layout"];
  private readonly deps: PosterDeps;
  /** Edits that had to wait: by the post's key, for how long. Nothing new waits for them. */
  private readonly waits = new Map<string, number>();

  constructor(wake: Wake, claim: PostClaim, chat: Chat, deps: PosterDeps, foretold: Foretold | null) {
    this.thread = wake.conversation;
    this.delivery = new Delivery(wake, claim, chat, deps, foretold);
    this.layout = (post) => chat.layout(post);
    this.state = claim.state;
    this.deps = deps;
  }

  async bringUpToDate(entries: Entry[]): Promise<Outcome> {
    const { banner, redact } = this.deps;
    const { sent } = this.state;
    this.waits.clear();
    const now = (await this.deps.now?.(this.thread, entries)) ?? {};
    const carried = Object.values(sent).flatMap(({ before }) => (before ? [before.from - 1] : []));
    const view = render(entries, { banner, redact, after: Math.min(this.state.cursor, ...carried), now });
    if (this.state.unreachable) {
      const heard = entries.some((e) => isEntry(e, "message") && e.seq > this.state.cursor);
      if (!heard) return this.passOver(view.seq);
      delete this.state.unreachable;
    }
    const all = placesIn(view.due);
    const places = all.filter(({ seq }) => seq > this.state.cursor);
    const ahead = new Set(places.map(({ post }) => post.key));
    const newest = [...new Map(view.due.map(({ post }) => [post.key, post])).values()];
    // Somebody has just pressed there: cards go before all that is new, statuses after it.
    const old = newest.filter((post) => post.lane !== "status" && sent[post.key] && !ahead.has(post.key));
    const cards = old.map((post) => carrying(post, all, sent, this.layout));
    const statuses = view.statuses.map(({ post }) => post);
    for (const act of [
      () => this.editAll(cards),
      () => this.postAll(places, all),
      () => this.editAll(statuses.filter(({ key }) => sent[key])),
    ]) {
      const outcome = await act();
      if (outcome !== "done") return outcome;
    }
    this.state.cursor = view.seq;
    this.forget(newest, view);
    return this.waits.size === 0 ? "done" : { waitMs: Math.min(...this.waits.values()) };
  }

  /** The thread is gone: nothing more is posted there until somebody writes in it, and its work ends. */
  async park(code: string, entries: Entry[]): Promise<void> {
    this.deps.trace.warn("unreachable", { conversation: this.thread, code });
    this.state.unreachable = code;
    delete this.state.pending;
    this.passOver(entries.at(-1)?.seq ?? this.state.cursor);
    await this.delivery.save();
    await this.deps.abandon(this.thread, code);
  }

  private passOver(seq: number): Outcome {
    this.state.cursor = seq;
    return "done";
  }

  private async editAll(posts: Post[]): Promise<Outcome> {
    for (const post of posts) {
      // What a turn came to waits for nothing that is said of one that goes on.
      const keep = post.lane !== "status" ? null : hasButtons(post) ? 1 : 0;
      const outcome = await this.deliver(post, post.lane, keep);
      if (typeof outcome === "object" && "waitMs" in outcome) this.waits.set(post.key, outcome.waitMs);
      else if (outcome !== "done") return outcome;
    }
    return "done";
  }

  private async postAll(places: Due[], all: Due[]): Promise<Outcome> {
    const { sent } = this.state;
    let due = places;
    while (due.length > 0) {
      const lane = mostUrgent(due);
      const begun = begunBundle(due, all, sent, this.layout);
      const keep = begun || due[0]?.post.lane === "status" ? null : PACE_KEEP[lane];
      const waitMs = this.paceWait(keep);
      if (waitMs > 0) return { waitMs };
      const { post, count, seq, before } = begun ?? nextBundle(due, this.layout);
      if (before) sent[post.key] = { refs: [], shows: [], before };
      const outcome = await this.deliver(post, lane, null);
      const isEditLater = typeof outcome === "object" && "waitMs" in outcome && this.delivery.left(post).sends === 0;
      if (isEditLater) this.waits.set(post.key, outcome.waitMs);
      else if (outcome !== "done") return outcome;
      due = due.slice(count);
      this.state.cursor = Math.max(this.state.cursor, (due[0]?.seq ?? seq + 1) - 1);
      // Nothing will change there. A long backlog must not make this memory grow.
      if (!isEditLater && seq <= this.state.cursor && post.lane !== "status" && !hasButtons(post)) delete sent[post.key];
    }
    return "done";
  }

  /** Counts what it takes by the thread's own measure, which leaves `keep` to what is more urgent; null: it does not wait for that. */
  private async deliver(post: Post, lane: Lane, keep: number | null): Promise<Outcome> {
    const { calls } = this.delivery.left(post);
    const waitMs = calls === 0 ? 0 : this.paceWait(keep);
    if (waitMs > 0) return { waitMs };
    const { paced: before } = this.state;
    if (calls > 0) this.state.paced = paced(before, this.deps.clock.now(), calls);
    const outcome = await this.delivery.deliver(post, lane);
    if (outcome === "done" || this.delivery.left(post).calls < calls) return outcome;
    if (before === undefined) delete this.state.paced;
    else this.state.paced = before;
    return outcome;
  }

  private paceWait(keep: number | null): number {
    return keep === null || this.deps.hurry?.aborted ? 0 : paceWait(this.state.paced, this.deps.clock.now(), keep);
  }

  /** Of what is up to date only that is kept whose buttons go some day, and the status of a turn that goes on. */
  private forget(newest: Post[], { statuses }: View): void {
    const open = new Set(
      [...newest.filter(hasButtons), ...statuses.filter(({ over }) => !over).map(({ post }) => post)].map(({ key }) => key),
    );
    for (const key of Object.keys(this.state.sent)) if (!open.has(key) && !this.waits.has(key)) delete this.state.sent[key];
  }
}

/** Where posts have their place: the first time that a key is due. What comes of it later is an edit. */
function placesIn(all: Due[]): Due[] {
  const seen = new Set<string>();
  return all.filter(({ post }) => !seen.has(post.key) && seen.add(post.key));
}

/** What each leaves of the thread's own measure. */
const PACE_KEEP: Record<Lane, number | null> = { approval: null, answer: 0, output: 1, status: null };

/** Order never changes: what stands before an urgent post travels in its lane. */
function mostUrgent(due: Due[]): Lane {
  const lanes: Lane[] = ["approval", "answer"];
  return lanes.find((lane) => due.some(({ post }) => post.lane === lane)) ?? due[0]?.post.lane ?? "output";
}
