import { expect, test } from "vitest";
import type { AnswerReader } from "../../src/model/answer.ts";
import { chatReader } from "../../src/model/chat.ts";
import { usageOf, NO_USAGE } from "../../src/model/gather.ts";
import { parseArguments } from "../../src/model/json.ts";
import { responsesReader } from "../../src/model/responses.ts";
import { bodyReader } from "../../src/model/sse.ts";
import { callEvents, completed, event } from "./event-frames.ts";
import { calls, delta, finish } from "./fault-server.ts";

/** Readers without a server between: some of this is millions of events. */
function readAll(reader: AnswerReader, frames: Iterable<unknown>): AnswerReader {
  for (const frame of frames) reader.take(frame);
  return reader;
}

function* times<T>(count: number, make: (at: number) => T): Generator<T> {
  for (let at = 0; at < count; at += 1) yield make(at);
}

const chat = () => chatReader(["bash"], "m");
const responses = () => responsesReader(["bash"], "m");
const DEEP = JSON.parse(`${"[".repeat(30_000)}${"]".repeat(30_000)}`) as unknown;
const deepText = (levels: number) => `{"command":"x","y":${"[".repeat(levels)}${"]".repeat(levels)}}`;

test.each([
  [
    { prompt_tokens: 7, completion_tokens: 2 },
    { prompt: 7, completion: 2, cached: null },
  ],
  [{ prompt_tokens: -1e9, completion_tokens: -5 }, NO_USAGE],
  [{ prompt_tokens: 1e308, completion_tokens: 1e308 }, NO_USAGE],
  [
    { prompt_tokens: 1.5, completion_tokens: 3 },
    { prompt: null, completion: 3, cached: null },
  ],
  [
    { prompt_tokens: "7", completion_tokens: 3 },
    { prompt: null, completion: 3, cached: null },
  ],
  [
    { prompt_tokens: 1e9, completion_tokens: 1e9 + 1 },
    { prompt: 1e9, completion: null, cached: null },
  ],
  [
    { prompt_tokens: 7, completion_tokens: 2, prompt_tokens_details: { cached_tokens: -4 }, cached_tokens: 3 },
    { prompt: 7, completion: 2, cached: 3 },
  ],
  [
    { input_tokens: 7, output_tokens: 2, output_tokens_details: { reasoning_tokens: -3 }, input_tokens_details: { cached_tokens: -1 } },
    { prompt: 7, completion: 2, cached: null },
  ],
])("of usage only figures count that can be true: %j", (sent, known) => {
  expect(usageOf(sent, NO_USAGE)).toEqual(known);
});

test("arguments nested deeper than anybody means do not count as arguments", () => {
  expect(parseArguments(deepText(90))).toMatchObject({ command: "x" });
  for (const levels of [101, 30_000]) {
    for (const raw of [deepText(levels), deepText(levels) + deepText(levels), JSON.stringify(deepText(levels))]) {
      expect(parseArguments(raw)).toBeNull();
    }
  }
});

test("what is nested too deeply, wherever it stands, breaks nothing and runs nothing", () => {
  const args = { command: "x", y: DEEP };
  const pieces: object[] = [
    calls({ index: 0, function: { name: "bash", arguments: args } }),
    calls({ index: DEEP, id: DEEP, function: { name: "bash", arguments: deepText(30_000) } }),
    calls({ index: 0, function: { name: "bash", arguments: args }, extra_content: DEEP }),
  ];
  for (const piece of pieces) {
    const answer = readAll(chat(), [{ ...piece, model: DEEP, usage: { prompt_tokens: DEEP } }, finish("stop")]).answer();
    expect([answer.finish, answer.calls.map((call) => call.args)]).toEqual(["cut", [null]]);
    expect(() => JSON.stringify(answer)).not.toThrow();
  }
  const done = event("output_item.done", { output_index: 0, item: { type: "function_call", id: "a", name: "bash", arguments: args } });
  const bad = [
    [done],
    [event("function_call_arguments.delta", { output_index: DEEP, item_id: DEEP, delta: args })],
    [event("function_call_arguments.done", { sequence_number: 1, item_id: DEEP, content_index: DEEP, arguments: args })],
  ];
  for (const events of bad) {
    const answer = readAll(responses(), [...events, completed()]).answer();
    expect([answer.finish, answer.calls.map((call) => call.args)]).toEqual(["cut", [null]]);
  }
  const text = { sequence_number: 1, content_index: DEEP, summary_index: { toString: 1 }, delta: "hi" };
  expect(readAll(responses(), [event("output_text.delta", text), completed()]).answer().text).toBe("hi");
});

test("thoughts to be given back that are nested too deeply are left out", () => {
  const detail = { type: "reasoning.encrypted", data: "x", index: DEEP, y: DEEP };
  const odd = { type: "reasoning.encrypted", data: "x", index: { toString: 1 } };
  const said = readAll(chat(), [delta({ content: "hi", reasoning_details: [detail, odd] }), finish("stop")]).answer();
  expect([said.text, said.echo]).toEqual(["hi", [odd]]);
  const item = { type: "reasoning", id: "r", summary: [DEEP], encrypted_content: "x", status: DEEP };
  const answer = readAll(responses(), [event("output_item.done", { item }), completed()]).answer();
  expect(answer.echo).toEqual([{ type: "reasoning", id: "r", summary: [], encrypted_content: "x" }]);
});

test.each([
  [
    "chat",
    () =>
      readAll(
        chat(),
        times(257, (at) => calls({ index: at, id: `i${at}`, function: { name: "bash", arguments: "{}" } })),
      ),
  ],
  ["chat, in one chunk", () => readAll(chat(), [calls(...times(300, (at) => ({ id: `i${at}`, function: { name: "bash" } })))])],
  [
    "responses",
    () =>
      readAll(
        responses(),
        times(257, (at) => callEvents(`c${at}`, ["{}"], at)[0]),
      ),
  ],
  [
    "responses, in the last list",
    () => readAll(responses(), [completed([...times(300, (at) => ({ type: "function_call", id: `c${at}`, name: "bash" }))])]),
  ],
])("more calls than any answer has are a cut: %s", (_, read) => {
  expect(read).toThrow("MODEL_CUT");
});

test.each([
  ["names of calls", chat, (at: number) => calls({ index: 0, function: { name: `${at % 2}`.repeat(100_000) } })],
  ["ids of calls", chat, (at: number) => calls({ index: at, id: `${at}`.padEnd(300_000), function: {} })],
  [
    "what a call must carry back",
    chat,
    (at: number) => calls({ index: at % 250, function: {}, extra_content: { at, x: "x".repeat(200_000) } }),
  ],
  ["signed thoughts", chat, (at: number) => delta({ reasoning_details: [{ index: at, type: "t", data: "x".repeat(100_000) }] })],
  [
    "names in items",
    responses,
    (at: number) => event("output_item.added", { item: { type: "function_call", id: `${at}`, name: "n".repeat(300_000) } }),
  ],
  [
    "items that are said whole",
    responses,
    (at: number) => event("output_item.done", { item: { type: "reasoning", id: `${at}`, encrypted_content: "x".repeat(100_000) } }),
  ],
  ["parts", responses, (at: number) => event("output_text.delta", { output_index: 0, content_index: at, delta: "" })],
  ["items", responses, (at: number) => event("output_item.added", { output_index: at, item: { type: "message", id: `${at}` } })],
])("an answer that grows without end is ended: %s", (_, reader, make) => {
  expect(() => readAll(reader(), times(20_000, make))).toThrow("MODEL_CUT");
});

test("lines of one event without end are ended", () => {
  const line = new TextEncoder().encode(`data: ${"x".repeat(100_000)}\n`);
  const reader = bodyReader();
  expect(() => [...times(1_000, () => [...reader.push(line)])]).toThrow("MODEL_CUT");
});

test("a new id with each piece of a long call is no work without end", () => {
  const reader = chat();
  reader.take(calls({ index: 0, id: "i", function: { name: "bash", arguments: '{"x":"' } }));
  const read = () =>
    readAll(
      reader,
      times(100_000, (at) => calls({ index: 0, id: `i${at}`, function: { arguments: "some text that ends as if }" } })),
    );
  expect(read).toThrow("MODEL_CUT");
});
