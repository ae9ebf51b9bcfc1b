import { afterAll, beforeAll, expect, it } from "vitest";
import type { Sandbox } from "../../src/core/sandbox.ts";
import { LIMITS } from "../../src/limits.ts";
import { bwrapSandbox } from "../../src/sandbox/bwrap.ts";
import { text } from "../support/printed.ts";
import { noise, TOKENS } from "../support/secrets.ts";
import { makeWorkspace, type Shell, shellIn, type TestWorkspace } from "../support/workspace.ts";

const KNOWN = `known-${noise(40)}`;
const TOKEN = TOKENS[12]?.[1] ?? "";
let place: TestWorkspace;
let sandbox: Sandbox;
let sh: Shell;

beforeAll(() => {
  place = makeWorkspace();
  sandbox = bwrapSandbox({ stateDir: place.stateDir, runAs: null, secrets: [KNOWN], floodBytes: 3_000_000 });
  sh = shellIn(sandbox, place.path);
});
afterAll(async () => {
  await sandbox.close();
  place.cleanup();
});

function expectHidden(shown: string): void {
  for (const secret of [KNOWN, TOKEN]) {
    for (let at = 6; at + 8 <= secret.length; at += 1) expect(shown).not.toContain(secret.slice(at, at + 8));
  }
}

it("a secret that comes in two pieces is shown in neither, live or afterwards", async () => {
  const heard: string[] = [];
  const halves = (secret: string): string => `printf 'a %s' '${secret.slice(0, 20)}'; sleep 0.3; printf '%s b\\n' '${secret.slice(20)}'`;
  const { output } = await sh(`${halves(KNOWN)}; ${halves(TOKEN)}`, { onChunk: (piece) => heard.push(piece) });
  expect(output.text).toBe("a [secret] b\na [secret] b\n");
  expect(heard.join("")).toBe(output.text);
});

it("a secret at the border of what is kept from the beginning is shown in no half", async () => {
  for (const secret of [KNOWN, TOKEN]) {
    const before = LIMITS.outputFile - Math.floor(secret.length / 2);
    const heard: string[] = [];
    const command = `head -c ${before - 1} /dev/zero | tr '\\0' 'x'; printf ' %s\\n' '${secret}'; yes | head -c 500000`;
    const { output, whole } = await sh(command, { onChunk: (piece) => heard.push(piece) });
    expect(output.bytes).toBe(before + secret.length + 1 + 500_000);
    expectHidden(output.text + text(whole) + heard.join(""));
    expect(text(whole)).toContain("x [secret]\n[... ");
  }
});

it("a secret that a stop cuts in half is not shown", async () => {
  const { output } = await sh(`printf 'a %s' '${KNOWN.slice(0, 30)}'; sleep 60`, { timeoutMs: 500 });
  expect(output.text).toBe("a [secret]");
});

it("chance gives valid text, and its flood ends where it was set", async () => {
  const { how, output, whole } = await sh("cat /dev/urandom");
  expect(how).toBe("flood");
  expect(output.bytes).toBeGreaterThan(3_000_000);
  expect(output.bytes).toBeLessThan(30_000_000);
  for (const shown of [output.text, text(whole)]) expect(shown.isWellFormed()).toBe(true);
  expect(output.text).not.toMatch(/(?![\t\n])\p{Cc}/u);
  expect(new TextEncoder().encode(output.text).length).toBeLessThanOrEqual(LIMITS.outputHead + LIMITS.outputTail);
});

it("colour is in the file alone; NUL and progress are in neither", async () => {
  const { output, whole } = await sh(String.raw`for i in {1..400}; do printf '\e[31mred\e[0m\0 1%%\r2%% \e[32mgreen\e[0m\n'; done`);
  expect(output).toEqual({ text: "2% green\n".repeat(400), bytes: 14_000, omitted: 0 });
  expect(text(whole)).toBe("2% \u001b[32mgreen\u001b[0m\n".repeat(400));
});
