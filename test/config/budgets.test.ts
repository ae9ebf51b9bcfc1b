import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { SHIPPED } from "../../src/core/spending.ts";

const read = (yaml: string) => readConfig({}, () => yaml);

async function config(yaml: string) {
  const found = await read(yaml);
  if ("problems" in found) throw new Error(found.problems.join("\n"));
  return found.config;
}

describe("`limits` in deckhand.yaml", () => {
  test("are as shipped when nothing is said", async () => {
    expect((await config("")).limits).toEqual(SHIPPED);
    expect((await config("limits: {}")).limits).toEqual(SHIPPED);
    expect(SHIPPED.turn).toMatchObject({ steps: 50, ms: 1_800_000, tokens: 2_000_000, usd: null });
    expect(SHIPPED.thread).toEqual({ tokens: 10_000_000, usd: null });
  });

  test("change what they name and leave the rest; calls go with the steps", async () => {
    const { limits } = await config("limits: {turn: {steps: 400, minutes: 90, usd: 2.5}, thread: {tokens: none}, day: {tokens: 5000000}}");
    expect(limits).toEqual({
      turn: { steps: 400, calls: 800, ms: 5_400_000, tokens: 2_000_000, usd: 2.5 },
      thread: { tokens: null, usd: null },
      day: { tokens: 5_000_000, usd: null },
    });
  });

  test.each([
    ["turn: {steps: 0}", "turn: steps: must be a whole number from 1 to 10000 (line 2, column 17)"],
    ["turn: {steps: none}", "turn: steps: must be a whole number from 1 to 10000 (line 2, column 17)"],
    ["turn: {minutes: -1}", "turn: minutes: must be a number above 0, at most 10080 (a week) (line 2, column 19)"],
    ["thread: {tokens: 1.5}", "thread: tokens: must be a whole number above 0, or none (line 2, column 20)"],
    ["day: {tokens: all}", "day: tokens: must be a whole number above 0, or none (line 2, column 17)"],
    ["day: {usd: 0}", "day: usd: must be a number of US dollars, 0.01 or more, or none (line 2, column 14)"],
    ["day: {usd: .nan}", "day: usd: must be a number of US dollars, 0.01 or more, or none (line 2, column 14)"],
    ["thread: {steps: 3}", 'thread: Unrecognized key: "steps"'],
    ["week: {}", 'Unrecognized key: "week"'],
  ])("refuse %s, and say where", async (yaml, says) => {
    const found = await read(`limits:\n  ${yaml}`);
    expect("problems" in found && found.problems).toEqual([expect.stringContaining(`limits: ${says}`)]);
  });
});

describe("`prices` in deckhand.yaml", () => {
  test("are US dollars per million tokens, by model", async () => {
    const { prices } = await config("prices: {gpt-5: {input: 1.25, cached: 0.125, output: 10}, 'qwen/qwen3:free': {input: 0, output: 0}}");
    expect(prices).toEqual({ "gpt-5": { input: 1.25, cached: 0.125, output: 10 }, "qwen/qwen3:free": { input: 0, output: 0 } });
    expect((await config("")).prices).toEqual({});
  });

  test.each([
    ["m: {input: 1}", "m: output: must be US dollars per million tokens, 0 or more"],
    ["m: {input: $1, output: 2}", "m: input: must be US dollars per million tokens, 0 or more (line 2, column 14)"],
    ["m: {input: -1, output: 2}", "m: input: must be US dollars per million tokens, 0 or more (line 2, column 14)"],
    ["m: {input: 1, output: 2, reasoning: 3}", 'm: Unrecognized key: "reasoning"'],
  ])("refuse %s, and say where", async (yaml, says) => {
    const found = await read(`prices:\n  ${yaml}`);
    expect("problems" in found && found.problems).toEqual([expect.stringContaining(`prices: ${says}`)]);
  });
});
