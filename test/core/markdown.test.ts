import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText, splitMarkdown } from "../../src/core/markdown.ts";

const MAX = 1_000;
/** Slack counts like this; what holds for it holds for plain lengths. */
const jsonLength = (text: string): number => JSON.stringify(text).length - 2;

/** Fence lines that stand alone: opened and closed in turn. */
function fenceLines(part: string): string[] {
  return part.split("\n").filter((line) => /^\s*(```|~~~)/.test(line));
}

const line = fc.constantFrom(
  "some words of prose",
  "- a list",
  "",
  "x = 1 // code",
  '"quoted\\" and 汉字 😀',
  "a".repeat(700),
  "word ".repeat(300),
);
const fenced = fc
  .tuple(fc.constantFrom("js", "", "python"), fc.array(line, { maxLength: 12 }))
  .map(([language, lines]) => [`\`\`\`${language}`, ...lines, "```"]);
const prose = fc.array(line, { maxLength: 6 });
const document = fc.array(fc.oneof(fenced, prose), { maxLength: 10 }).map((blocks) => blocks.flat().join("\n"));

describe("splitting Markdown", () => {
  it("leaves a short text whole", () => {
    expect(splitMarkdown("# Title\n\n```js\nlet a\n```\n", MAX, jsonLength)).toEqual(["# Title\n\n```js\nlet a\n```\n"]);
  });

  it("cuts at a paragraph when it can", () => {
    const first = "one ".repeat(200);
    const second = "two ".repeat(200);
    expect(splitMarkdown(`${first}\n\n${second}`, MAX, jsonLength)).toEqual([`${first}\n\n`, second]);
  });

  it("closes a code block and opens it again with its language", () => {
    const code = Array.from({ length: 100 }, (_, index) => `line number ${index}\n`).join("");
    const parts = splitMarkdown(`Before\n\n\`\`\`ts\n${code}\`\`\`\nAfter\n`, MAX, jsonLength);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts.slice(1)) expect(part.startsWith("```ts\n")).toBe(true);
    for (const part of parts) expect(fenceLines(part).length % 2).toBe(0);
    expect(
      parts
        .join("\n")
        .replace(/^```.*\n?/gm, "")
        .replace(/\n+/g, "\n"),
    ).toBe(`Before\n${code}After\n`);
  });

  it("never leaves a code block open at the end of a part, and keeps every part within its size", () => {
    fc.assert(
      fc.property(document, (text) => {
        for (const part of splitMarkdown(text, MAX, jsonLength)) {
          expect(jsonLength(part)).toBeLessThanOrEqual(MAX);
          expect(fenceLines(part).length % 2).toBe(0);
        }
      }),
    );
  });

  it("keeps every letter in order", () => {
    const letters = (text: string): string => text.replace(/^\s*```.*$/gm, "").replace(/\s+/g, "");
    fc.assert(
      fc.property(document, (text) => {
        expect(letters(splitMarkdown(text, MAX, jsonLength).join("\n"))).toBe(letters(text));
      }),
    );
  });
});

describe("cutting a text", () => {
  it("gives pieces within the size that join to the same text and break no letter", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", " ", "\n", '"', "😀", "汉", "\u0007"), maxLength: 400 }),
        fc.integer({ min: 12, max: 90 }),
        (text, max) => {
          const pieces = cutText(text, max, jsonLength);
          expect(pieces.join("")).toBe(text);
          for (const piece of pieces) {
            expect(jsonLength(piece)).toBeLessThanOrEqual(max);
            expect(piece.isWellFormed()).toBe(true);
          }
        },
      ),
    );
  });
});
