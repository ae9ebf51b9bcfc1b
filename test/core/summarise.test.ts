import { expect, test } from "vitest";
import { isEntry, type Entry } from "../../src/core/entry.ts";
import { DeckhandError } from "../../src/core/errors.ts";
import type { Model, ModelAnswer, ModelRequest } from "../../src/core/ports.ts";
import { callOf, openGuarded } from "../support/guarded.ts";

const LIMITS = { turn: { steps: 1_000, calls: 1_000, tokens: null }, thread: { tokens: null } };
const answer = (more: Partial<ModelAnswer>): ModelAnswer => ({
  ...{ text: "", calls: [], finish: "stop", usage: { prompt: null, completion: null, cached: null }, model: "m" },
  ...more,
});

/** A model that makes many small calls in a small window, and what it says when it is asked for a summary. */
async function worked(
  summary: (request: ModelRequest, n: number) => ModelAnswer,
): Promise<{ entries: Entry[]; asked: ModelRequest[]; warned: string[] }> {
  const asked: ModelRequest[] = [];
  let steps = 0;
  const model: Model = {
    window: async () => 6_000,
    async ask(request) {
      if (request.choice === "none") return summary(request, asked.push(request));
      return steps++ < 120 ? answer({ calls: [callOf(`make ${steps}`)], finish: "calls" }) : answer({ text: "built" });
    },
  };
  const deck = openGuarded({ model, limits: LIMITS, prints: (_, n) => `part ${n} ${"is built ".repeat(20)}` });
  await deck.say("build it");
  await deck.work();
  return { entries: await deck.entries(), asked, warned: deck.warned };
}

const summaries = (entries: Entry[]) =>
  entries.flatMap((entry) => (isEntry(entry, "compacted") ? [entry.summary] : [])).filter((text) => text !== undefined);

test("a summary is asked for with the whole conversation and the same tools, none of which may be called", async () => {
  const { entries, asked } = await worked(() => answer({ text: "Goal: build it." }));
  expect(entries.at(-1)).toMatchObject({ type: "final", text: "built" });
  expect(summaries(entries)[0]).toBe("Goal: build it.");
  expect(asked[0]?.tools.map(({ name }) => name)).toEqual(["bash"]);
  expect(asked[0]?.messages[1]?.content).toBe("Ann: build it");
  expect(asked[0]?.messages.at(-1)?.content).toContain("Do not call a tool");
});

test("a summary that is too long for its room is shortened, and secrets in it are hidden", async () => {
  const { entries } = await worked(() => answer({ text: `ghp_${"a1B2".repeat(9)} ${"and so on ".repeat(5_000)}` }));
  expect(summaries(entries)[0]?.length).toBeLessThan(2_000);
  expect(summaries(entries)[0]).toMatch(/^\[secret\] and so on/);
});

test("a model that cannot read all of it is asked once more with less of each output, then a list of what was run is kept", async () => {
  const { entries, asked, warned } = await worked(() => {
    throw new DeckhandError("MODEL_OVERFLOW");
  });
  expect(entries.at(-1)).toMatchObject({ type: "final", text: "built" });
  expect(summaries(entries)[0]).toMatch(/^No summary could be made\. These calls were made so far:\n- \{"command":"make 1"\}\n/);
  expect(asked.length).toBe(3 * summaries(entries).length);
  expect(warned).toContain("summary-failed");
});

const CALL = '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>';
const bad: [string, Partial<ModelAnswer>][] = [
  ["a refusal", { text: "I cannot help with that.", finish: "refusal" }],
  ["what was cut off", { text: "Goal: bui", finish: "cut" }],
  ["what a filter ended", { text: "Goal: bui", finish: "filter" }],
  ["words beside a call", { text: "I go on.", calls: [callOf("echo more")], finish: "calls" }],
  ["a call that is written as text", { text: CALL }],
  ["nothing", { text: " \n" }],
];
test.each(bad)("%s is no summary: the model is asked once more, then a list of what was run is kept", async (_, said) => {
  const { entries, asked } = await worked((_request, n) => answer(n === 2 ? { text: "Goal: build it." } : said));
  expect(entries.at(-1)).toMatchObject({ type: "final", text: "built" });
  expect(summaries(entries)[0]).toBe("Goal: build it.");
  expect(summaries(entries)[1]).toMatch(/^No summary could be made\. These calls were made so far:\n- /);
  expect(asked.length).toBe(2 + 3 * (summaries(entries).length - 1));
});

test("what is too long in calls, words of the model or of people is shortened for a second try", async () => {
  const sizes: number[] = [];
  let n = 0;
  const model: Model = {
    window: async () => 20_000,
    async ask(request) {
      const size = JSON.stringify(request.messages).length;
      if (request.choice === "none") sizes.push(size);
      if (size > 64_000) throw new DeckhandError("MODEL_OVERFLOW");
      if (request.choice === "none") return answer({ text: "Goal: build it." });
      return n++ < 6
        ? answer({ text: "so ".repeat(2_000), calls: [callOf(`${n}${"x".repeat(12_000)}`)], finish: "calls" })
        : answer({ text: "built" });
    },
  };
  const deck = openGuarded({ model, limits: LIMITS });
  await deck.say("build it ".repeat(1_000));
  await deck.work();
  expect(summaries(await deck.entries())).toContain("Goal: build it.");
  expect(sizes.at(-1)).toBeLessThan(64_000);
  expect(await deck.last()).toMatchObject({ type: "final", text: "built" });
});

test("a model that goes on with calls instead of a summary runs none of them", async () => {
  const { entries } = await worked(() => answer({ calls: [callOf("echo hijacked")], finish: "calls" }));
  expect(entries.at(-1)).toMatchObject({ type: "final", text: "built" });
  expect(JSON.stringify(entries)).not.toContain("hijacked");
});

test("operators are warned when a server counts far less than it was sent", async () => {
  const model: Model = {
    window: async () => null,
    ask: async () => answer({ text: "what?", usage: { prompt: 2_048, completion: 1, cached: null } }),
  };
  const deck = openGuarded({ model });
  await deck.say("word ".repeat(8_000));
  await deck.work();
  expect(deck.warned).toEqual(["request-cut"]);
});
