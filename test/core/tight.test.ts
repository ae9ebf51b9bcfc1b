import { describe, expect, test } from "vitest";
import { DeckhandError } from "../../src/core/errors.ts";
import { isEntry } from "../../src/core/entry.ts";
import type { Model, ModelAnswer, ModelRequest } from "../../src/core/ports.ts";
import { callOf, type Guarded, openGuarded } from "../support/guarded.ts";

/** A model that reads so many tokens and refuses more; `told`: what it says of that. */
function strict(window: number, told: number | null, say: (n: number) => Partial<ModelAnswer>, name = "m"): Model & { over: number } {
  let n = 0;
  const model = {
    ...{ name, over: 0, window: async () => told },
    async ask(request: ModelRequest): Promise<ModelAnswer> {
      const tokens = Math.ceil(JSON.stringify(request.messages).length / 3.2);
      if (tokens > window) {
        // A summary may have to be asked for twice.
        if (request.choice !== "none") model.over += 1;
        throw new DeckhandError("MODEL_OVERFLOW");
      }
      const usage = { prompt: tokens, completion: 10, cached: null };
      const answer: ModelAnswer = { text: "", calls: [], finish: "stop", usage, model: name, by: name };
      return { ...answer, ...(request.choice === "none" ? { text: "Goal: all is well." } : say(n++)) };
    },
  };
  return model;
}

const call = (command: string, ...more: string[]): Partial<ModelAnswer> => ({
  calls: [command, ...more].map((each) => callOf(each)),
  finish: "calls",
});
const fine = { text: "fine" };

async function ends(deck: Guarded, ...texts: string[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const text of texts) {
    await deck.say(text);
    await deck.work();
    all.push((await deck.last())?.type);
  }
  return all;
}

describe("a turn in a small window goes on after", () => {
  test("a call with arguments that are larger than the window", async () => {
    const model = strict(8_192, 8_192, (n) => (n === 0 ? call("x".repeat(60_000)) : fine));
    const deck = openGuarded({ model });
    expect(await ends(deck, "go", "and now?")).toEqual(["final", "final"]);
    expect(model.over).toBe(0);
  });

  test("words and thoughts of the model beside a call that are larger than the window", async () => {
    const long = { text: "I think. ".repeat(8_000), reasoning: "hm ".repeat(20_000), ...call("ls") };
    const deck = openGuarded({ model: strict(8_192, 8_192, (n) => (n === 0 ? long : fine)) });
    expect(await ends(deck, "go", "and now?")).toEqual(["final", "final"]);
  });

  test("an answer of thousands of calls, of which none runs", async () => {
    const many = Array.from({ length: 3_000 }, (_, n) => `echo ${n}`);
    const deck = openGuarded({ model: strict(32_768, 32_768, (n) => (n === 0 ? call("ls", ...many) : fine)) });
    expect(await ends(deck, "go", "and now?")).toEqual(["final", "final"]);
    const entries = await deck.entries();
    expect(entries.some((entry) => isEntry(entry, "run-started"))).toBe(false);
    expect(entries.length).toBeLessThan(50);
  });

  test("the fallback model had to be asked, which reads less than the first: in the same turn", async () => {
    let isDown = false;
    const first = strict(100_000, 100_000, (n) => {
      isDown = n === 12;
      return call(`cat ${n}`);
    });
    const model: Model = {
      ...first,
      async ask(request, options) {
        if (isDown) throw new DeckhandError("MODEL_DOWN", "gone", { retryAfterMs: 0 });
        return await first.ask(request, options);
      },
    };
    const spare = strict(8_192, 8_192, (n) => (n === 0 ? call("cat more") : fine), "s");
    const deck = openGuarded({ model, prints: () => "o ".repeat(6_000), hands: { fallback: spare } });
    expect(await ends(deck, "go")).toEqual(["final"]);
    // What is known to be too long is not even sent.
    expect(spare.over).toBe(0);
  });
});

describe("AGENTS.md", () => {
  const agents = async (notes: string, model: Model): Promise<string> => {
    const deck = openGuarded({ model, notes });
    await deck.say("hi");
    await deck.work();
    return (await deck.entries()).find((entry) => isEntry(entry, "brief"))?.text ?? "";
  };

  test("is not told at greater length because it has many short lines", async () => {
    const of = (notes: string) =>
      agents(
        notes,
        strict(1e9, 200_000, () => fine),
      );
    expect((await of(".\n".repeat(7_500))).length).toBeLessThan(8_600);
    expect((await of(".\r".repeat(7_500))).length).toBeLessThan(8_600);
  });

  test("shrinks where the endpoint turns out to read very little", async () => {
    const notes = "Use tabs in Go files and write a test for each one of them, please.\n".repeat(140);
    const model = strict(1_900, null, () => fine);
    expect(await ends(openGuarded({ notes, model }), "hello", "again", "and again")).toEqual(["final", "final", "final"]);
    expect(model.over).toBe(1);
  });
});
