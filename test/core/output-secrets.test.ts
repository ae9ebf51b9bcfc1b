import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shape } from "../../src/core/output.ts";
import { redactor } from "../../src/core/redactor.ts";
import { LIMITS } from "../../src/limits.ts";
import { lines, printed, text } from "../support/printed.ts";
import { noise, privateKey, TOKENS } from "../support/secrets.ts";

const ESC = "\u001b";
const KNOWN = `hünter2-${noise(24, 11)}`;
const SECRETS: [kind: string, secret: string][] = [
  ["a known value", KNOWN],
  ["one of several words", "correct horse 4711 battery staple"],
  ...TOKENS,
];
const redact = redactor([KNOWN, "correct horse 4711 battery staple"]);

/** No eight letters in a row may be shown, but of how each of its kind begins. */
function expectHidden(shown: string, secret: string): void {
  for (let at = Math.max(10, secret.lastIndexOf("/") + 1); at + 8 <= secret.length; at += 1)
    expect(shown).not.toContain(secret.slice(at, at + 8));
}

function expectAllHidden(all: string, secret: string, ...kept: [first?: number, last?: number]): void {
  const { output, whole } = shape(printed(all, ...kept), redact);
  expectHidden(output.text, secret);
  expectHidden(text(whole), secret);
}

describe("the output shows no part of a secret", () => {
  it.each(SECRETS)("at a cut of what was kept, wherever it stands there: %s", (_, secret) => {
    const first = 1_000;
    const filler = lines(0, 1000);
    for (let at = first - secret.length - 2; at <= first + 2; at += 2) {
      // The end of the beginning, and, 3000 bytes later, the beginning of the end.
      const begin = `${filler.slice(0, at - 1)} ${secret} ${filler.slice(0, 3_000)}`;
      expectAllHidden(`${begin}${filler.slice(0, 2_000)}`, secret, first, 1_500);
      const end = ` ${secret} ${filler.slice(0, first + secret.length - at)}`;
      expectAllHidden(`${filler.slice(0, 5_000)}${end}`, secret, first, first);
    }
  });

  it.each(SECRETS)("in one line without end: %s", (_, secret) => {
    const filler = "x".repeat(1_000);
    for (let at = 0; at <= secret.length; at += 2) {
      const all = `${filler.slice(at)} ${secret} ${filler.repeat(9)} ${secret} ${filler.repeat(3)}${filler.slice(0, at)}`;
      expectAllHidden(all, secret, 1_010, 3_020 + secret.length);
    }
  });

  it("at the cuts between head, note and tail, and in a line that is shortened", () => {
    const place = fc.integer({ min: 0, max: 90_000 });
    fc.assert(
      fc.property(place, fc.boolean(), fc.constantFrom(...SECRETS), (at, isOneLine, [, secret]) => {
        const filler = isOneLine ? "words and more ".repeat(6_000) : lines(0, 8_000);
        expectAllHidden(`${filler.slice(0, at)} ${secret} ${filler.slice(at)}`, secret);
        const long = `a\n${"x".repeat(at % LIMITS.outputLine)} ${secret} ${"x".repeat(LIMITS.outputLine)}\nb\n`;
        expectAllHidden(long, secret);
      }),
      { numRuns: 150 },
    );
  });

  it("in a private key, wherever it is cut", () => {
    const key = privateKey();
    const [before, after] = [lines(0, 50), lines(0, 400)];
    for (let at = 0; at < key.length; at += 5) {
      const cutAtEnd = printed(`${before}${key}\n${after}`, before.length + at, 1_000);
      const cutAtStart = printed(`${after}${key}\n${before}`, 1_000, key.length - at + before.length);
      for (const pieces of [cutAtEnd, cutAtStart]) {
        const { output, whole } = shape(pieces, redact);
        for (let line = 1; line <= 6; line += 1) expect(output.text + text(whole)).not.toContain(noise(64, line).slice(24, 40));
      }
    }
  });

  it("when the command was ended in the middle of it", () => {
    for (const broken of [true, false]) {
      const { output } = shape({ ...printed(`key ${KNOWN.slice(0, 12)}`), broken }, redact);
      expect(output.text).toBe(broken ? "key [secret]" : `key ${KNOWN.slice(0, 12)}`);
    }
    const cutInside = new TextEncoder().encode("key hü").subarray(0, -1);
    expect(shape({ first: cutInside, last: new Uint8Array(), total: 6, broken: true }, redact).output.text).toBe("key h");
  });

  it("with colour inside it: then the line loses its colour, the others keep theirs", () => {
    const red = (words: string): string => `${ESC}[31m${words}${ESC}[m`;
    const token = TOKENS[12]?.[1] ?? "";
    const all = `${red("first")}\n${red(token.slice(0, 4))}${token.slice(4)} ${red(KNOWN.slice(0, 5))}${KNOWN.slice(5)}\n${red("last")}\n${lines(0, 500)}`;
    const { output, whole } = shape(printed(all), redact);
    expect(output.text).toMatch(/^first\n\[secret\] \[secret\]\nlast\n/);
    expect(text(whole)).toBe(`${red("first")}\n[secret] [secret]\n${red("last")}\n${lines(0, 500)}`);
  });
});
