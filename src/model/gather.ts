import type { Usage } from "../core/entry.ts";
import { asRecord } from "./json.ts";

/**
 * Text from very many pieces, kept as bytes: as strings they would keep the collector busy until the end, and make it take
 * several times their size.
 */
export interface Gathered {
  /** Full ones, and the one that is being filled. */
  blocks: Uint8Array[];
  /** Bytes of the last block that are filled. */
  filled: number;
  /** The first half of a character whose second half may come with the next piece. */
  half: string;
  /** Characters so far. */
  length: number;
}

const encoder = new TextEncoder();
const BLOCK = { least: 1_024, most: 65_536 };

export function nothing(): Gathered {
  return { blocks: [], filled: 0, half: "", length: 0 };
}

export function gather(into: Gathered, piece: string): void {
  if (piece === "") return;
  into.length += piece.length;
  const halved = (piece.charCodeAt(piece.length - 1) & 0xfc00) === 0xd800;
  let left = into.half + (halved ? piece.slice(0, -1) : piece);
  into.half = halved ? piece.slice(-1) : "";
  while (left !== "") {
    const block = into.blocks.at(-1);
    const { read, written } = block ? encoder.encodeInto(left, block.subarray(into.filled)) : { read: 0, written: 0 };
    into.filled += written;
    left = left.slice(read);
    if (left === "") return;
    if (block) into.blocks[into.blocks.length - 1] = block.subarray(0, into.filled);
    into.blocks.push(new Uint8Array(Math.min(BLOCK.most, Math.max(BLOCK.least, 2 * (block?.length ?? 0)))));
    into.filled = 0;
  }
}

/** All of it. No character stands in two blocks; a half that nothing followed is left out. */
export function textOf({ blocks, filled }: Gathered): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for (const [at, block] of blocks.entries()) text += decoder.decode(at < blocks.length - 1 ? block : block.subarray(0, filled));
  return text;
}

export const NO_USAGE: Usage = { prompt: null, completion: null, cached: null };

/** More tokens than any request has. */
const MOST_TOKENS = 1e9;

function isFigure(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
}

/** Figures come in either vendor's words and more than once; a later one stands; one that is missing or cannot be true is null. */
export function usageOf(sent: unknown, known: Usage): Usage {
  const usage = asRecord(sent);
  if (!usage) return known;
  const figure = (...values: unknown[]) => values.find(isFigure) ?? null;
  const details = (name: string) => asRecord(usage[`${name}_details`]) ?? {};
  const thought = figure(details("completion_tokens")["reasoning_tokens"], details("output_tokens")["reasoning_tokens"]);
  const completion = figure(usage["completion_tokens"], usage["output_tokens"]);
  const prompts = [details("prompt_tokens")["cached_tokens"], details("input_tokens")["cached_tokens"]];
  const cached = figure(...prompts, usage["prompt_cache_hit_tokens"], usage["cached_tokens"]);
  const prompt = figure(usage["prompt_tokens"], usage["input_tokens"]);
  // Zeros all over: it has not counted.
  if (!prompt && !completion && !thought) return known;
  return {
    prompt: prompt || known.prompt,
    // Some count the answer without its thoughts, or as 0 beside them.
    completion: (completion === null ? thought : Math.max(completion, thought ?? 0)) ?? known.completion,
    cached: cached ?? known.cached,
  };
}
