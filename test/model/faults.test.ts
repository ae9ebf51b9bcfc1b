import { afterAll, beforeAll, expect, test } from "vitest";
import { ERRORS } from "../../src/core/errors.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { systemClock } from "../../src/system.ts";
import { type Guarded, openGuarded } from "../support/guarded.ts";
import { type Answer, calls, delta, type FaultServer, finish, type Frame, startFaultServer } from "./fault-server.ts";

const THREADS = 100;
const TURNS = 5;
/** No wait is longer in this test, whoever asks for it. */
const LONGEST = 10;
const POLL = 400;

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

/** The same numbers in every run (mulberry32). */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const text = (words: string): Answer => ({
  frames: [delta({ content: words.slice(0, 3) }), delta({ content: words.slice(3) }), finish("stop"), "[DONE]"],
});
const call = (name: string, args: string, index = 0): object =>
  calls({ index, id: `c${index}`, type: "function", function: { name, arguments: args } });
const command = (line: string): string => JSON.stringify({ command: line });
const run = (line: string): Answer => ({ frames: [call("bash", command(line)), finish("tool_calls"), "[DONE]"] });
/** A whole call in a message that is broken off like this. */
const broken = (...ends: Frame[]): Answer => ({ frames: [delta({ content: "I will" }), call("bash", command("cut whole")), ...ends] });
const fails = (status: number, error: object, headers: Record<string, string> = {}): Answer => ({
  status,
  body: JSON.stringify({ error }),
  headers,
});
const frames = (...list: Frame[]): Answer => ({ frames: list });

/** What is named `ok` may run; what is named `cut` never. */
const ANSWERS: Answer[] = [
  ...Array.from({ length: 6 }, () => text("That is all.")),
  ...Array.from({ length: 5 }, () => run("ok")),
  frames(call("bash", command("ok one")), call("bash", command("ok two"), 1), finish("tool_calls"), "[DONE]"),
  frames(call("bash", command("ok slow")), { __wait: 5 }, { __raw: ": ping\n\n" }, { __wait: 5 }, finish("stop")),
  // cut, reset, silent, too long, broken off by the service, half a call relabelled as whole
  broken(),
  broken("__reset"),
  broken("__silence"),
  broken(finish("length"), "[DONE]"),
  broken(finish("error"), "[DONE]"),
  broken({ error: { message: "out of memory", code: 502 } }),
  broken({ __raw: "data: {not json\n\n" }, "__reset"),
  frames(call("bash", '{"command":"cut ha'), finish("tool_calls"), "[DONE]"),
  frames(call("bash", '{"command":"cut one"}{"command":"cut two"}'), finish("tool_calls"), "[DONE]"),
  frames(call("bash", command("cut beside")), call("bash", '{"command":', 1), finish("tool_calls"), "[DONE]"),
  text(`<tool_call>{"name":"bash","arguments":${command("cut written")}}</tool_call>`),
  // no answer at all
  frames("__silence"),
  frames("__reset"),
  frames(),
  text(""),
  { type: "text/html", body: "<html><title>Login</title></html>" },
  { body: '{"nothing":"of use"}' },
  { type: "text/event-stream", body: "\u0000\u0001garbage\n\n%%%\n\n" },
  frames(call("no-such-tool", "{}"), finish("tool_calls"), "[DONE]"),
  // refusals, some of which pass
  fails(429, { message: "slow down" }),
  fails(429, { message: "slow down" }, { "retry-after": "2" }),
  fails(429, { message: "slow down" }, { "retry-after": "86400" }),
  fails(429, { message: "no credit", code: "insufficient_quota" }),
  fails(500, { message: "oops" }),
  fails(503, { message: "loading" }, { "retry-after": "1" }),
  { status: 502, type: "text/html", body: "<html><title>Bad gateway</title></html>" },
  fails(400, { message: "Failed to call a function", code: "tool_use_failed", failed_generation: "<function=bash{cut failed}" }),
  fails(400, { message: "blocked", code: "content_filter" }),
  fails(400, { message: "maximum context length is 900 tokens" }),
];

test(`${THREADS * TURNS} turns with a service that fails in every way: each ends in an answer or a clear line, nothing of a cut message runs, and the next turn works`, async () => {
  const roll = dice(20_261_130);
  server.next = (asked, body) => {
    if (asked.startsWith("GET")) return { status: 404, body: "{}" };
    if (JSON.stringify(body["messages"]).includes("calm now")) return text("It is calm.");
    return ANSWERS[Math.floor(roll() * ANSWERS.length)] as Answer;
  };
  const ran: string[] = [];
  const unheld: unknown[] = [];
  const note = (thrown: unknown) => unheld.push(thrown);
  process.on("unhandledRejection", note);
  const ends = await Promise.all(Array.from({ length: THREADS }, (_, index) => playThread(index, ran)));
  await new Promise((done) => setTimeout(done, 100));
  process.off("unhandledRejection", note);
  expect(unheld).toEqual([]);
  expect(ends.flatMap(({ turns }) => turns)).toHaveLength(THREADS * TURNS);
  expect(ran.filter((line) => !line.startsWith("ok"))).toEqual([]);
  expect(ran.length).toBeGreaterThan(100);
  // It has met all of it: answers, and many of the ways to fail.
  const all = ends.flatMap(({ turns }) => turns);
  expect(all.filter((end) => end === "final").length).toBeGreaterThan(THREADS);
  expect(new Set(all).size).toBeGreaterThan(4);
  expect(ends.reduce((sum, { cut }) => sum + cut, 0)).toBeGreaterThan(50);
}, 120_000);

/** How each turn of a thread has ended, and how many calls were not run as they were cut; the calm turn at the end has to be answered. */
async function playThread(index: number, ran: string[]): Promise<{ turns: string[]; cut: number }> {
  const model = openaiModel({ apiKey: null, baseUrl: server.url, model: "m", window: 100_000, firstByteMs: 1_500, idleMs: 1_500 });
  const deck = openGuarded({
    answers: () => "",
    thread: `1.${index + 1}`,
    prints: (line) => {
      ran.push(line);
      return "out";
    },
    hands: {
      model,
      modelFor: () => model,
      clock: { now: Date.now, sleep: (ms, signal) => systemClock.sleep(ms === POLL ? ms : Math.min(ms, LONGEST), signal) },
      stopPollMs: POLL,
      retry: { tries: 3, baseMs: 1, maxMs: LONGEST, retryAfterMaxMs: 600_000 },
    },
  });
  const turns: string[] = [];
  for (let n = 0; n < TURNS; n += 1) turns.push(await playTurn(deck, `task ${n}`));
  // A busy machine may be slower than the model's time limit here.
  let calm = "";
  for (let tries = 0; calm !== "final" && tries < 4; tries += 1) calm = await playTurn(deck, "calm now");
  expect(calm).toBe("final");
  expect(await deck.last()).toMatchObject({ text: "It is calm." });
  const cut = (await deck.entries()).filter((entry) => entry.type === "run-ended" && entry.why === "cut").length;
  return { turns, cut };
}

async function playTurn(deck: Guarded, words: string): Promise<string> {
  await deck.say(words);
  await deck.work();
  // A model whose calls cannot be understood is asked about.
  for (let tries = 0; (await deck.last())?.type === "paused" && tries < 5; tries += 1) {
    await deck.choose("stop");
    await deck.work();
  }
  const last = await deck.last();
  if (last?.type === "failed") {
    expect(last.text).toMatch(/^[A-Z][^\n]*\. [A-Z][^\n]*\((\w+)\)$/);
    expect(last.text).not.toMatch(/\[object|at .*\.ts:\d/);
    expect(Object.keys(ERRORS)).toContain(last.code);
    expect(last.code).not.toBe("INTERNAL");
    return last.code;
  }
  expect(last?.type).toBe("final");
  return "final";
}
