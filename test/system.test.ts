import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { logTrace } from "../src/system.ts";
import { noise, TOKENS } from "./support/secrets.ts";

const KNOWN = `"quoted" \\ and-${noise(20)}`;
let written: string;

beforeEach(() => {
  written = "";
  vi.spyOn(process.stderr, "write").mockImplementation((line) => {
    written += String(line);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

test("log lines show no secret, known or not, in no depth, and stay JSON", () => {
  const trace = logTrace("debug", [KNOWN]);
  for (const secret of [KNOWN, ...TOKENS.map(([, token]) => token)]) {
    const cause = new Error(`inner ${secret}`, { cause: new Error(`innermost ${secret}`) });
    const error = new Error(`outer ${secret}`, { cause });
    trace.info(`event ${secret}`, { text: secret, deep: { list: [`a ${secret} b`, { url: `https://ann:${secret}@host/` }] }, [secret]: 1 });
    trace.warn("event", { err: error, error: String(error), causes: [error, cause].map((e) => e.stack) });
    trace.error("event", { headers: `authorization: Bearer ${secret}` });
  }
  for (const secret of [KNOWN, ...TOKENS.map(([, token]) => token)]) {
    expect(written).not.toContain(secret);
    expect(written).not.toContain(secret.slice(-14));
    expect(written).not.toContain(JSON.stringify(secret).slice(1, -1));
  }
  const lines = written
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { deep?: { list: unknown[] } });
  expect(lines).toHaveLength(3 * (TOKENS.length + 1));
  expect(lines[0]?.deep?.list[0]).toBe("a [secret] b");
  expect(written).toContain("innermost [secret]");
});
