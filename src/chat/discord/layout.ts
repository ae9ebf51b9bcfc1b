import { type APIActionRowComponent, type APIButtonComponentWithCustomId, ButtonStyle, ComponentType } from "discord.js";
import { cutText } from "../../core/markdown.ts";
import type { Chunk } from "../../core/ports.ts";
import type { Block, Button, Post } from "../../core/post.ts";
import { markdownParts } from "./markup.ts";
import { codeBlock, codeLength, encode, encodedLength } from "./text.ts";

/** The body of a Discord message. */
export interface DiscordBody {
  content: string;
  components: APIActionRowComponent<APIButtonComponentWithCustomId>[];
  /** What is too long for messages goes along as a file. */
  attached?: { name: string; text: string };
  /** A status says whether somebody is at work now; other posts do not tell. */
  working?: boolean;
}

/** Of a message's content; Discord takes 2,000. */
const CONTENT_MAX = 1_950;
const MARKDOWN_MAX = 1_900;
const CODE_MAX = 1_850;
const TEXT_MAX = 1_800;
/** More messages than this for one post are a wall: the middle of it goes into a file instead. */
const MESSAGES_MAX = 3;
const ROW_MAX = 5;
const LABEL_MAX = 80;

/** A part of a message's content, and the bare words in it. */
interface Piece {
  content: string;
  plain: string;
  kind: "box" | "loose" | "tight";
}

/**
 * Lays a post out in messages within Discord's limits, in order; buttons and file come with the last one. Always at least
 * one chunk. Pure: the same post gives the same chunks.
 */
export function layout(post: Post): Chunk[] {
  const pieces = post.blocks.flatMap(piecesOf);
  if (pieces.length === 0) pieces.push(...textPieces(post.file ? `${post.file.name}: the whole of it` : "(nothing to show)"));
  const messages = pack(pieces);
  // Whoever decides must see the whole command.
  const isWall = messages.length > MESSAGES_MAX && post.lane !== "approval";
  const chunks = isWall ? withFile(messages, wholeOf(post)) : messages.map((message) => chunkOf(message));
  const buttons = post.blocks.flatMap((block) => (block.kind === "buttons" ? block.buttons : []));
  const { body, plain } = chunks.pop() as Chunk;
  const last: DiscordBody = {
    ...(body as DiscordBody),
    components: rowsOf(buttons),
    ...(post.lane === "status" && { working: post.working === true }),
  };
  return [...chunks, { body: last, plain, ...(post.file && { file: post.file }) }];
}

function pack(pieces: Piece[]): Piece[][] {
  const messages: Piece[][] = [];
  let size = 0;
  for (const piece of pieces) {
    const last = messages.at(-1);
    // Markup of the model's that is left open must not reach into a box of ours.
    const mustBreak = piece.kind === "box" && last?.some(({ kind }) => kind === "loose");
    if (last && !mustBreak && size + 1 + piece.content.length <= CONTENT_MAX) {
      last.push(piece);
      size += 1 + piece.content.length;
    } else {
      messages.push([piece]);
      size = piece.content.length;
    }
  }
  return messages;
}

function chunkOf(pieces: Piece[], attached?: DiscordBody["attached"]): Chunk {
  const content = pieces.map((piece) => piece.content).join("\n");
  return { body: { content, components: [], ...(attached && { attached }) } satisfies DiscordBody, plain: plainOf(pieces) };
}

/** The beginning, the end, and all of it in a file. */
function withFile(messages: Piece[][], whole: string): Chunk[] {
  const attached = { name: "message.md", text: whole };
  const ends = [messages[0] ?? [], messages.at(-1) ?? []] as const;
  return [chunkOf(ends[0]), chunkOf(textPieces("… the whole of it is in the file …"), attached), chunkOf(ends[1])];
}

function wholeOf({ blocks }: Post): string {
  return blocks.flatMap((block) => (block.kind === "buttons" ? [] : [block.text])).join("\n");
}

function plainOf(pieces: Piece[]): string {
  const words = pieces.map((piece) => piece.plain).join("\n");
  return words.trim() || "…";
}

function piecesOf(block: Block): Piece[] {
  if (block.kind === "buttons" || (block.kind !== "code" && block.text.trim() === "")) return [];
  switch (block.kind) {
    case "markdown":
      return markdownParts(block.text, MARKDOWN_MAX).map(({ part, isLoose }) => ({
        content: part,
        plain: part,
        kind: isLoose ? "loose" : "tight",
      }));
    case "code":
      return cutText(block.text || " ", CODE_MAX, codeLength).map((text) => ({ content: codeBlock(text), plain: text, kind: "box" }));
    case "note":
      return textPieces(block.text, "-# ");
    case "text":
      return textPieces(block.text);
  }
}

/** Plain words; `mark` goes before every line. */
function textPieces(text: string, mark = ""): Piece[] {
  const measure = (part: string): number => encodedLength(part) + mark.length * (part.split("\n").length - 1);
  return cutText(text, TEXT_MAX, measure)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((plain) => ({ content: encode(plain).replace(/^(?=.)/gm, mark), plain, kind: "tight" }));
}

const STYLES = { primary: ButtonStyle.Success, danger: ButtonStyle.Danger, plain: ButtonStyle.Secondary } as const;

function rowsOf(buttons: Button[]): DiscordBody["components"] {
  const rows: DiscordBody["components"] = [];
  for (const [index, button] of buttons.entries()) {
    if (index % ROW_MAX === 0) rows.push({ type: ComponentType.ActionRow, components: [] });
    rows.at(-1)?.components.push({
      type: ComponentType.Button,
      style: STYLES[button.style ?? "plain"],
      label: button.label.slice(0, LABEL_MAX).toWellFormed(),
      custom_id: `dh:${button.action}:${button.value}`,
    });
  }
  return rows;
}
