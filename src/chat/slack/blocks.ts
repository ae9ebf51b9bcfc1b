import type { types } from "@slack/bolt";
import { cutText, splitMarkdown } from "../../core/markdown.ts";
import type { Chunk } from "../../core/ports.ts";
import type { Block, Button, Post } from "../../core/post.ts";
import { encodeShort } from "./text.ts";

/** The body of a Slack message. `text` is what notifications and screen readers get. */
export interface SlackBody {
  text: string;
  blocks: types.KnownBlock[];
}

/** Characters of JSON a message; msg_blocks_too_long was seen from 13,172 on with Markdown and between 9,597 and 11,341 without. */
const BLOCKS_MAX = 9_900;
const FALLBACK_MAX = 1_000;
/** Cumulative over a message; Slack takes 12,000. Code has no such limit but must fit a message. */
const MARKDOWN_MAX = 11_500;
const CODE_MAX = 9_500;
/** Of one text element; 3,000 is Slack's limit for text objects. */
const ELEMENT_MAX = 2_900;
const NOTE_MAX = 1_900;
const BLOCKS_COUNT = 45;
const LABEL_MAX = 75;

/** One Slack block and the bare words in it. */
interface Piece {
  block: types.KnownBlock;
  plain: string;
  /** These words are not the post's own. */
  carried?: boolean;
}

/**
 * Lays a post out in messages within Slack's limits, in order; buttons come at the end of the last message and the
 * file as a chunk of its own after it. Always at least one chunk. Pure: the same post gives the same chunks.
 */
export function layout(post: Post): Chunk[] {
  const words = post.blocks.flatMap((block, index) => {
    const carried = index < (post.carries ?? 0);
    return block.kind === "buttons" ? [] : piecesOf(block).map((piece) => ({ ...piece, carried }));
  });
  const buttons = post.blocks.flatMap((block) => (block.kind === "buttons" ? block.buttons : []));
  const pieces = [...words, ...actionPieces(buttons)];
  if (pieces.length === 0 && !post.file) pieces.push(...textPieces("(nothing to show)"));
  const chunks = pack(pieces).map(chunkOf);
  return post.file ? [...chunks, fileChunk(post.file)] : chunks;
}

function pack(pieces: Piece[]): Piece[][] {
  const messages: Piece[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const piece of pieces) {
    const length = JSON.stringify(piece.block).length + 1;
    const last = messages.at(-1);
    if (last && size + length <= BLOCKS_MAX && last.length < BLOCKS_COUNT) {
      last.push(piece);
      size += length;
    } else {
      messages.push([piece]);
      size = length;
    }
  }
  return messages;
}

function chunkOf(pieces: Piece[]): Chunk {
  const plain = wordsOf(pieces) || "…";
  // A notification begins with what the message is about.
  const own = wordsOf(pieces.filter(({ carried }) => !carried)) || plain;
  const body: SlackBody = { text: encodeShort(own, FALLBACK_MAX), blocks: pieces.map((piece) => piece.block) };
  return { body, plain };
}

function wordsOf(pieces: Piece[]): string {
  return pieces
    .map((piece) => piece.plain)
    .join("\n")
    .trim();
}

function fileChunk(file: { name: string; blob: string }): Chunk {
  const plain = `${file.name}: the whole of it`;
  const elements: types.RichTextSection[] = [{ type: "rich_text_section", elements: [{ type: "text", text: plain }] }];
  return { body: { text: encodeShort(plain, FALLBACK_MAX), blocks: [{ type: "rich_text", elements }] }, plain, file };
}

function piecesOf(block: Exclude<Block, { kind: "buttons" }>): Piece[] {
  if (block.text.trim() === "" && block.kind !== "code") return [];
  switch (block.kind) {
    case "markdown":
      return splitMarkdown(silent(block.text), MARKDOWN_MAX, jsonLength).map((text) => ({
        block: { type: "markdown", text },
        plain: text,
      }));
    case "code":
      return cutText(block.text, CODE_MAX, jsonLength).map(codePiece);
    case "note":
      return cutText(block.text, NOTE_MAX, jsonLength)
        .filter(visible)
        .map((text) => ({
          block: { type: "context", elements: [{ type: "plain_text", text, emoji: false }] },
          plain: text,
        }));
    case "text":
      return textPieces(block.text);
  }
}

function textPieces(text: string): Piece[] {
  return cutText(text, ELEMENT_MAX, jsonLength)
    .filter(visible)
    .map((part) => ({ block: { type: "section", text: { type: "plain_text", text: part, emoji: false } }, plain: part }));
}

/** One box, however many elements its letters need. Nothing in a rich text element is markup. */
function codePiece(text: string): Piece {
  const elements: types.RichTextText[] = cutText(text, ELEMENT_MAX, jsonLength).map((part) => ({ type: "text", text: part }));
  return { block: { type: "rich_text", elements: [{ type: "rich_text_preformatted", elements }] }, plain: text };
}

/** An action id may stand only once in a block: a second button of a kind opens another row. */
function actionPieces(buttons: Button[]): Piece[] {
  const rows: Button[][] = [];
  for (const button of buttons) {
    const row = rows.find((each) => each.every((other) => other.action !== button.action));
    if (row) row.push(button);
    else rows.push([button]);
  }
  return rows.map((row) => ({ block: { type: "actions", elements: row.map(buttonOf) }, plain: "" }));
}

function buttonOf(button: Button): types.Button {
  return {
    type: "button",
    action_id: button.action,
    text: { type: "plain_text", text: cutText(button.label, LABEL_MAX, jsonLength)[0] ?? "…", emoji: false },
    value: button.value,
    ...(button.style && { style: button.style }),
  };
}

/** Length of a text inside a JSON string, which is how Slack counts a message. */
function jsonLength(text: string): number {
  return JSON.stringify(text).length - 2;
}

/** Slack may read `<!channel>` and its like in Markdown, code included: an invisible letter keeps them from calling anybody. */
function silent(markdown: string): string {
  return markdown.replace(/<(?=!(?:channel|here|everyone|subteam|date)|[@#][A-Z0-9])/g, "<\u200b");
}

function visible(text: string): boolean {
  return text.trim() !== "";
}
