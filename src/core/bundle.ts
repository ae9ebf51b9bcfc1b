import { LIMITS } from "../limits.ts";
import { quoted } from "./card.ts";
import { headAndTail } from "./cut.ts";
import type { SentPost } from "./log.ts";
import type { Chunk } from "./ports.ts";
import type { Block, Post } from "./post.ts";
import type { Due } from "./render.ts";

/** What comes next: a post, how many of those that are due are in it, and the seq of the last one. */
export interface Bundle {
  post: Post;
  count: number;
  seq: number;
  /** What it carries, to be kept with it. */
  before?: SentPost["before"];
}

type Layout = (post: Post) => Chunk[];
type Sent = Record<string, SentPost>;

/**
 * How much is shown of each of the outputs that share a message, from the most to the least; `tight`: all in one box. PostState
 * keeps their numbers: with other forms a card that waits is rendered with another one, and no more.
 */
const FORMS = LIMITS.folded.flatMap((each) => [
  ...(each >= LIMITS.foldedFair ? [{ each, tight: false }] : []),
  ...(each <= LIMITS.foldedFair ? [{ each, tight: true }] : []),
]);
const LAST = FORMS.length - 1;

/** What was begun stays as it was, whatever has come since. `all`: with what has its place already, which it may carry. */
export function begunBundle(due: Due[], all: Due[], sent: Sent, layout: Layout): Bundle | null {
  const [first] = due;
  if (!first) return null;
  const end = due.findIndex(({ seq }) => sent[`fold:${first.seq}-${seq}`]);
  if (end !== -1) return folded(due.slice(0, end + 1), layout);
  const at = due.findIndex(({ post }) => sent[post.key]?.before?.from === first.seq);
  const carrier = due[at];
  if (carrier) return { post: carrying(carrier.post, all, sent, layout), count: at + 1, seq: carrier.seq };
  return sent[first.post.key] ? { ...alone(first), post: carrying(first.post, all, sent, layout) } : null;
}

/**
 * Commands that wait share one post. What stands before a card or an answer goes into its message where it fits in there, so that
 * it costs no post of its own.
 */
export function nextBundle(due: Due[], layout: Layout): Bundle {
  const first = due[0] as Due;
  const end = due.findIndex(({ post }) => !isFoldable(post));
  const run = due.slice(0, end === -1 ? due.length : end);
  const next = due[run.length];
  if (run.length === 0) return alone(first);
  const form = next ? formBefore(next.post, run, layout) : -1;
  if (next && form !== -1) {
    const post = withBefore(next.post, run, form);
    return { post, count: run.length + 1, seq: next.seq, before: { from: first.seq, form } };
  }
  return run.length === 1 ? alone(first) : folded(run, layout);
}

/** A post with what it carries, as far as it carries something; `due`: what became due from there on, the post among it. */
export function carrying(post: Post, due: Due[], sent: Sent, layout: Layout): Post {
  const record = sent[post.key];
  if (!record?.before) return post;
  const { from, form } = record.before;
  const end = due.findIndex((each) => each.post.key === post.key);
  const run = due.slice(0, end).filter(({ seq }) => seq >= from);
  // Should it have grown, it goes on in the messages that it has.
  const most = Math.max(layout(post).length, record.refs.length);
  const fits = FORMS.map((_, index) => index).find((index) => index >= form && layout(withBefore(post, run, index)).length <= most);
  return withBefore(post, run, fits ?? LAST);
}

/**
 * Words of a post in so many characters. Those that it carries are cut first; in a card they are marked: without boxes around them
 * they could pass for its own.
 */
export function shortWords(text: string, { blocks, lane, carries = 0 }: Post, max: number): string {
  if (carries === 0 || blocks.length === 0 || (lane !== "approval" && text.length <= max)) return headAndTail(text, max);
  const own = wordsOf(blocks.slice(carries));
  const carried = headAndTail(wordsOf(blocks.slice(0, carries)), Math.max(max / 4, max - own.length));
  return `${lane === "approval" ? carried.replace(/^/gm, "> ") : carried}\n${headAndTail(own, max)}`;
}

function wordsOf(blocks: Block[]): string {
  return blocks.flatMap((block) => (block.kind === "buttons" ? [] : [block.text])).join("\n");
}

function alone({ seq, post }: Due): Bundle {
  return { post, count: 1, seq };
}

function folded(run: Due[], layout: Layout): Bundle {
  const [first, last] = [run[0] as Due, run.at(-1) as Due];
  const fold = (form: number): Post => ({ key: `fold:${first.seq}-${last.seq}`, lane: "output", blocks: blocksOf(run, form) });
  const fits = FORMS.findIndex((_, form) => layout(fold(form)).length === 1);
  return { post: fold(fits === -1 ? LAST : fits), count: run.length, seq: last.seq };
}

/** The form in which these take no message more than the post does; -1: there is none in which enough of them is seen. */
function formBefore(post: Post, run: Due[], layout: Layout): number {
  // An interrupted run keeps a post of its own.
  const isCarrier = (post.lane === "approval" || post.lane === "answer") && !post.key.startsWith("run:");
  if (!isCarrier) return -1;
  const messages = layout(post).length;
  // A card changes: there must be room for who decided, and why.
  const room: Block[] = post.lane === "approval" ? [{ kind: "text", text: "x".repeat(LIMITS.cardRoom) }] : [];
  return FORMS.findIndex(({ each }, form) => {
    if (each < LIMITS.foldedFair) return false;
    const whole = withBefore(post, run, form);
    return layout({ ...whole, blocks: [...whole.blocks, ...room] }).length === messages;
  });
}

function withBefore(post: Post, run: Due[], form: number): Post {
  const blocks = blocksOf(run, form);
  const before = post.lane === "approval" ? blocks.map(besideCard) : blocks;
  return { ...post, blocks: [...before, ...post.blocks], carries: before.length };
}

/** Words of the model, and what it made our notes repeat, must not pass for lines of ours in a message that is pressed. */
function besideCard(block: Block): Block {
  if (block.kind === "markdown") return quoted(block.text);
  return block.kind === "note" ? { ...block, text: block.text.replaceAll("\n", " ") } : block;
}

function isFoldable(post: Post): boolean {
  return post.lane === "output" && !post.file && !hasButtons(post);
}

export function hasButtons({ blocks }: Post): boolean {
  return blocks.some(({ kind }) => kind === "buttons");
}

function blocksOf(run: Due[], form: number): Block[] {
  const { each, tight } = FORMS[form] ?? { each: LIMITS.folded.at(-1) ?? 0, tight: true };
  const posts = run.map(({ post }) => post.blocks.map((block) => shorten(block, each)));
  return tight ? posts.reduce<Block[]>(together, []) : posts.flat();
}

function shorten(block: Block, length: number): Block {
  return block.kind === "code" ? { kind: "code", text: headAndTail(block.text, length) } : block;
}

/** In one box with what was before: what a command printed is set in, so that it cannot pass for a command or an end of ours. */
function together(before: Block[], post: Block[]): Block[] {
  const at = post.findIndex(({ kind }) => kind === "code");
  if (at === -1) return [...before, ...post];
  const text = post
    .slice(at)
    .map((block) => (block.kind === "buttons" ? "" : block.text.replaceAll("\n", "\n  ")))
    .join("\n");
  const last = before.at(-1);
  const joins = at === 0 && last?.kind === "code";
  return joins
    ? [...before.slice(0, -1), { kind: "code", text: `${last.text}\n${text}` }]
    : [...before, ...post.slice(0, at), { kind: "code", text }];
}
