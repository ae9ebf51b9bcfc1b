import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DeckhandError } from "../../src/core/errors.ts";
import type { Learned, Message, Trace } from "../../src/core/ports.ts";
import { memoryLearned } from "../../src/model/learned.ts";
import { openaiModel, type OpenaiOptions } from "../../src/model/openai.ts";
import { completed, textEvents } from "./event-frames.ts";
import { type Answer, delta, type FaultServer, finish, startFaultServer } from "./fault-server.ts";

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };
const go: Message = { role: "user", content: "go" };
const call = (id: string) => ({ id, name: "bash", arguments: "{}" });
/** Everything that an endpoint may not like. */
const history: Message[] = [
  { ...go, images: [{ type: "image/png", data: "aGk=" }] },
  { role: "assistant", content: null, calls: [call("aaaaaaaa1"), call("aaaaaaaa2")], reasoning: "hm" },
  { role: "tool", call: "aaaaaaaa1", content: "x" },
  { role: "tool", call: "aaaaaaaa2", content: "y" },
  { role: "user", content: "wait" },
];

let server: FaultServer;
let learned: Learned;
beforeAll(async () => {
  server = await startFaultServer();
});
beforeEach(() => {
  learned = memoryLearned();
});
afterAll(() => server.close());

const told: [string, unknown][] = [];
const trace: Trace = {
  info: (event, fields) => void told.push([event, fields]),
  warn: (event, fields) => void told.push([event, fields]),
  error() {},
};

function model(options: Partial<OpenaiOptions> = {}) {
  return openaiModel({ apiKey: "very-secret-key", baseUrl: server.url, model: "m", learned, trace, ...options });
}

const ask = (one: ReturnType<typeof model>, messages = history) =>
  one.ask({ messages, tools: [bash] }, { signal: new AbortController().signal });
const failure = async (asked: Promise<unknown>) => (await asked.catch((thrown: unknown) => thrown)) as DeckhandError;
const said = (status: number, message: string): Answer => ({ status, body: JSON.stringify({ error: { message } }) });
const facts = async () =>
  (await learned.read(`m at ${new URL(server.url).host}`, Date.now())).map(({ name, value }) => `${name}: ${value}`);

/** Refuses a request that has this in it, or has it not. */
const refuses = (status: number, words: string, field: RegExp) => {
  server.next = (asked, sent) => (field.test(JSON.stringify(sent)) ? said(status, words) : fine(asked));
};

/** Answers in the form that was asked for. */
const fine = (asked: string): Answer => ({
  frames: asked.endsWith("/responses") ? [...textEvents(["hi"]), completed()] : [delta({ content: "hi" }), finish("stop"), "[DONE]"],
});
const body = () => JSON.stringify(server.bodies.at(-1));

describe("a refusal that teaches something", () => {
  test.each<[string, number, string, string, RegExp, RegExp]>([
    ["stream_options", 400, "Unknown parameter: 'stream_options'", "stream_options: left out", /stream_options/, /^(?!.*stream_options)/],
    [
      "thoughts",
      422,
      "messages.1.reasoning_content: Extra inputs are not permitted",
      "reasoning_content: left out",
      /reasoning_content/,
      /^(?!.*reasoning_content)/,
    ],
    [
      "content that is null",
      400,
      "Invalid 'content': 'content' field must be a string or an array of objects.",
      "content: empty",
      /"content":null/,
      /"content":"","tool_calls"/,
    ],
    [
      "content that a template cannot add",
      500,
      "can only concatenate str (not NoneType) to str",
      "content: empty",
      /"content":null/,
      /"content":"","tool_calls"/,
    ],
    [
      "a person behind a result",
      400,
      "Unexpected role 'user' after role 'tool'",
      "a message after a result: needs an answer between",
      /"y"},{"role":"user"/,
      /"y"},{"role":"assistant"/,
    ],
    [
      "two calls at once",
      400,
      "This model only supports single tool-calls at once!",
      "calls in one message: one",
      /"id":"aaaaaaaa1"[^\]]*"id":"aaaaaaaa2"/,
      /aaaaaaaa1[^\]]*\],?[^\]]*"tool_call_id":"aaaaaaaa1"/,
    ],
    ["images", 400, "unknown variant `image_url`, expected `text`", "images: left out", /image_url/, /You cannot see images/],
    ["images, at a gateway", 404, "No endpoints found that support image input", "images: left out", /image_url/, /You cannot see images/],
  ])("about %s is heeded at once and from then on", async (_, status, words, fact, before, after) => {
    const one = model();
    const bodies = server.bodies.length;
    refuses(status, words, before);
    expect((await ask(one)).text).toBe("hi");
    expect(JSON.stringify(server.bodies[bodies])).toMatch(before);
    expect(body()).toMatch(after);
    expect(await facts()).toEqual([fact]);
    await ask(one);
    expect(server.bodies.length).toBe(bodies + 3);
    expect(body()).toMatch(after);
  });

  test("is said in the log, with the endpoint's words and without the key", async () => {
    refuses(400, "Unknown parameter: 'stream_options' for very-secret-key", /stream_options/);
    await ask(model());
    expect(told.at(-1)).toMatchObject([
      "model-learned",
      { name: "stream_options", reason: "Unknown parameter: 'stream_options' for [key]" },
    ]);
    expect(JSON.stringify(told)).not.toContain("very-secret");
  });

  test("is known to the next process too", async () => {
    refuses(400, "Unknown parameter: 'stream_options'", /stream_options/);
    await ask(model());
    const bodies = server.bodies.length;
    await ask(model());
    expect(server.bodies.length).toBe(bodies + 1);
  });

  test("teaches it once: the same refusal again is told as it is", async () => {
    const bodies = server.bodies.length;
    server.next = said(400, "Unknown parameter: 'stream_options'");
    const error = await failure(ask(model()));
    expect([error.code, error.retryAfterMs]).toEqual(["MODEL_REFUSED", undefined]);
    expect(server.bodies.length).toBe(bodies + 2);
  });

  test("may come inside of a stream", async () => {
    const error = { error: { message: "Unknown parameter: 'stream_options'", code: 400 } };
    server.next = (asked, sent) => ("stream_options" in sent ? { frames: [error] } : fine(asked));
    expect((await ask(model())).text).toBe("hi");
    // What was said already is not said twice.
    learned = memoryLearned();
    const bodies = server.bodies.length;
    server.next = { frames: [delta({ content: "h" }), error] };
    expect((await failure(ask(model()))).code).toBe("MODEL_REFUSED");
    expect(server.bodies.length).toBe(bodies + 1);
  });

  test("thoughts that have to come back do, empty where there were none", async () => {
    const one = model();
    const plain: Message[] = [go, { role: "assistant", content: "ok", calls: [] }, go];
    refuses(400, "The reasoning_content in the thinking mode must be passed back to the API.", /^(?!.*reasoning_content)/);
    await ask(one, plain);
    expect(server.bodies.at(-1)).toMatchObject({ messages: [{}, { role: "assistant", reasoning_content: "" }, {}] });
  });

  test("content that may be neither null nor empty becomes a blank", async () => {
    const one = model();
    server.next = (asked, sent) => {
      if (JSON.stringify(sent).includes('"content":null')) return said(400, "'content' field must be a string");
      return JSON.stringify(sent).includes('"content":"","tool_calls"') ? said(400, "text is not set") : fine(asked);
    };
    await ask(one);
    expect(body()).toContain('"content":" ","tool_calls"');
  });

  test("is still heeded when it can neither be read nor kept", async () => {
    const down = () => Promise.reject(new Error("down"));
    const one = model({ learned: { read: down, note: down, forget: down } });
    refuses(400, "Unknown parameter: 'stream_options'", /stream_options/);
    const bodies = server.bodies.length;
    for (let times = 0; times < 2; times++) expect((await ask(one)).text).toBe("hi");
    expect(server.bodies.length).toBe(bodies + 3);
    expect(told.map(([event]) => event)).toEqual(expect.arrayContaining(["model-facts-unread", "model-fact-lost"]));
  });
});

describe("which API is spoken", () => {
  const NEEDS =
    "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";

  test("Chat Completions, until the endpoint says that it must be Responses", async () => {
    const one = model();
    server.next = (asked) => (asked.endsWith("/responses") ? fine(asked) : said(400, NEEDS));
    expect((await ask(one)).text).toBe("hi");
    expect(server.asked.slice(-2)).toEqual(["POST /v1/chat/completions", "POST /v1/responses"]);
    expect(await facts()).toEqual(["api: responses"]);
    expect((await ask(model())).text).toBe("hi");
    expect(server.asked.at(-1)).toBe("POST /v1/responses");
  });

  test("Responses where that was learned, and back when there is no such place, but only once", async () => {
    await learned.note(`m at ${new URL(server.url).host}`, { name: "api", value: "responses", reason: "", at: Date.now() });
    server.next = said(404, "Invalid URL (POST /v1/responses)");
    const error = await failure(ask(model()));
    expect([error.code, error.retryAfterMs]).toEqual(["MODEL_URL", undefined]);
  });

  test("as it is set, whatever the endpoint says", async () => {
    server.next = said(400, NEEDS);
    expect((await failure(ask(model({ api: "chat" })))).retryAfterMs).toBeUndefined();
    server.next = said(404, "Not Found");
    expect((await failure(ask(model({ api: "responses" })))).code).toBe("MODEL_URL");
  });

  test.each([
    ["encrypted reasoning: left out", "Encrypted content is not supported with this model.", /encrypted_content/],
    ["encrypted reasoning: left out", "The encrypted content gAAA could not be verified.", /encrypted_content/],
    ["store: left out", "Unknown parameter: 'store'", /"store"/],
  ])("of Responses what is refused is left out: %s", async (fact, words, field) => {
    const one = model({ api: "responses" });
    refuses(400, words, field);
    await ask(one);
    expect(await facts()).toEqual([fact]);
    expect(body()).not.toMatch(field);
  });
});

test("no vendor is sent what some refuse: a token limit, a temperature, a developer, a strict schema", async () => {
  for (const api of ["chat", "responses"] as const) {
    server.next = fine;
    await ask(model({ api }), [{ role: "system", content: "You are a hand." }, ...history]);
    expect(body()).not.toMatch(
      /max_tokens|max_completion_tokens|max_output_tokens|temperature|developer|"strict":true|\$schema|reasoning_effort/,
    );
  }
});

test("OpenAI's own endpoint is asked over Responses first", async () => {
  const { firstApi, nameOfModel } = await import("../../src/model/endpoint.ts");
  expect(firstApi({ apiKey: null, baseUrl: null, model: "m" })).toEqual({ first: "responses", settled: false });
  expect(firstApi({ apiKey: null, baseUrl: "https://api.deepseek.com/v1", model: "m" })).toEqual({ first: "chat", settled: false });
  expect(nameOfModel({ apiKey: null, baseUrl: null, model: "gpt-5" })).toBe("gpt-5 at api.openai.com");
});
