import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redacted, redactor } from "../../src/core/redactor.ts";
import { noise, privateKey, TOKENS } from "../support/secrets.ts";

const SECRET = 'p/w "quoted" \\ ünd+more=';

describe("a known value", () => {
  test("goes wherever it stands, the longest first", () => {
    const redact = redactor(["token-12345678", "token-12345678-more"]);
    expect(redact("a token-12345678 b token-12345678-more")).toBe("a [secret] b [secret]");
  });

  test("stays when it is so short that it would match by chance", () => {
    expect(redactor(["on", "seven77", "   short   "])("on and on, seven77, short")).toBe("on and on, seven77, short");
  });

  test.each([
    ["as it is", (value: string) => value],
    ["in an address", encodeURIComponent],
    ["in JSON", (value: string) => JSON.stringify(value).slice(1, -1)],
    ["in base64", (value: string) => Buffer.from(value).toString("base64").replaceAll("=", "")],
    ["in base64 of addresses", (value: string) => Buffer.from(value).toString("base64url")],
  ])("is known %s", (_, form) => {
    const hidden = redactor([SECRET])(`<${form(SECRET)}>`);
    expect(hidden).toMatch(/^<\[secret\].?>$/);
  });

  test("is known in base64 whatever stands before and after it", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), fc.uint8Array({ maxLength: 20 }), (before, after) => {
        const text = Buffer.concat([before, Buffer.from(SECRET), after]).toString("base64");
        const hidden = redactor([SECRET])(text);
        expect(hidden).toContain("[secret]");
        // Of the value at most the letters at its ends are left, which it shares with its neighbours.
        expect(hidden.replace("[secret]", "").length).toBeLessThan(Math.ceil((before.length + after.length) / 3) * 4 + 9);
      }),
    );
  });

  test("of several lines is known by each long line", () => {
    const value = `first line of it is long\nx\n${noise(40)}`;
    const redact = redactor([value]);
    expect(redact(`a ${value} b`)).toBe("a [secret] b");
    expect(redact(`12: ${noise(40)}\n13: x`)).toBe("12: [secret]\n13: x");
  });
});

describe("a text that was cut", () => {
  const redact = redactor(["plantedvalue-4711-and-its-end"]);

  test("shows no half of a known value, wherever the cut is", () => {
    const value = "plantedvalue-4711-and-its-end";
    for (let length = 4; length < value.length; length += 1) {
      expect(redact(`key ${value.slice(0, length)}`, { end: true })).toBe("key [secret]");
      expect(redact(`${value.slice(-length)} end`, { start: true })).toBe("[secret] end");
    }
  });

  test("shows a whole value at its end as such", () => {
    expect(redact("a plantedvalue-4711-and-its-end", { end: true })).toBe("a [secret]");
  });

  test("keeps its ends when it was not cut there", () => {
    expect(redact("its-end of the plantedvalue")).toBe("its-end of the plantedvalue");
    expect(redact("its-end of the plantedvalue", { start: true })).toBe("[secret] of the plantedvalue");
  });

  test.each(TOKENS.filter(([, token]) => !token.includes("/")))("shows no beginning of %s", (_, token) => {
    for (let length = 12; length < token.length; length += 1) {
      const hidden = redact(`x=${token.slice(0, length)}`, { end: true });
      expect(hidden).not.toContain(token.slice(6, 12));
    }
  });

  test("shows no beginning of an address's password, and keeps a port", () => {
    expect(redact("see https://ann:abc", { end: true })).toBe("see https://ann:[secret]");
    expect(redact("see http://localhost:8080", { end: true })).toBe("see http://localhost:8080");
  });

  test("shows no part of a private key", () => {
    const key = privateKey();
    for (let at = 40; at < key.length; at += 7) {
      const begin = redact(`a\n${key.slice(0, at)}`, { end: true });
      const end = redact(`${key.slice(at)}\nb`, { start: true });
      for (let line = 1; line <= 6; line += 1) {
        expect(begin).not.toContain(noise(64, line).slice(0, 6));
        expect(end).not.toContain(noise(64, line).slice(-6));
      }
    }
  });
});

test("hiding twice is hiding once", () => {
  const redact = redactor([SECRET, "plantedvalue-4711"]);
  const piece = fc.oneof(
    fc.constantFrom(
      SECRET,
      "plantedvalue-4711",
      ...TOKENS.map(([, token]) => token),
      "https://ann:pa55word@x",
      "-",
      "_",
      ".",
      "\n",
      "sk-",
      "eyJ",
    ),
    fc.string({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
      const hidden = redact(parts.join(""));
      expect(redact(hidden)).toBe(hidden);
      expect(hidden.isWellFormed() || !parts.join("").isWellFormed()).toBe(true);
      expect(hidden).not.toContain("plantedvalue-4711");
    }),
    { numRuns: 500 },
  );
});

test("every string in a value is redacted, keys too, and nothing else is touched", () => {
  const redact = redactor(["plantedvalue-4711"]);
  const value = { a: ["x plantedvalue-4711", 1, null, true, { "plantedvalue-4711": "y" }], b: undefined };
  expect(redacted(value, redact)).toEqual({ a: ["x [secret]", 1, null, true, { "[secret]": "y" }], b: undefined });
});

test("no text in a value hides a secret of another", () => {
  const redact = redactor(["plantedvalue-4711"]);
  const secrets = [...TOKENS.map(([, token]) => token), privateKey(), "plantedvalue-4711", "https://u:hunter2hunter2@h/x"];
  const text = fc.array(fc.oneof(fc.constantFrom(...secrets, "-----BEGIN ", "://a:b", "sk-", "\n", "\0"), fc.string()), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), (parts) => {
      const texts = parts.map((each) => each.join(""));
      expect(redacted({ texts }, redact)).toEqual({ texts: texts.map((each) => redact(each)) });
    }),
    { numRuns: 1000 },
  );
});
