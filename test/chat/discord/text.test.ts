import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codeBlock, codeLength, encode, encodedLength, encodeShort, silent } from "../../../src/chat/discord/text.ts";

const text = fc.string({
  unit: fc.constantFrom("a", "1", ".", " ", "\n", "`", "*", "_", "\\", "-", "#", ">", "<", "@", "😀"),
  maxLength: 60,
});

describe("plain words", () => {
  it("lose their escapes to a reader, and nothing else", () => {
    fc.assert(
      fc.property(text, (words) => {
        expect(encode(words).replace(/\\([^0-9A-Za-z\s])/g, "$1")).toBe(words);
      }),
    );
  });

  it("take no more room than is reckoned with", () => {
    fc.assert(
      fc.property(text, text, fc.integer({ min: 20, max: 80 }), (one, two, max) => {
        expect(encode(one + two).length).toBeLessThanOrEqual(encodedLength(one) + encodedLength(two));
        expect(encodeShort(one + two, max).length).toBeLessThanOrEqual(max + 1);
        expect(encodeShort(one + two, max).isWellFormed()).toBe(true);
        expect(codeBlock(one + two).length).toBeLessThanOrEqual(codeLength(one) + codeLength(two) + 9);
      }),
    );
  });
});

it("nothing in Markdown looks like a mention, an emoji, a moment or a command, and other angle brackets stay", () => {
  const marked = "<@1> <@!1> <@&1> <#1> <:a:1> <a:b:1> <t:1:R> </run:1> <id:guide>";
  expect(silent(marked)).toBe(marked.replaceAll("<", "<\u200b"));
  for (const kept of ["a < b", "<div>", "</div>", "Array<T>", "<https://example.com>"]) expect(silent(kept)).toBe(kept);
});
