import { Buffer } from "node:buffer";
import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactor } from "../../src/core/redactor.ts";
import { LIMITS } from "../../src/limits.ts";
import { liveFeed, SKIPPED } from "../../src/sandbox/capture.ts";
import { liveText } from "../../src/sandbox/live.ts";
import { lines } from "../support/printed.ts";
import { noise, privateKey, TOKENS } from "../support/secrets.ts";

const KNOWN = `hünter2-${noise(24, 11)}`;
const SECRETS: [kind: string, secret: string][] = [["a known value", KNOWN], ...TOKENS];
const redact = redactor([KNOWN]);

/** The text that is shown of output that comes in these pieces, one by one. */
function shown(...pieces: (string | Uint8Array)[]): string[] {
  const heard: string[] = [];
  const live = liveText(redact, (text) => heard.push(text));
  for (const piece of pieces) live.add(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
  live.end();
  return heard;
}

/** The same text, so many bytes at a time. */
function inPieces(text: string, size: number): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

function expectHidden(text: string, secret: string): void {
  for (let at = Math.max(10, secret.lastIndexOf("/") + 1); at + 8 <= secret.length; at += 1)
    expect(text).not.toContain(secret.slice(at, at + 8));
}

describe("live text", () => {
  it("comes in whole lines, the last one at the end", () => {
    expect(shown("on", "e\ntwo\nth", "ree")).toEqual(["one\ntwo\n", "three"]);
  });

  it("is clean, and the same whatever the pieces are", () => {
    const text = "a\u0000b \u001b[31mréd\u001b[m\n10%\r100%\r\n漢字\n\uFFFD";
    for (const size of [1, 2, 3, 5, 100]) expect(shown(...inPieces(text, size)).join("")).toBe("a\uFFFDb réd\n100%\n漢字\n\uFFFD");
  });

  it.each(SECRETS)("shows no part of %s across the border of two pieces", (_, secret) => {
    const text = `one\nkey ${secret} more\ntwo ${secret}\n`;
    for (const size of [1, 7, 64]) expectHidden(shown(...inPieces(text, size)).join(""), secret);
    expect(shown(...inPieces(text, 16)).join("")).toMatch(/^one\nkey \S*\[secret\] more\ntwo \S*\[secret\]\n$/);
  });

  it.each(SECRETS)("shows no part of %s where a line is too long to be held", (_, secret) => {
    for (let at = 0; at <= 9_000; at += 293) {
      const text = `${"x".repeat(at)} ${secret} ${"x".repeat(12_000)} ${secret} x\nnext\n`;
      const heard = shown(...inPieces(text, 997)).join("");
      expectHidden(heard, secret);
      expect(heard).toMatch(/…\nnext\n$/);
    }
  });

  it("shows the beginning of a line that does not end, once", () => {
    const heard = shown(...inPieces("x".repeat(100_000), 5_000));
    expect(heard).toEqual([`${"x".repeat(LIMITS.outputLine)} …\n`]);
  });

  it("holds progress without end in bounds and shows how it ended", () => {
    const progress = Array.from({ length: 20_000 }, (_, index) => `${index} of 20000\r`).join("");
    expect(shown(...inPieces(`${progress}done\n`, 4_000))).toEqual(["done\n"]);
  });

  it("shows nothing of a private key, however slowly it comes, and what is after it at once", () => {
    const key = privateKey();
    for (const size of [1, 30, 66]) {
      const heard = shown(...inPieces(`a\n${key}\nb\n`, size)).join("");
      expect(heard).toBe("a\n[secret]\nb\n");
    }
    const heard: string[] = [];
    const live = liveText(redact, (text) => heard.push(text));
    live.add(Buffer.from("see -----BEGIN PRIVATE KEY-----\nwhich is how it begins\n"));
    expect(heard).toEqual(["see -----BEGIN PRIVATE KEY-----\nwhich is how it begins\n"]);
  });

  it("shows no rest of a key whose beginning was skipped, nor half a secret before what was", () => {
    const rest = privateKey().slice(100);
    const heard = shown(`key ${KNOWN.slice(0, 12)}\n${SKIPPED}${rest.slice(rest.indexOf("\n") + 1, 160)}`, `${rest.slice(160)}\nafter\n`);
    expect(heard.join("")).toBe(`key [secret]\n${SKIPPED}after\n`);
  });

  it("shows nothing of a secret that a stop cut in half", () => {
    expect(shown(`key ${KNOWN.slice(0, 12)}`)).toEqual(["key [secret]"]);
  });
});

describe("the live feed", () => {
  /** What is sent of these pieces when they come at once. */
  async function fed(pieces: string[]): Promise<string[]> {
    const sent: string[] = [];
    const feed = liveFeed((data) => sent.push(Buffer.from(data).toString()));
    for (const piece of pieces) feed.add(Buffer.from(piece));
    await wait(LIMITS.liveEvery * 2);
    feed.end();
    return sent;
  }

  it("sends whole lines, and what is not finished at the end", async () => {
    expect(await fed(["one\ntw", "o\nthr", "ee"])).toEqual(["one\ntwo\n", "three"]);
  });

  it("skips what comes too fast, says so, and begins again with a whole line", async () => {
    const [first = "", ...more] = await fed([lines(0, 400), lines(400, 2_000)]);
    expect(more).toEqual([]);
    expect(first.startsWith(SKIPPED)).toBe(true);
    expect(first.slice(SKIPPED.length)).toMatch(/^line \d+\n[^]*line 1999\n$/);
    expect(first.length).toBeLessThanOrEqual(LIMITS.liveBytes + SKIPPED.length);
  });

  it("skips a line that is longer than it holds", async () => {
    expect(await fed(["a\n", `${"x".repeat(LIMITS.liveBytes)}y`, "\nb\n"])).toEqual([`${SKIPPED}b\n`]);
    expect(await fed(["x".repeat(LIMITS.liveBytes + 1)])).toEqual([]);
  });

  it("never sends a part of a line as if it were a line", () => {
    const piece = fc.oneof(fc.nat(400), fc.integer({ min: 3_000, max: 9_000 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(3_000), { minLength: 1, maxLength: 8 }), (lengths, sizes) => {
        const all = lengths.map((length, index) => `<${index} ${"x".repeat(length)}>\n`).join("");
        const sent: string[] = [];
        const feed = liveFeed((data) => sent.push(Buffer.from(data).toString()));
        for (let at = 0, turn = 0; at < all.length; turn += 1) {
          const size = 1 + (sizes[turn % sizes.length] ?? 0);
          feed.add(Buffer.from(all.slice(at, at + size)));
          at += size;
        }
        feed.end();
        const whole = new Set([...all.split("\n"), SKIPPED.trimEnd()]);
        for (const line of sent.join("").split("\n")) expect(whole).toContain(line);
      }),
    );
  });
});
