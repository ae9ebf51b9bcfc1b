import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DeckhandError } from "../../src/core/errors.ts";
import type { ModelAnswer } from "../../src/core/ports.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { callEvents, callItem, completed, event, incomplete, textEvents, textItem } from "./event-frames.ts";
import { calls, delta, type FaultServer, finish, type Frame, startFaultServer } from "./fault-server.ts";

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

type Api = "chat" | "responses";

async function ask(api: Api, frames: Frame[]): Promise<ModelAnswer> {
  server.next = { frames };
  const model = openaiModel({ apiKey: null, baseUrl: server.url, model: "m", api });
  const request = { messages: [{ role: "user" as const, content: "go" }], tools: [bash] };
  return await model.ask(request, { signal: new AbortController().signal });
}

/** How it ended, and the commands that would run; the code of an error. */
async function outcome(api: Api, frames: Frame[]): Promise<unknown[]> {
  const answer = await ask(api, frames).catch((thrown: unknown) => thrown);
  if (answer instanceof DeckhandError) return [answer.code];
  if (answer instanceof Error) throw answer;
  const { finish: how, calls: all } = answer as ModelAnswer;
  return how === "calls" ? [how, ...all.map(({ args }) => args?.["command"])] : [how];
}

const command = (text: string): string => JSON.stringify({ command: text });
const call = (args: unknown, more: object = {}) => calls({ index: 0, id: "c", function: { name: "bash", arguments: args }, ...more });
const END: Frame[] = [finish("tool_calls"), "[DONE]"];
const LONG = "é\\\n".repeat(100_000);
const before = Array.from({ length: 6 }, () => "t".repeat(50_000));
const thoughts = before.map((piece) => delta({ reasoning_content: piece }));

describe("a long string is what it says, also late in a long answer", () => {
  test("in one piece of a call", async () => {
    expect(await outcome("chat", [...thoughts, call(command(LONG)), ...END])).toEqual(["calls", LONG]);
    const frames = [...textEvents(before), ...callEvents("a", [command(LONG)], 1), completed()];
    expect(await outcome("responses", frames)).toEqual(["calls", LONG]);
  });

  test("in the middle of a command that would be another one without it", async () => {
    const middle = JSON.stringify(`/${LONG} # `).slice(1, -1);
    const pieces = ['{"command":"rm -rf ./build', middle, '; ls"}'];
    const whole = `rm -rf ./build/${LONG} # ; ls`;
    const chat = pieces.map((piece, at) => (at === 0 ? call(piece) : calls({ index: 0, function: { arguments: piece } })));
    expect(await outcome("chat", [...thoughts, ...chat, ...END])).toEqual(["calls", whole]);
    const frames: Frame[] = [
      ...textEvents(before),
      ...callEvents("a", pieces, 1),
      completed([textItem(before.join("")), callItem("a", pieces.join(""))]),
    ];
    expect(await outcome("responses", frames)).toEqual(["calls", whole]);
  });

  test("in a text", async () => {
    const frames: Frame[] = [...before.map((content) => delta({ content })), delta({ content: LONG }), finish("stop"), "[DONE]"];
    expect((await ask("chat", frames)).text).toBe(before.join("") + LONG);
    expect((await ask("responses", [...textEvents([...before, LONG]), completed([textItem(before.join("") + LONG)])])).text).toBe(
      before.join("") + LONG,
    );
  });

  test("what is said only whole may be too long to be read, and never passes for something else", async () => {
    const done = event("function_call_arguments.done", { output_index: 1, item_id: "a", arguments: command(LONG) });
    const item = event("output_item.done", { output_index: 1, item: callItem("a", command(LONG)) });
    const other: Frame[] = [...callEvents("a", [command("ls")], 1, true), item];
    for (const frames of [[done, item], [done], [item], other]) {
      const [how, ...ran] = await outcome("responses", [...textEvents(before), ...frames, completed()]);
      expect([[], [LONG]]).toContainEqual(ran);
      expect(how).toBe(ran.length > 0 ? "calls" : "cut");
    }
    const texts = [...textEvents(before), event("output_text.done", { output_index: 1, item_id: "m2", content_index: 0, text: LONG })];
    const { finish: how, text } = await ask("responses", [...texts, completed()]);
    expect(how === "cut" || text === before.join("") + "\n\n" + LONG).toBe(true);
  });

  test("thoughts that only the endpoint can read come back whole", async () => {
    const thought = { type: "reasoning", id: "r", summary: [], encrypted_content: "x".repeat(400_000) };
    const frames = [...textEvents(before), event("output_item.done", { output_index: 1, item: thought }), completed()];
    expect((await ask("responses", frames)).echo).toContainEqual(thought);
  });
});

describe("the name of an end", () => {
  const CUT = `MAX_TOKENS max_completion_tokens MaxTokens token_limit max_length timeout time-out error_limit user_cancel
    malformed_function_call incomplete pause_turn truncated interrupted upstream_error length_limit`;
  const FILTERED = `recitation prohibited_content BLOCKLIST guardrail_intervened content-filter ContentFiltered refusal IMAGE_SAFETY SPII`;
  test.each([
    ...CUT.split(/\s+/).map((name) => [name, "cut"]),
    ...FILTERED.split(/\s+/).map((name) => [name, "filter"]),
    ["function_call_filter: MALFORMED_FUNCTION_CALL", "filter"],
  ])("%s runs nothing: %s", async (name, how) => {
    expect(await outcome("chat", [call(command("ls")), finish(name as string), "[DONE]"])).toEqual([how]);
  });

  test.each(["eos", "end_turn", "stop_sequence", "STOP", "tool_use", "function_call", "complete"])("%s is an end", async (name) => {
    expect(await outcome("chat", [call(command("ls")), finish(name), "[DONE]"])).toEqual(["calls", "ls"]);
  });
});

describe("Responses: any sign that an answer is not whole counts", () => {
  const response = (more: object) => ({ response: { object: "response", status: "completed", output: [], ...more } });
  test.each<[string, Frame[]]>([
    ["the type of the last event", [event("incomplete", response({}))]],
    ["its details", [event("completed", response({ incomplete_details: { reason: "max_output_tokens" } }))]],
    ["its details without a status", [event("completed", { response: { incomplete_details: { reason: "x" } } })]],
    ["its status", [event("completed", response({ status: "expired" }))]],
    ["the status of an item in its list", [completed([callItem("a", command("ls"), { status: "incomplete" })])]],
    ["the status of another item", [event("output_item.done", { item: textItem("hi", { status: "incomplete" }) }), completed()]],
  ])("%s", async (_, frames) => {
    expect(await outcome("responses", [...callEvents("a", [command("ls")], 0), ...frames])).toEqual(["cut"]);
  });

  test("the status that an item began with", async () => {
    const [, ...pieces] = callEvents("a", [command("ls")], 0, true);
    const added = event("output_item.added", { output_index: 0, item: callItem("a", "", { status: "incomplete" }) });
    expect(await outcome("responses", [added, ...pieces, completed()])).toEqual(["cut"]);
  });

  test("a filter under another name", async () => {
    expect(await outcome("responses", [...callEvents("a", [command("ls")], 0), incomplete("safety_block")])).toEqual(["filter"]);
  });
});

describe("Responses: the list at the end", () => {
  const A = command("A");
  const B = command("B");
  const both = [...callEvents("a", [A], 0, true), ...callEvents("b", [B], 1, true)];
  test.each<[string, object[], unknown[]]>([
    ["only the second", [callItem("b", B)], ["calls", "A", "B"]],
    ["only the second, under another id", [callItem("x", B)], ["calls", "A", "B"]],
    ["both the other way round", [callItem("b", B), callItem("a", A)], ["calls", "A", "B"]],
    ["both the other way round, without ids", [callItem("", B), callItem("", A)], ["calls", "A", "B"]],
    ["one that is neither, under another id", [callItem("x", command("C"))], ["cut"]],
    ["one more", [callItem("a", A), callItem("b", B), callItem("c", command("C"))], ["calls", "A", "B", "C"]],
  ])("says %s", async (_, list, expected) => {
    expect(await outcome("responses", [...both, completed(list)])).toEqual(expected);
  });

  test("says a call whole whose pieces were lost", async () => {
    const frames = [...callEvents("a", ['{"comm'], 0, true), completed([callItem("x", A)])];
    expect(await outcome("responses", frames)).toEqual(["calls", "A"]);
  });
});

describe("Chat: one answer of several, and one that is said again", () => {
  test("only the first choice counts", async () => {
    const other = {
      choices: [{ index: 1, delta: { content: "b", tool_calls: [{ index: 0, function: { arguments: "x" } }] }, finish_reason: "stop" }],
    };
    expect(await outcome("chat", [call(command("ls")), other, ...END])).toEqual(["calls", "ls"]);
    expect(await outcome("chat", [call(command("ls")), other])).toEqual(["MODEL_CUT"]);
    const swapped = { choices: [...other.choices, { index: 0, delta: { content: "a" }, finish_reason: "stop" }] };
    expect((await ask("chat", [swapped])).text).toBe("a");
  });

  test("a whole message behind its pieces adds nothing", async () => {
    const tool_calls = [{ id: "c", function: { name: "bash", arguments: command("ls") } }];
    const last = { choices: [{ index: 0, message: { role: "assistant", content: "Hello", tool_calls }, finish_reason: "stop" }] };
    const answer = await ask("chat", [delta({ content: "Hel" }), delta({ content: "lo" }), call(command("ls")), last, "[DONE]"]);
    expect([answer.text, answer.calls.length, answer.finish]).toEqual(["Hello", 1, "calls"]);
    expect(await outcome("chat", [delta({ content: "Hello" }), last])).toEqual(["calls", "ls"]);
  });
});

test.each<Api>(["chat", "responses"])("bytes over %s that are no text cut the message", async (api) => {
  const bytes = (frame: object) => {
    const parts = JSON.stringify(frame).split("@");
    return { __raw: Buffer.concat([Buffer.from(`data: ${parts[0] ?? ""}`), Buffer.from([0xff]), Buffer.from(`${parts[1] ?? ""}\n\n`)]) };
  };
  const broken = command("rm @x");
  if (api === "chat") expect(await outcome(api, [bytes(call(broken)), ...END])).toEqual(["cut"]);
  else {
    const [added, piece] = callEvents("a", [broken], 0, true);
    expect(await outcome(api, [added as Frame, bytes(piece as object), completed()])).toEqual(["cut"]);
  }
  const replaced = command("ls \ufffd");
  const fine = api === "chat" ? [call(replaced), ...END] : [...callEvents("a", [replaced], 0), completed()];
  expect(await outcome(api, fine)).toEqual(["calls", "ls \ufffd"]);
});

test("an error in a form that nobody can read is an error", async () => {
  const deep = { __raw: `data: {"error":{"x":${"[".repeat(30_000)}${"]".repeat(30_000)}}}\n\n` };
  const odd = { error: { code: { toString: 1 }, status: { valueOf: 1, toString: 1 }, n_ctx: { toString: 1 }, message: "bad" } };
  for (const frame of [deep, odd]) expect(await outcome("chat", [frame])).toEqual(["MODEL_DOWN"]);
  expect(await outcome("responses", [{ type: "error", ...odd }])).toEqual(["MODEL_DOWN"]);
});
