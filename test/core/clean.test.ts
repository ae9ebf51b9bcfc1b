import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clean, cleanInColour, withoutColour } from "../../src/core/clean.ts";

const ESC = "\u001b";

describe("clean", () => {
  it.each([
    ["plain text stays", "a\tb\nc\n", "a\tb\nc\n"],
    ["colours go", `${ESC}[1;31mred${ESC}[0m`, "red"],
    ["titles and links go", `${ESC}]0;title\u0007a${ESC}]8;;http://x${ESC}\\b`, "ab"],
    ["an unfinished title ends with its line", `${ESC}]0;title\nnext`, "\nnext"],
    ["a cut sequence goes", `end${ESC}[3`, "end"],
    ["eight-bit sequences go", "\u009b31mred", "red"],
    ["Windows line ends become ours", "a\r\nb\r\n", "a\nb\n"],
    ["progress stands as it ended", "10%\r50%\r100%\ndone", "100%\ndone"],
    ["progress that goes back to the start stands", "50%\r100%\r", "100%"],
    ["overstruck text is read once", "N\bNA\bAME", "NAME"],
    ["other control characters show that something was there", "a\u0000b\u0007\u007fc", "a\uFFFDb\uFFFD\uFFFDc"],
    ["half a character is mended", "a\ud83d", "a\uFFFD"],
  ])("%s", (_, text, wanted) => {
    expect(clean(text)).toBe(wanted);
  });

  it("leaves no control character and changes nothing the second time", () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom(ESC, "[", "]", "\\", "\r", "\n", "\b", "\u0000", "m", "3"), fc.string({ minLength: 1, maxLength: 1 })),
    });
    fc.assert(
      fc.property(text, (any) => {
        const once = clean(any);
        expect(once).not.toMatch(/(?![\t\n])\p{Cc}/u);
        expect(once.isWellFormed()).toBe(true);
        expect(clean(once)).toBe(once);
      }),
    );
  });
});

describe("clean for a terminal", () => {
  it.each([
    ["colours stay", `${ESC}[1;31mred${ESC}[0m`, `${ESC}[1;31mred${ESC}[0m`],
    ["links stay", `${ESC}]8;;http://x${ESC}\\a`, `${ESC}]8;;http://x${ESC}\\a`],
    ["progress stands as it ended", `${ESC}[32m10%\r${ESC}[K100%\r${ESC}[m\ndone`, `${ESC}[K100%\ndone`],
    ["overstruck text is read once", `N\bNA\bA${ESC}[1mM\bM`, `NA${ESC}[1mM`],
    ["other control characters show that something was there", `a\u0000b\u0007${ESC}[1mc\r\n`, `a\uFFFDb\uFFFD${ESC}[1mc\n`],
    ["half a character is mended", "a\ud83d", "a\uFFFD"],
  ])("%s", (_, text, wanted) => {
    expect(cleanInColour(text)).toBe(wanted);
  });

  it("reads as the plain text does", () => {
    const unit = fc.oneof(fc.constantFrom(`${ESC}[31m`, "\r", "\n", "\u0000", "é", "m", "["), fc.string({ minLength: 1, maxLength: 1 }));
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const shown = cleanInColour(text);
        expect(shown.isWellFormed()).toBe(true);
        expect(cleanInColour(shown)).toBe(shown);
        if (!text.includes("\b")) expect(clean(withoutColour(shown))).toBe(clean(text));
      }),
    );
  });
});
