import { type Fence, fenceAfter, splitMarkdown } from "../../core/markdown.ts";
import { silent } from "./text.ts";

/**
 * The model's Markdown in parts that Discord shows as they were meant. `isLoose`: markup in it could reach beyond its
 * end, since Discord pairs what is left open with whatever follows. Out of a quote nothing reaches.
 */
export function markdownParts(text: string, max: number): { part: string; isLoose: boolean }[] {
  const lines = text.split("\n");
  if (!lines.every((line) => line.startsWith("> "))) {
    const parts = splitMarkdown(silent(tame(text)), max, (part) => part.length);
    return parts.map((part) => ({ part, isLoose: /[`*_~|[\]<\\]/.test(part) }));
  }
  // A quote stays one, line for line, wherever it is cut.
  const quoted = (part: string): number => part.length + 2 * (part.split("\n").length - 1);
  const inside = silent(tame(lines.map((line) => line.slice(2)).join("\n")));
  return splitMarkdown(inside, max - 2, quoted).map((part) => ({ part: part.trimEnd().replace(/^/gm, "> "), isLoose: false }));
}

/**
 * Discord ends a code block at the first three backticks, wherever they stand, and knows no other fences. Here each
 * block of Markdown gets fences of three, nothing else has three in a row, and what was left open is closed. Quotes
 * without an end and headings that Discord lacks become those that it has.
 */
function tame(markdown: string): string {
  const lines: string[] = [];
  let fence: Fence | null = null;
  for (const line of markdown.split("\n")) {
    const before: Fence | null = fence;
    fence = fenceAfter(line, before, 0);
    const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
    if (before && fence) lines.push(line.replace(/``(?=`)/g, "``\u200b"));
    else if (before) lines.push(`${indent}\`\`\``);
    else if (fence) lines.push(`${indent}\`\`\`${languageOf(fence)}`);
    else
      lines.push(
        line
          .replace(/`{3,}/g, "``")
          .replace(/^([ \t]*)>>>(?= )/, "$1>")
          .replace(/^#{4,6}(?= )/, "###"),
      );
  }
  if (fence) lines.push("```");
  return lines.join("\n");
}

function languageOf({ line }: Fence): string {
  return /^[ \t]*[`~]+[ \t]*([\w+.#-]*)/.exec(line)?.[1] ?? "";
}
