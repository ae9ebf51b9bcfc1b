import { readFileSync } from "node:fs";
import { judge } from "../../src/core/gate.ts";
import { type Bench, quantile, spread } from "./figure.ts";

const PLACE = { workspace: "/w", cwd: "/w", posture: "careful" as const };
/** As in a worker that has judged a few thousand lines: until then the engine still compiles. */
const WARM_UP = 40;

/** Lines of up to 16 kB that repeat what costs most. */
const HOSTILE = ["cd a;", "$a", "$(", "{a,b}", "a=$(b) ", "x|", "if :;then ", "'a'\"b\"", "[[ a ]]&&"];

function microseconds(act: () => void): number {
  const start = process.hrtime.bigint();
  act();
  return Number(process.hrtime.bigint() - start) / 1000;
}

export const gate: Bench = {
  name: "gate",
  what: "the gate's word on a line, without a look at the file system",
  rounds: 5,
  run: async (rounds) => {
    const corpus = readFileSync(new URL("../core/gate/risk-corpus.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    const lines = corpus.map((line) => (JSON.parse(line) as { command: string }).command).filter((line) => !line.includes("\n"));
    for (let round = 0; round < WARM_UP; round++) for (const line of lines) judge(line, PLACE);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) for (const line of lines) times.push(microseconds(() => void judge(line, PLACE)));
    const worst = HOSTILE.map((piece) => piece.repeat(Math.floor(16_000 / piece.length))).map((line) =>
      Math.min(...Array.from({ length: rounds }, () => microseconds(() => void judge(line, PLACE)) / 1000)),
    );
    const detail = `${times.length} words on one-line commands of the corpus: ${spread(times, " µs")}`;
    return [
      { what: "one line, median", value: quantile(times, 0.5), unit: " µs", goal: { at: "most", value: 50 }, detail },
      { what: "one line, p99", value: quantile(times, 0.99) / 1000, unit: " ms", goal: { at: "most", value: 1 }, detail },
      {
        what: "the worst line of 16 kB",
        value: Math.max(...worst),
        unit: " ms",
        goal: { at: "most", value: 100 },
        detail: `${worst.length} kinds, the best of ${rounds}: ${spread(worst, " ms")}`,
      },
    ];
  },
};
