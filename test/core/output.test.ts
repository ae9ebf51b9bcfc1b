import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clean, type Printed, redact, shape } from "../../src/core/output.ts";
import { LIMITS } from "../../src/limits.ts";

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

describe("redact", () => {
  it("replaces every place, the longest secret first", () => {
    expect(redact("a token-12345678 b token-12345678-more", ["token-12345678", "token-12345678-more"])).toBe("a [secret] b [secret]");
  });

  it("leaves values that are too short to be told from chance", () => {
    expect(redact("on and on", ["on"])).toBe("on and on");
  });
});

/** What the runner keeps of a text, with as small pieces as wanted. */
function printed(text: string, keepFirst: number = LIMITS.outputFile, keepLast = 48_000): Printed {
  const bytes = new TextEncoder().encode(text);
  return {
    first: bytes.subarray(0, keepFirst),
    last: bytes.length > keepFirst ? bytes.subarray(-keepLast) : new Uint8Array(),
    total: bytes.length,
  };
}

function lines(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join("");
}

describe("shape", () => {
  it("keeps a short output whole", () => {
    expect(shape(printed("héllo\n"), [])).toEqual({ output: { text: "héllo\n", bytes: 7, omitted: 0 } });
    expect(shape(printed(""), [])).toEqual({ output: { text: "", bytes: 0, omitted: 0 } });
  });

  it("keeps whole lines of the beginning and the end, and says what is between", () => {
    const { output, whole } = shape(printed(lines(0, 5000)), []);
    expect(output.text).toMatch(/^line 0\nline 1\n[^]*line \d+\n\[\.\.\. \d+ bytes left out \.\.\.\]\nline \d+\n[^]*line 4999\n$/);
    expect(new TextDecoder().decode(whole)).toBe(lines(0, 5000));
  });

  it("shortens long lines and keeps their place", () => {
    const { output } = shape(printed(`a\n${"é".repeat(3000)}\nb\n`), []);
    expect(output.text).toBe(`a\n${"é".repeat(2000)} [... 2000 bytes of this line left out ...]\nb\n`);
    expect(output.omitted).toBe(2000);
  });

  it("counts what is left out exactly, however much was kept and however long the lines are", () => {
    const text = fc.array(fc.tuple(fc.constantFrom("é", "x", "漢"), fc.integer({ min: 0, max: 5000 })), { maxLength: 30 });
    fc.assert(
      fc.property(text, fc.boolean(), (parts, cut) => {
        const all = parts.map(([char, times]) => `${char.repeat(times)}\n`).join("");
        const kept = cut ? printed(all, 20_000, 30_000) : printed(all);
        const { output, whole } = shape(kept, []);
        const shown = output.text.replace(/ ?\[\.\.\. \d+ bytes (of this line )?left out \.\.\.\]\n?/g, (note) =>
          note.startsWith(" ") && note.endsWith("\n") ? "\n" : "",
        );
        // A note after an unfinished line begins a new one.
        expect([0, 1]).toContain(new TextEncoder().encode(shown).length + output.omitted - kept.total);
        expect(output.text.length).toBeLessThan(LIMITS.outputHead + LIMITS.outputTail + 1000);
        expect(whole === undefined).toBe(output.omitted === 0);
      }),
      { numRuns: 200 },
    );
  });

  it("shows a secret neither in the text nor in the whole, wherever it stands", () => {
    const secret = "s3cret-value-42";
    const around = `${lines(0, 460)}${secret}${lines(460, 5000)}${secret}`;
    const { output, whole } = shape(printed(around, 20_000, 30_000), [secret]);
    expect(output.text).not.toContain("s3cret");
    expect(new TextDecoder().decode(whole)).not.toContain("s3cret");
  });

  it("does not take a program's own words for a note of ours", () => {
    const { output } = shape(printed("\u00015\u0001 [... 99 bytes left out ...]\n"), []);
    expect(output).toMatchObject({ text: "\uFFFD5\uFFFD [... 99 bytes left out ...]\n", omitted: 0 });
  });

  it("takes time in proportion to the output", () => {
    for (const unit of [`${ESC}]`, `${ESC}[`, "x", "\r", "\n", "\b", "ab\b", "\r\n"]) {
      const text = unit.repeat(LIMITS.outputFile / unit.length);
      expect(shape(printed(text), []).output.bytes).toBe(text.length);
    }
  }, 20_000);
});
