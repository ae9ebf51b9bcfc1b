import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DeckhandError } from "../../src/core/errors.ts";
import type { ModelAnswer } from "../../src/core/ports.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { type Answer, calls, delta, type FaultServer, finish, type Frame, startFaultServer } from "./fault-server.ts";

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };
const LS = '{"command":"ls"}';
const PWD = '{"command":"pwd"}';
const fn = (name: string | null, text?: unknown) => ({
  function: { name, ...(text === undefined ? {} : { arguments: text }) },
});
const ls = { name: "bash", args: { command: "ls" } };
const pwd = { name: "bash", args: { command: "pwd" } };

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

async function ask(next: Answer): Promise<ModelAnswer> {
  server.next = next;
  const model = openaiModel({ apiKey: "sk-test", baseUrl: server.url, model: "asked" });
  const request = { messages: [{ role: "user" as const, content: "go" }], tools: [bash] };
  return model.ask(request, { signal: new AbortController().signal });
}

async function refusal(next: Answer): Promise<[string, boolean, string]> {
  const error = (await ask(next).catch((thrown: unknown) => thrown)) as DeckhandError;
  return [error.code, error.retryAfterMs !== undefined, error.line()];
}

const END: Frame[] = [finish("tool_calls"), "[DONE]"];

describe("calls are joined", () => {
  const joined: [string, Frame[], object[]][] = [
    [
      "two ids on one index are two calls",
      [calls({ index: 0, id: "a", ...fn("bash", LS) }), calls({ index: 0, id: "b", ...fn("bash", PWD) })],
      [ls, pwd],
    ],
    [
      "a new id on each piece of one call is one call",
      [calls({ index: 0, id: "a", ...fn("bash", '{"comm') }), calls({ index: 0, id: "b", ...fn(null, 'and":"ls"}') })],
      [ls],
    ],
    [
      "pieces without index go by id",
      [calls({ id: "a", ...fn("bash", '{"comm') }, { id: "b", ...fn("bash", PWD) }), calls({ id: "a", ...fn("", 'and":"ls"}') })],
      [ls, pwd],
    ],
    [
      "pieces without any key go on with the last call",
      [calls(fn("bash", "")), calls(fn(null, '{"comm')), calls(fn(null, 'and":"ls"}'))],
      [ls],
    ],
    ["whole calls without any key are calls of their own", [calls(fn("bash", LS)), calls(fn("bash", PWD))], [ls, pwd]],
    ["a whole call without any key that comes twice is one", [calls(fn("bash", LS)), calls(fn("bash", LS))], [ls]],
    [
      "calls that share one index and have no id are two when one chunk names both",
      [calls({ index: 0, ...fn("bash", LS) }, { index: 0, ...fn("bash", PWD) })],
      [ls, pwd],
    ],
    [
      "arguments may come before the name",
      [calls({ id: "a", ...fn(null, '{"command"') }), calls({ id: "a", ...fn("bash", ':"ls"}') })],
      [ls],
    ],
    [
      "calls may come interleaved",
      [
        calls({ index: 0, id: "a", ...fn("bash", '{"comm') }),
        calls({ index: 1, id: "b", ...fn("bash", PWD) }),
        calls({ index: 0, ...fn(null, 'and":"ls"}') }),
      ],
      [ls, pwd],
    ],
    ["control tokens are no part of a name", [calls({ index: 0, ...fn("functions.bash<|channel|>commentary", LS) })], [ls]],
    [
      "an unknown name stays as it is",
      [calls({ index: 0, ...fn("run_shell") }), calls({ index: 0, ...fn("run_shell", LS) })],
      [{ ...ls, name: "run_shell" }],
    ],
    ["a name that is sent whole again is not doubled", [calls({ index: 0, ...fn("bash") }), calls({ index: 0, ...fn("bash", LS) })], [ls]],
    [
      "a placeholder object gives way to the real one",
      [calls({ index: 0, ...fn("bash", {}) }), calls({ index: 0, ...fn(null, LS) })],
      [ls],
    ],
    ["arguments that are JSON in JSON are unwrapped", [calls({ index: 0, ...fn("bash", JSON.stringify(LS)) })], [ls]],
    [
      "null and an empty piece say nothing",
      [calls({ index: 0, ...fn("bash", null) }, {}), delta({ tool_calls: [null] })],
      [{ name: "bash", args: {} }],
    ],
    [
      "braces in a string are no border",
      [calls({ index: 0, ...fn("bash", '{"command":"echo }{"}') })],
      [{ name: "bash", args: { command: "echo }{" } }],
    ],
  ];
  test.each(joined)("%s", async (_, frames, expected) => {
    const answer = await ask({ frames: [...frames, ...END] });
    expect(answer.finish).toBe("calls");
    expect(answer.calls.map(({ name, args }) => ({ name, args }))).toEqual(expected);
  });
});

describe("nothing of a message that is not whole can run", () => {
  const cut: [string, Frame[]][] = [
    ["the limit, even when the arguments look whole", [calls({ index: 0, ...fn("bash", LS) }), finish("length"), "[DONE]"]],
    [
      "the limit under the name of tool_calls",
      [calls({ index: 0, ...fn("bash", LS) }, { index: 1, ...fn("bash", '{"command":"rm -rf /tmp/x') }), ...END],
    ],
    ["different objects in one call", [calls({ index: 0, ...fn("bash", `${LS}${PWD}`) }), ...END]],
    ["a raw line end in a string", [calls({ index: 0, ...fn("bash", '{"command":"a\nb"}') }), ...END]],
    ["a list instead of an object", [calls({ index: 0, ...fn("bash", ["ls"]) }), ...END]],
    ["something behind the object", [calls({ index: 0, ...fn("bash", `${LS} and more`) }), ...END]],
  ];
  test.each(cut)("%s", async (_, frames) => {
    const answer = await ask({ frames });
    expect(answer.finish).toBe("cut");
    expect(answer.calls.length).toBeGreaterThan(0);
  });

  test("a filter or a refusal leaves no calls", async () => {
    const filtered = await ask({
      frames: [calls({ index: 0, ...fn("bash", LS) }), finish("content_filter"), "[DONE]"],
    });
    expect([filtered.finish, filtered.calls]).toEqual(["filter", []]);
    const refused = await ask({ frames: [delta({ content: null, refusal: "I cannot" }), finish("stop"), "[DONE]"] });
    expect([refused.finish, refused.text]).toEqual(["refusal", "I cannot"]);
  });

  test.each(["error", "network_error", "abort"])("the finish reason %s breaks the answer", async (reason) => {
    const [code, again] = await refusal({ frames: [calls({ index: 0, ...fn("bash", LS) }), finish(reason), "[DONE]"] });
    expect([code, again]).toEqual(["MODEL_CUT", true]);
  });

  test("a connection that is reset in the middle cuts the answer", async () => {
    const [code, again, line] = await refusal({ frames: [delta({ content: "hel" }), "__reset"] });
    expect([code, again]).toEqual(["MODEL_CUT", true]);
    expect(line).toContain("the connection was lost");
  });
});

describe("how an answer ends", () => {
  test("[DONE] is enough", async () => {
    expect((await ask({ frames: [delta({ content: "hi" }), "[DONE]"] })).finish).toBe("stop");
    expect((await ask({ frames: [calls({ index: 0, ...fn("bash", LS) }), "[DONE]"] })).finish).toBe("calls");
  });
  test("a finish reason is enough, also when the connection breaks behind it", async () => {
    expect((await ask({ frames: [delta({ content: "hi" }, "stop")] })).finish).toBe("stop");
    expect((await ask({ frames: [delta({ content: "hi" }, "eos"), "__reset"] })).text).toBe("hi");
  });
  test("nothing said, or only thoughts, is an answer without text: thoughts are never shown as one", async () => {
    for (const piece of [{ content: "" }, { reasoning_content: "hm" }]) {
      expect(await ask({ frames: [delta(piece), finish("stop"), "[DONE]"] })).toMatchObject({ text: "", calls: [], finish: "stop" });
    }
    expect(await ask({ frames: [{ choices: [] }, "[DONE]"] })).toMatchObject({ text: "", calls: [], finish: "stop" });
  });
  test("an overflow may come as a finish reason", async () => {
    expect((await refusal({ frames: [delta({}, "model_context_window_exceeded"), "[DONE]"] })).slice(0, 2)).toEqual([
      "MODEL_OVERFLOW",
      false,
    ]);
  });
});

describe("usage, thoughts and signatures", () => {
  test.each<[string, Frame[], object]>([
    [
      "on a chunk without choices",
      [{ choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 5 } } }],
      { prompt: 7, completion: 2, cached: 5 },
    ],
    [
      "beside choices that are null",
      [{ choices: null, usage: { prompt_tokens: 7, completion_tokens: 2, prompt_cache_hit_tokens: 4 } }],
      { prompt: 7, completion: 2, cached: 4 },
    ],
    [
      "in the choice",
      [{ choices: [{ index: 0, delta: {}, usage: { prompt_tokens: 7, completion_tokens: 2, cached_tokens: 3 } }] }],
      { prompt: 7, completion: 2, cached: 3 },
    ],
    [
      "with thoughts that are not counted",
      [
        {
          choices: [],
          usage: { prompt_tokens: 7, completion_tokens: 0, completion_tokens_details: { reasoning_tokens: 9 } },
        },
      ],
      { prompt: 7, completion: 9, cached: null },
    ],
    ["never", [], { prompt: null, completion: null, cached: null }],
  ])("usage is read %s", async (_, frames, usage) => {
    expect((await ask({ frames: [delta({ content: "hi" }), finish("stop"), ...frames, "[DONE]"] })).usage).toEqual(usage);
  });
  test("what a call must carry back is kept, and the model that answered is named", async () => {
    const extra = { extra_content: { google: { thought_signature: "s" } } };
    const answer = await ask({ frames: [calls({ index: 0, ...fn("bash", LS), ...extra }), ...END] });
    expect([answer.calls[0]?.extra, answer.model]).toEqual([extra, "m"]);
  });
  test("content in parts is text", async () => {
    const parts = [
      { type: "thinking", thinking: [] },
      { type: "text", text: "hi" },
    ];
    expect((await ask({ frames: [delta({ content: parts }), finish("stop"), "[DONE]"] })).text).toBe("hi");
  });
});

describe("calls that are none", () => {
  test.each([
    '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>',
    '{"name":"bash","arguments":{"command":"ls"}}',
    '```json\n{"name":"bash","arguments":{"command":"ls"}}\n```',
    "<function=bash><parameter=command>ls</parameter></function>",
  ])("a call that is written as text is text, and never runs: %s", async (content) => {
    expect(await ask({ frames: [delta({ content }), finish("stop"), "[DONE]"] })).toMatchObject({
      text: content,
      calls: [],
      finish: "stop",
    });
  });
  test("the endpoint's ids, however long and often, are no part of an answer: each call gets one of ours", async () => {
    for (let round = 0; round < 2; round++) {
      const answer = await ask({ frames: [calls({ index: 0, id: `fc_${"x".repeat(450)}|y`, ...fn("bash", LS) }), ...END] });
      expect(answer.calls).toEqual([{ name: "bash", raw: LS, args: ls.args }]);
    }
  });
  test("signed thoughts in pieces are kept whole, to be given back", async () => {
    const piece = (data: object) => delta({ reasoning_details: [{ type: "reasoning.encrypted", index: 0, ...data }] });
    const answer = await ask({
      frames: [piece({ data: "ab" }), piece({ data: "cd", id: "r" }), delta({ content: "hi" }), finish("stop"), "[DONE]"],
    });
    expect(answer.echo).toEqual([{ type: "reasoning.encrypted", index: 0, data: "abcd", id: "r" }]);
  });
});

describe("what is not a stream", () => {
  test("a JSON answer counts as the answer, calls and all", async () => {
    const message = {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "x", ...fn("bash", LS) },
        { id: "x", ...fn("bash", PWD) },
      ],
    };
    const answer = await ask({ body: JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }, null, 2) });
    expect(answer.calls.map(({ args }) => args)).toEqual([ls.args, pwd.args]);
  });
  test.each(["<!doctype html><p>hi", "\n <html>"])("a web page says that the address is wrong: %j", async (body) => {
    expect((await refusal({ type: "text/html", body })).slice(0, 2)).toEqual(["MODEL_HTML", false]);
  });
  test("an empty body and half a JSON answer are cut", async () => {
    expect((await refusal({ body: "" }))[0]).toBe("MODEL_CUT");
    expect((await refusal({ body: '{"choices":[{"message":{"content":"h' }))[0]).toBe("MODEL_CUT");
  });
  test("an error of status 200 is an error", async () => {
    expect((await refusal({ body: '{"error":{"message":"Overloaded","code":529}}' })).slice(0, 2)).toEqual(["MODEL_DOWN", true]);
  });
});
