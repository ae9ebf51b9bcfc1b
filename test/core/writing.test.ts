import fc from "fast-check";
import { expect, test } from "vitest";
import { redactor } from "../../src/core/redactor.ts";
import { wordByWord } from "../../src/core/writing.ts";
import { privateKey, TOKENS } from "../support/secrets.ts";

const KNOWN = "correct horse-battery-staple";
const redact = redactor([KNOWN]);

/** What is shown of a text that comes in pieces of these lengths. */
function shown(text: string, lengths: number[], ends = true): string[] {
  const all: string[] = [];
  const words = wordByWord(redact, (piece) => all.push(piece));
  let at = 0;
  for (let i = 0; at < text.length; i += 1) {
    const next = at + (lengths[i % lengths.length] ?? 1);
    words.hear(text.slice(at, next));
    at = next;
  }
  if (ends) words.end();
  return all;
}

const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
const prose = fc.stringMatching(/^([a-z]{1,12}[ \n.]){0,60}$/);

test("all that was written is shown, whatever the pieces it came in", () => {
  fc.assert(
    fc.property(prose, lengths, (text, by) => {
      expect(shown(text, by).join("")).toBe(text);
    }),
  );
});

test("words are shown before the line that they stand in is over", () => {
  expect(shown("one two three four ".repeat(20), [3], false).join("")).toContain("one two three four one two");
  expect(shown("一二三四五六七八九十".repeat(20), [3], false).join("").length).toBeGreaterThan(100);
});

test.each([...TOKENS, ["a private key", privateKey()], ["a known value with a space in it", KNOWN]])("%s is never shown", (_, secret) => {
  fc.assert(
    fc.property(prose, prose, lengths, (before, after, by) => {
      // The frame around a key is no secret.
      const parts = secret.includes("\n") ? secret.split("\n").slice(1, -1) : [secret.slice(4, 20), secret.slice(-12)];
      const all = shown(`${before} ${secret} ${after}`, by).join("");
      for (const part of parts) expect(all).not.toContain(part.slice(0, 16));
    }),
    { numRuns: 30 },
  );
});

test("a value that only the words before it give away is never shown", () => {
  const value = "q8Zt5".repeat(8);
  fc.assert(
    fc.property(prose, lengths, (before, by) => {
      expect(shown(`${before} authorization: bearer ${value} and so on`, by).join("")).not.toContain(value.slice(0, 10));
    }),
    { numRuns: 50 },
  );
});

test("a text without an end of a word does not take for ever", () => {
  const text = "x".repeat(2_000_000);
  expect(shown(text, [20]).join("")).toHaveLength(text.length);
});
