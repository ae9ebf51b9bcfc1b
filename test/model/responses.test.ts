import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DeckhandError } from "../../src/core/errors.ts";
import type { ModelAnswer } from "../../src/core/ports.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { callEvents, callItem, completed, event, incomplete, numbered, textEvents, textItem } from "./event-frames.ts";
import { type Answer, type FaultServer, type Frame, startFaultServer } from "./fault-server.ts";

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };
const LS = ['{"comm', 'and":"ls"}'];
const PWD = ['{"command":"pwd"}'];
const ls = { name: "bash", args: { command: "ls" } };
const pwd = { name: "bash", args: { command: "pwd" } };

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

const heard: string[] = [];
async function ask(next: Frame[] | Answer): Promise<ModelAnswer> {
  server.next = Array.isArray(next) ? { frames: next } : next;
  heard.length = 0;
  const model = openaiModel({ apiKey: "sk-test", baseUrl: server.url, model: "asked", api: "responses" });
  const request = { messages: [{ role: "user" as const, content: "go" }], tools: [bash] };
  return await model.ask(request, { signal: new AbortController().signal, onText: (text) => heard.push(text) });
}

async function refusal(next: Frame[] | Answer): Promise<[string, boolean]> {
  const error = (await ask(next).catch((thrown: unknown) => thrown)) as DeckhandError;
  return [error.code, error.retryAfterMs !== undefined];
}

const calls = ({ calls: all }: ModelAnswer) => all.map(({ name, args }) => ({ name, args }));

describe("an answer of Responses", () => {
  test("is joined from its events: text, calls, usage and the model's name", async () => {
    const usage = {
      input_tokens: 7,
      output_tokens: 3,
      input_tokens_details: { cached_tokens: 5 },
      output_tokens_details: { reasoning_tokens: 2 },
    };
    const frames = [...textEvents(["I ", "look."]), ...callEvents("a", LS, 1), ...callEvents("b", PWD, 2), completed([], { usage })];
    const answer = await ask(numbered(frames));
    expect(answer).toMatchObject({ text: "I look.", finish: "calls", model: "m-1", usage: { prompt: 7, completion: 3, cached: 5 } });
    expect(calls(answer)).toEqual([ls, pwd]);
    expect(heard).toEqual(["I ", "look."]);
  });

  test("asks with our own history, and for nothing to be kept", async () => {
    await ask([...textEvents(["hi"]), completed()]);
    expect(server.asked.at(-1)).toBe("POST /v1/responses");
    expect(server.bodies.at(-1)).toMatchObject({ store: false, stream: true, include: ["reasoning.encrypted_content"], model: "asked" });
    expect(server.bodies.at(-1)).not.toHaveProperty("previous_response_id");
  });

  test.each<[string, Frame[], object[]]>([
    ["without the events that say it whole", [...callEvents("a", LS, 0, true), completed()], [ls]],
    ["in the last event alone", [completed([callItem("a", LS.join("")), callItem("b", PWD.join(""))])], [ls, pwd]],
    [
      "in the events and in the last one",
      [...callEvents("a", LS, 0), completed([callItem("x", LS.join("")), callItem("b", PWD.join(""))])],
      [ls, pwd],
    ],
    [
      "in events that come twice",
      numbered(callEvents("a", LS, 0))
        .flatMap((each) => [each, each])
        .concat(completed()),
      [ls],
    ],
    [
      "in a done event that comes twice",
      [...callEvents("a", LS, 0), event("output_item.done", { output_index: 0, item: callItem("a", LS.join("")) }), completed()],
      [ls],
    ],
    [
      "with one number for all events",
      [...callEvents("a", LS, 0).map((each) => ({ ...(each as object), sequence_number: 0 })), completed()],
      [ls],
    ],
    ["with one index for all calls", [...callEvents("a", LS, 0), ...callEvents("b", PWD, 0), completed()], [ls, pwd]],
    [
      "without any index",
      [...callEvents("a", LS, 0), ...callEvents("b", PWD, 1), completed()].map((each) => ({
        ...(each as object),
        output_index: undefined,
      })),
      [ls, pwd],
    ],
    [
      "with another id in each event",
      [...callEvents("a", LS, 0).map((each, at) => ({ ...(each as object), item_id: `x${at}` })), completed()],
      [ls],
    ],
    [
      "without ids",
      [
        event("output_item.added", { output_index: 0, item: callItem("", "") }),
        event("function_call_arguments.delta", { output_index: 0, delta: LS.join("") }),
        completed(),
      ],
      [ls],
    ],
    ["interleaved with another", interleaved(), [ls, pwd]],
    [
      "with an object for arguments",
      [event("output_item.done", { output_index: 0, item: callItem("a", { command: "ls" }) }), completed()],
      [ls],
    ],
    [
      "with items and events of kinds that nobody knows",
      [
        event("output_item.added", { output_index: 0, item: { type: "web_search_call", id: "w" } }),
        event("web_search_call.searching"),
        { type: "keepalive" },
        ...callEvents("a", LS, 1),
        completed(),
      ],
      [ls],
    ],
  ])("a call may come %s", async (_, frames, expected) => {
    const answer = await ask(frames);
    expect(answer.finish).toBe("calls");
    expect(calls(answer)).toEqual(expected);
  });

  test("the name of an event may stand outside of it", async () => {
    const named = textEvents(["hi"])
      .concat(completed())
      .map((each) => {
        const { type, ...rest } = each as { type: string };
        return { __raw: `event: ${type}\ndata: ${JSON.stringify(rest)}\n\n` };
      });
    expect((await ask(named)).text).toBe("hi");
  });

  test("text that came without pieces is heard once", async () => {
    for (const frames of [textEvents(["hi"]).slice(2), textEvents(["hi"]).slice(3), []]) {
      expect((await ask([...frames, completed([textItem("hi")])])).text).toBe("hi");
      expect(heard.join("")).toBe("hi");
    }
  });

  test("what was said whole counts more than its pieces", async () => {
    const [added, piece, , done] = textEvents(["hi"]);
    expect((await ask([added as Frame, piece as Frame, piece as Frame, done as Frame, completed()])).text).toBe("hi");
  });

  test("JSON instead of a stream counts as the answer", async () => {
    const body = { object: "response", status: "completed", error: null, output: [textItem("hi"), callItem("a", LS.join(""))] };
    expect(await ask({ body: JSON.stringify(body) })).toMatchObject({ text: "hi", finish: "calls" });
  });

  test("a refusal is told, and leaves no calls", async () => {
    const at = { output_index: 0, content_index: 0 };
    const frames = [
      event("refusal.delta", { ...at, delta: "I can" }),
      event("refusal.delta", { ...at, delta: "not" }),
      ...callEvents("a", LS, 1),
      completed(),
    ];
    expect(await ask(frames)).toMatchObject({ text: "I cannot", finish: "refusal", calls: [] });
  });

  test("thoughts are kept apart from the text", async () => {
    const at = { output_index: 0, item_id: "rs", summary_index: 0 };
    const frames = [
      event("reasoning_summary_text.delta", { ...at, delta: "hm " }),
      event("reasoning_summary_text.done", { ...at, text: "hm hm" }),
      ...textEvents(["hi"], 1),
    ];
    expect(await ask([...frames, completed()])).toMatchObject({ text: "hi", reasoning: "hm hm" });
  });
});

test("who thinks unseen may be silent for longer than who speaks", async () => {
  const thinks = event("output_item.added", { output_index: 1, item: { type: "reasoning", id: "rs" } });
  const thought = event("output_item.done", { output_index: 1, item: { type: "reasoning", id: "rs", summary: [] } });
  const answer = async (...frames: Frame[]) => {
    server.next = { frames };
    const model = openaiModel({ apiKey: null, baseUrl: server.url, model: "m", api: "responses", firstByteMs: 20_000, idleMs: 200 });
    const asked = model.ask({ messages: [{ role: "user", content: "go" }], tools: [bash] }, { signal: new AbortController().signal });
    return await asked.catch((thrown: unknown) => thrown);
  };
  const said = textEvents(["hi"]);
  expect(await answer(...said, thinks, { __wait: 600 }, thought, completed())).toMatchObject({ text: "hi" });
  expect(await answer(...said, { __wait: 600 }, completed())).toMatchObject({ code: "MODEL_TIMEOUT" });
});

describe("nothing of an answer that is not whole can run", () => {
  test.each<[string, Frame[]]>([
    ["the limit", [...callEvents("a", LS, 0), incomplete("max_output_tokens")]],
    ["another reason", [...callEvents("a", LS, 0), incomplete("something_new")]],
    [
      "an item that is not whole",
      [event("output_item.done", { output_index: 0, item: callItem("a", LS.join(""), { status: "incomplete" }) }), completed()],
    ],
    ["arguments that are not whole", [...callEvents("a", LS.slice(0, 1), 0), completed()]],
    ["a document that is not whole", [{ object: "response", status: "in_progress", output: [callItem("a", LS.join(""))] }]],
  ])("%s", async (_, frames) => {
    const answer = await ask(frames);
    expect([answer.finish, answer.calls.length]).toEqual(["cut", 1]);
    expect(answer.echo).toBeUndefined();
  });

  test("a filter leaves no calls", async () => {
    expect(await ask([...textEvents(["he"]), ...callEvents("a", LS, 1), incomplete("content_filter")])).toMatchObject({
      text: "he",
      finish: "filter",
      calls: [],
    });
  });

  test.each<[string, Frame[], string, boolean]>([
    ["an end without the last event", callEvents("a", LS, 0), "MODEL_CUT", true],
    ["a reset", [...callEvents("a", LS, 0), "__reset"], "MODEL_CUT", true],
    ["[DONE] behind half an answer", [...callEvents("a", LS, 0, true), "[DONE]"], "MODEL_CUT", true],
    ["a cancelled answer", [...callEvents("a", LS, 0), event("cancelled", { response: { status: "cancelled" } })], "MODEL_CUT", true],
    [
      "a failure",
      [...textEvents(["he"]), event("failed", { response: { error: { code: "server_error", message: "oops" } } })],
      "MODEL_DOWN",
      true,
    ],
    [
      "a failure for lack of room",
      [event("failed", { response: { error: { code: "context_length_exceeded", message: "too long" } } })],
      "MODEL_OVERFLOW",
      false,
    ],
    ["an error", [{ type: "error", code: "rate_limit_exceeded", message: "slow down" }], "MODEL_BUSY", true],
    ["an error in an error", [{ type: "error", error: { type: "invalid_request_error", message: "bad" } }], "MODEL_REFUSED", false],
    ["an error that says nothing", [{ type: "error" }], "MODEL_DOWN", true],
  ])("%s is an error", async (_, frames, code, again) => {
    expect(await refusal(frames)).toEqual([code, again]);
  });

  test("[DONE] is enough when all was said whole", async () => {
    expect((await ask([...callEvents("a", LS, 0), "[DONE]"])).finish).toBe("calls");
  });
});

function interleaved(): Frame[] {
  const [a, b] = [callEvents("a", LS, 0), callEvents("b", PWD, 1)];
  return [...[0, 1, 2, 3, 4].flatMap((at) => [a[at], b[at]]).filter((frame) => frame !== undefined), completed()];
}
