import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesBehind, utf8 } from "../../src/core/cut.ts";
import { shape } from "../../src/core/output.ts";
import { redactor } from "../../src/core/redactor.ts";
import { LIMITS } from "../../src/limits.ts";
import { lines, printed, printedBytes, text } from "../support/printed.ts";

const ESC = "\u001b";
const KEPT = LIMITS.outputHead + LIMITS.outputTail;
const plain = redactor([]);
const bytesOf = (shown: string): number => new TextEncoder().encode(shown).length;

describe("shape", () => {
  it("keeps a short output whole, without a file", () => {
    expect(shape(printed("héllo\n"), plain)).toEqual({ output: { text: "héllo\n", bytes: 7, omitted: 0 } });
    expect(shape(printed(""), plain)).toEqual({ output: { text: "", bytes: 0, omitted: 0 } });
  });

  it("keeps what fits, and gives a file for what a post cannot show", () => {
    const all = "é".repeat(999).concat("\n").repeat(32);
    expect(bytesOf(all)).toBeLessThanOrEqual(KEPT);
    const { output, whole } = shape(printed(all), plain);
    expect(output).toEqual({ text: all, bytes: bytesOf(all), omitted: 0 });
    expect(text(whole)).toBe(all);
  });

  it("keeps whole lines of the beginning and the end, and says what is between", () => {
    const { output, whole } = shape(printed(lines(0, 9000)), plain);
    expect(output.text).toMatch(/^line 0\nline 1\n[^]*line \d+\n\[\.\.\. \d+ bytes left out \.\.\.\]\nline \d+\n[^]*line 8999\n$/);
    const [head = "", tail = ""] = output.text.split(/\[\.\.\. \d+ bytes left out \.\.\.\]\n/);
    for (const [part, room] of [
      [head, LIMITS.outputHead],
      [tail, LIMITS.outputTail],
    ] as const) {
      expect(part.length).toBeLessThanOrEqual(room);
      expect(part.length).toBeGreaterThan(room - 100);
    }
    expect(text(whole)).toBe(lines(0, 9000));
  });

  it("shortens long lines and keeps their place", () => {
    const { output } = shape(printed(`a\n${"é".repeat(3000)}\nb\n`), plain);
    expect(output.text).toBe(`a\n${"é".repeat(2000)} [... 2000 bytes of this line left out ...]\nb\n`);
    expect(output.omitted).toBe(2000);
    expect(shape(printed("x".repeat(1999) + "😀😀"), plain).output.text).toBe(
      `${"x".repeat(1999)} [... 8 bytes of this line left out ...]`,
    );
  });

  it("joins beginning and end where they meet, also in the middle of a character", () => {
    const all = "漢".repeat(700).concat("\n").repeat(10);
    for (const first of [10_000, 10_001, 10_002]) {
      expect(shape(printed(all, first, 12_000), plain).output).toEqual({ text: all, bytes: bytesOf(all), omitted: 0 });
    }
  });

  it("counts what is left out exactly, however much was kept and however long the lines are", () => {
    const parts = fc.array(fc.tuple(fc.constantFrom("é", "x", "漢", "😀"), fc.integer({ min: 0, max: 9000 })), { maxLength: 30 });
    fc.assert(
      fc.property(parts, fc.boolean(), (each, cut) => {
        const all = each.map(([char, times]) => `${char.repeat(times)}\n`).join("");
        const kept = cut ? printed(all, 40_000, 30_000) : printed(all);
        const { output, whole } = shape(kept, plain);
        const notes = output.text.match(/\[\.\.\. \d+ bytes (of this line )?left out \.\.\.\]/g) ?? [];
        const noted = notes.reduce((sum, note) => sum + Number(/\d+/.exec(note)?.[0]), 0);
        expect(noted).toBe(output.omitted);
        // A note after a line without end begins a new one.
        expect([0, 1]).toContain(bytesBehind(output.text) - kept.total);
        expect(bytesOf(output.text)).toBeLessThanOrEqual(KEPT);
        expect(utf8(output.text)).toBe(bytesOf(output.text));
        expect(output.text.isWellFormed()).toBe(true);
        expect(whole === undefined).toBe(output.omitted === 0 && output.text.length <= LIMITS.postOutput);
        if (whole) expect([0, 1]).toContain(bytesBehind(text(whole)) - kept.total);
      }),
      { numRuns: 200 },
    );
  });

  it("counts a flood of two gigabytes exactly", () => {
    const flood = printed("y\n".repeat(600_000));
    const { output, whole } = shape({ ...flood, total: 2_147_483_648 }, plain);
    const [head = "", note, tail = ""] = output.text.split(/(\[.*\]\n)/);
    expect(output).toMatchObject({ bytes: 2_147_483_648, omitted: 2_147_483_648 - head.length - tail.length });
    expect(note).toBe(`[... ${output.omitted} bytes left out ...]\n`);
    expect(bytesBehind(text(whole))).toBe(2_147_483_648);
  });

  it("gives valid text for any bytes, in the file too", () => {
    const bytes = fc
      .uint8Array({ maxLength: 400 })
      .map((some) => Uint8Array.from({ length: some.length * 60 }, (_, i) => some[i % some.length] ?? 0));
    fc.assert(
      fc.property(bytes, fc.boolean(), (any, broken) => {
        const { output, whole } = shape({ ...printedBytes(any, 9000, 5000), broken }, plain);
        for (const shown of [output.text, text(whole)]) {
          expect(shown.isWellFormed()).toBe(true);
          expect(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new TextEncoder().encode(shown))).toBe(shown);
        }
        expect(output.text).not.toMatch(/(?![\t\n])\p{Cc}/u);
        expect(output.bytes).toBe(any.length);
      }),
    );
  });

  it("keeps a thousand lines in their order", () => {
    const all = Array.from({ length: 500 }, (_, index) => `out ${index}\nerr ${index}\n`).join("");
    expect(shape(printed(all), plain).output.text).toBe(all);
  });

  it("removes colour for the model and keeps it in the file, and folds progress in both", () => {
    const coloured = `${ESC}[31mred${ESC}[0m 1%\r${ESC}[32mgreen${ESC}[0m 2%\n\u0000${"x".repeat(1000)}\n`;
    const { output, whole } = shape(printed(coloured.repeat(4)), plain);
    expect(output.text).toBe(`green 2%\n\uFFFD${"x".repeat(1000)}\n`.repeat(4));
    expect(text(whole)).toBe(`${ESC}[32mgreen${ESC}[0m 2%\n\uFFFD${"x".repeat(1000)}\n`.repeat(4));
  });

  it("does not take a program's own words for a note of ours", () => {
    const { output } = shape(printed("\u00015\u0001 [... 99 bytes left out ...]\n"), plain);
    expect(output).toMatchObject({ text: "\uFFFD5\uFFFD [... 99 bytes left out ...]\n", omitted: 0 });
  });

  it("takes time in proportion to the output", () => {
    for (const unit of [`${ESC}]`, `${ESC}[`, "x", "\r", "\n", "\b", "ab\b", "\r\n", `${ESC}[mx`, `x\r${ESC}[K`]) {
      const all = unit.repeat(LIMITS.outputFile / unit.length);
      expect(shape(printed(all), plain).output.bytes).toBe(all.length);
    }
  }, 20_000);
});
