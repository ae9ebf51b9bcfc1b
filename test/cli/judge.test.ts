import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeLines } from "../../src/cli/judge.ts";
import type { Place } from "../../src/core/ports.ts";

const place: Place = { workspace: "/home/u/proj", cwd: "/home/u/proj", posture: "careful" };

async function* pieces<T>(list: T[]): AsyncGenerator<T> {
  for (const piece of list) yield await Promise.resolve(piece);
}

async function run(list: (string | Buffer)[]): Promise<{ code: number; lines: Record<string, unknown>[] }> {
  const lines: Record<string, unknown>[] = [];
  const code = await judgeLines(pieces(list), (line) => lines.push(JSON.parse(line) as Record<string, unknown>), place);
  return { code, lines };
}

describe("deckhand judge", () => {
  it("answers each line with command, verdict, reasons and rule", async () => {
    const { code, lines } = await run(['{"command":"ls"}\n{"command":"sudo reboot"}\n{"command":"curl http://x.example"}\n']);
    expect(code).toBe(0);
    expect(lines).toEqual([
      { command: "ls", verdict: "auto", reasons: [], rule: "read-only", reads: true },
      {
        command: "sudo reboot",
        verdict: "deny",
        reasons: [{ code: "privilege", text: "`sudo` takes or gives more rights" }],
        rule: "refused/privilege",
      },
      {
        command: "curl http://x.example",
        verdict: "ask",
        reasons: [{ code: "network", text: expect.stringContaining("x.example") }],
        rule: "ask/network",
        grants: ["network=x.example:80"],
      },
    ]);
  });

  it("goes on after a broken line, says which one it was and ends with 2", async () => {
    const broken = Buffer.from([0x22, 0xff, 0x22, 0x0a]);
    const { code, lines } = await run(['nonsense\n\n{"command":7}\n[]\n', broken, '{"command":"ls"}']);
    expect(code).toBe(2);
    expect(lines).toEqual([
      { error: "is not JSON", line: 1 },
      { error: 'needs the form {"command": "..."}', line: 3 },
      { error: 'needs the form {"command": "..."}', line: 4 },
      { error: "is not UTF-8", line: 5 },
      { command: "ls", verdict: "auto", reasons: [], rule: "read-only", reads: true },
    ]);
  });

  it("gives the same answers wherever the input is cut, also within a character", async () => {
    const text = '{"command":"echo café 👋"}\r\n{"command":"cat \\u00e9"}\n{"command":"rm 日本"}\n';
    const whole = await run([text]);
    const bytes = Buffer.from(text);
    const cutsOf = (length: number) =>
      fc.array(fc.integer({ min: 0, max: length })).map((cuts) => [0, ...cuts.sort((a, b) => a - b), length]);
    const cut = <T>(cuts: number[], slice: (from: number, to: number) => T): T[] =>
      cuts.slice(1).map((to, index) => slice(cuts[index] ?? 0, to));
    await fc.assert(
      fc.asyncProperty(cutsOf(bytes.length), cutsOf(text.length), async (inBytes, inText) => {
        expect(await run(cut(inBytes, (from, to) => bytes.subarray(from, to)))).toEqual(whole);
        expect(await run(cut(inText, (from, to) => text.slice(from, to)))).toEqual(whole);
      }),
    );
  });

  it("judges thousands of lines in order", async () => {
    const input = Array.from({ length: 5000 }, (_, index) => `${JSON.stringify({ command: `echo ${index}` })}\n`).join("");
    const { code, lines } = await run([input]);
    expect(code).toBe(0);
    expect(lines.map((line) => line["command"])).toEqual(Array.from({ length: 5000 }, (_, index) => `echo ${index}`));
  });
});
