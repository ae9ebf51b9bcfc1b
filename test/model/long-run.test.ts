import { afterEach, beforeEach, expect, test } from "vitest";
import { type Entry, isEntry } from "../../src/core/entry.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { type Guarded, openGuarded } from "../support/guarded.ts";
import { type Answer, calls, delta, type FaultServer, finish, startFaultServer } from "./fault-server.ts";

const WINDOW = 32_768;
const LIMITS = { turn: { steps: 10_000, calls: 10_000, tokens: null, ms: 1e12 }, thread: { tokens: null } };
const SUMMARY = "Goal: build it. State: it is being built. Open: the rest.";

let server: FaultServer;
beforeEach(async () => {
  server = await startFaultServer();
});
afterEach(() => server.close());

/** An endpoint that reads so many tokens, counted by a rule of its own, and a worker that talks to it. */
function openLong({ steps, reads, says, window }: { steps: number; reads: number; says?: string; window?: number }) {
  const counted: number[] = [];
  let step = 0;
  server.next = (asked, body) => {
    if (asked.startsWith("GET")) return { status: 404, body: "{}" };
    const tokens = Math.ceil(Buffer.byteLength(JSON.stringify([body["messages"], body["tools"]])) / 2.5);
    counted.push(tokens);
    if (tokens > reads)
      return {
        status: 400,
        body: JSON.stringify({ error: { message: says ?? `maximum context length is ${reads} tokens`, code: "context_length_exceeded" } }),
      };
    const usage = { choices: [], usage: { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 } };
    if (body["tool_choice"] === "none") return said([delta({ content: SUMMARY }), finish("stop"), usage]);
    if (step === steps) return said([delta({ content: "built" }), finish("stop"), usage]);
    const call = {
      index: 0,
      id: "x",
      type: "function",
      function: { name: "bash", arguments: JSON.stringify({ command: `make part-${(step += 1)}` }) },
    };
    return said([calls(call), finish("tool_calls"), usage]);
  };
  const prints = (command: string, n: number): string => `${command}\n${`${n} ${"object.o ".repeat(7)}\n`.repeat(300)}`;
  const options = { baseUrl: server.url, apiKey: "k", model: "m", api: "chat" as const, ...(window === undefined ? {} : { window }) };
  const deck = openGuarded({ model: openaiModel(options), limits: LIMITS, prints });
  return { deck, counted };
}

function said(frames: object[]): Answer {
  return { frames: [...frames, "[DONE]"] };
}

function ofType(entries: Entry[], type: Entry["type"]): Entry[] {
  return entries.filter((entry) => entry.type === type);
}

/** Each message of each request as it was sent. */
function sent(): string[][] {
  return server.bodies.map(({ messages }) => (messages as unknown[]).map((message) => JSON.stringify(message)));
}

async function worked(deck: Guarded, words = "Build all of it. The release is called Kestrel."): Promise<Entry[]> {
  await deck.say(words);
  await deck.work();
  return await deck.entries();
}

test("400 steps with outputs of 20 kB fit into a window of 32k: it is never exceeded, and the first words stay", {
  timeout: 60_000,
}, async () => {
  const { deck, counted } = openLong({ steps: 400, reads: WINDOW });
  const entries = await worked(deck);

  expect(entries.at(-1)).toMatchObject({ type: "final", text: "built" });
  expect(ofType(entries, "run-ended")).toHaveLength(400);
  expect(Math.max(...counted)).toBeLessThanOrEqual(WINDOW);

  // Each request extends the one before, but after a crossing; and nothing is changed where there was room.
  const requests = sent().filter((_, at) => server.bodies[at]?.["tool_choice"] !== "none");
  const breaks = requests.slice(1).filter((now, at) => (requests[at] ?? []).some((message, n) => now[n] !== message));
  const made = entries.filter((entry) => isEntry(entry, "compacted"));
  expect(breaks.length).toBeLessThanOrEqual(made.length);
  expect(made.every(({ tokens, overflow }) => tokens >= WINDOW * 0.7 && !overflow)).toBe(true);
  expect(made.length).toBeLessThan(230);
  expect(made.some(({ summary }) => summary === SUMMARY)).toBe(true);
  expect(requests.at(-1)?.[1]).toContain("Build all of it. The release is called Kestrel.");
  expect(requests.at(-1)?.join("")).toContain("make part-400");
});

test("an endpoint that reads less than anybody said is asked again with less, and the work goes on", { timeout: 30_000 }, async () => {
  const { deck, counted } = openLong({ steps: 12, reads: 14_000, says: "prompt is too long", window: 200_000 });
  const entries = await worked(deck);
  expect(entries.at(-1)).toMatchObject({ type: "final", text: "built" });
  expect(counted.filter((tokens) => tokens > 14_000).length).toBeGreaterThan(0);
  expect(ofType(entries, "compacted").length).toBeGreaterThan(0);
});

test("a second refusal in a row ends with a line that says what to do, and the thread's next words get an answer", async () => {
  const { deck, counted } = openLong({ steps: 0, reads: 20, says: "prompt is too long" });
  const entries = await worked(deck, `Read this: ${"word ".repeat(8_000)}`);
  expect(entries.at(-1)).toMatchObject({ type: "failed", code: "MODEL_OVERFLOW" });
  expect(entries.at(-1)).toHaveProperty("text", expect.stringContaining("Start a new thread, or choose a model with a larger window"));
  expect(ofType(entries, "compacted")).toHaveLength(1);
  expect(counted).toHaveLength(2);

  const { deck: later } = openLong({ steps: 0, reads: 4_000, says: "prompt is too long" });
  expect((await worked(later, `Read this: ${"word ".repeat(8_000)}`)).at(-1)).toMatchObject({ type: "final", text: "built" });
  expect((await later.posts()).join("\n")).toContain("of a long message it gets the beginning and the end");
});

test("the thread is told once when a summary stands for the earlier work, and not when outputs are taken out", {
  timeout: 30_000,
}, async () => {
  const { deck } = openLong({ steps: 60, reads: 8_192, window: 8_192 });
  const entries = await worked(deck);
  const summaries = entries.filter((entry) => isEntry(entry, "compacted") && entry.summary !== undefined);
  const told = (await deck.posts()).filter((post) => post.includes("This thread has grown long"));
  expect(summaries.length).toBeGreaterThan(0);
  expect(told).toHaveLength(summaries.length);
  expect(entries.at(-1)).toMatchObject({ type: "final", text: "built" });
});

test("a service that is away while a summary is asked for ends the turn with its own line, and nothing is forgotten", async () => {
  const { deck } = openLong({ steps: 60, reads: 8_192, window: 8_192 });
  const answers = server.next as (asked: string, body: Record<string, unknown>) => Answer;
  server.next = (asked, body) =>
    body["tool_choice"] === "none" ? { status: 401, body: '{"error":{"message":"no key"}}' } : answers(asked, body);
  const entries = await worked(deck);
  expect(entries.at(-1)).toMatchObject({ type: "failed", code: expect.stringMatching(/^MODEL_/) as string });
  expect(entries.at(-1)).not.toMatchObject({ code: "MODEL_OVERFLOW" });
  expect(entries.filter((entry) => isEntry(entry, "compacted") && entry.summary !== undefined)).toEqual([]);
});
