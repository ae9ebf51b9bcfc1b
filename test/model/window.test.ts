import { afterAll, beforeAll, expect, test } from "vitest";
import type { DeckhandError } from "../../src/core/errors.ts";
import { memoryLearned } from "../../src/model/learned.ts";
import { openaiModel, type OpenaiOptions } from "../../src/model/openai.ts";
import { windowIn } from "../../src/model/overflow.ts";
import { delta, type FaultServer, finish, startFaultServer } from "./fault-server.ts";

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

const model = (options: Partial<OpenaiOptions> = {}) => openaiModel({ apiKey: null, baseUrl: server.url, model: "m", ...options });
const ask = (one: ReturnType<typeof model>, content = "go") =>
  one.ask({ messages: [{ role: "user", content }], tools: [bash] }, { signal: new AbortController().signal });

/** A server whose GETs give these. */
function lists(answers: Record<string, unknown>): void {
  server.next = (asked) => ({ status: asked in answers ? 200 : 404, body: JSON.stringify(answers[asked] ?? {}) });
}

test.each<[string, Record<string, unknown>, number | null]>([
  ["vLLM", { "GET /v1/models": { data: [{ id: "m", max_model_len: 40_960 }] } }, 40_960],
  [
    "OpenRouter",
    { "GET /v1/models": { data: [{ id: "m", context_length: 200_000, top_provider: { context_length: 128_000 } }] } },
    128_000,
  ],
  ["Groq", { "GET /v1/models": { data: [{ id: "x" }, { id: "m", context_window: 131_072 }] } }, 131_072],
  ["Mistral", { "GET /v1/models": { data: [{ id: "m", max_context_length: 131_072 }] } }, 131_072],
  ["Together", { "GET /v1/models": [{ id: "m", context_length: 32_768 }] }, 32_768],
  [
    "llama.cpp, which serves less than the model was trained for",
    {
      "GET /v1/models": { data: [{ id: "/models/m.gguf", owned_by: "llamacpp", meta: { n_ctx_train: 262_144 } }] },
      "GET /props": { default_generation_settings: { n_ctx: 16_384 } },
    },
    16_384,
  ],
  [
    "Ollama, once the model is loaded",
    {
      "GET /v1/models": { data: [{ id: "m", owned_by: "library" }, { id: "n" }] },
      "GET /api/ps": { models: [{ name: "m:latest", context_length: 4_096 }] },
    },
    4_096,
  ],
  [
    "LM Studio",
    {
      "GET /v1/models": { data: [{ id: "m", owned_by: "organization_owner" }, { id: "n" }] },
      "GET /api/v0/models": { data: [{ id: "m", max_context_length: 131_072, loaded_context_length: 8_192 }] },
    },
    8_192,
  ],
  ["nobody", { "GET /v1/models": { data: [{ id: "m" }] } }, null],
  ["a list without the model", { "GET /v1/models": { data: [{ id: "x", max_model_len: 1_000 }, { id: "y" }] } }, null],
  ["no list", {}, null],
])("the window is told by %s", async (_, answers, window) => {
  lists(answers);
  const one = model();
  // A request does not wait for a slow list.
  if (window === null) expect(await one.window(true)).toBeNull();
  else await expect.poll(() => one.window(true), { timeout: 10_000 }).toBe(window);
});

test("the list is asked for once for a while, and not at all when the window is configured", async () => {
  lists({ "GET /v1/models": { data: [{ id: "m", max_model_len: 40_960 }] } });
  const asked = server.asked.length;
  const one = model();
  await Promise.all([one.window(true), one.window(true)]);
  await expect.poll(() => one.window(true), { timeout: 10_000 }).toBe(40_960);
  expect(server.asked.length).toBe(asked + 1);
  expect(await model({ window: 8_000 }).window(true)).toBe(8_000);
  expect(server.asked.length).toBe(asked + 1);
});

test("who does not ask gets what was told before, without a request", async () => {
  lists({ "GET /v1/models": { data: [{ id: "m", max_model_len: 40_960 }] } });
  const asked = server.asked.length;
  const one = model();
  expect(await one.window(false)).toBeNull();
  expect(server.asked.length).toBe(asked);
  await expect.poll(() => one.window(true), { timeout: 10_000 }).toBe(40_960);
  expect(await one.window(false)).toBe(40_960);
  expect(await model({ window: 8_000 }).window(false)).toBe(8_000);
  expect(server.asked.length).toBe(asked + 1);
});

test("a list that does not come holds nobody up", async () => {
  server.next = null;
  expect(await model().window(true)).toBeNull();
});

test("an endpoint that is not there has no window, and says no error", async () => {
  const dead = await startFaultServer();
  await dead.close();
  expect(await model({ baseUrl: dead.url }).window(true)).toBeNull();
});

test("an overflow tells the window, for this process and, once it has helped, the next ones; the smaller figure counts", async () => {
  const learned = memoryLearned();
  const full = (asked: string) =>
    asked.startsWith("GET")
      ? { body: JSON.stringify({ data: [{ id: "m", max_model_len: 40_960 }] }) }
      : {
          status: 400,
          body: '{"error":{"message":"This model\'s maximum context length is 8192 tokens. However, you requested 9000 tokens."}}',
        };
  server.next = full;
  const one = model({ learned });
  expect(await ask(one).catch((thrown: unknown) => thrown)).toMatchObject({ code: "MODEL_OVERFLOW", retryAfterMs: undefined });
  expect(await one.window(true)).toBe(8_192);
  server.next = (asked) => (asked.startsWith("GET") ? full(asked) : { frames: [delta({ content: "hi" }), finish("stop"), "[DONE]"] });
  await ask(one);
  expect(await model({ learned }).window(true)).toBe(8_192);
  expect(await learned.read(`m at ${new URL(server.url).host}`, Date.now())).toMatchObject([{ name: "window", value: "8192" }]);
});

test.each([
  ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
  ["This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.", 128_000],
  ["litellm.MidStreamFallbackError: exceeds the model's maximum context length of 131,072 tokens", 131_072],
  ["Input length (9000) exceeds model's maximum context length (8192)", 8_192],
  ["request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4_096],
  ["the request exceeds the available context size n_ctx: 2048", 2_048],
  ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
  ["This model's maximum prompt length is 131072 but the request contains 200000 tokens.", 131_072],
  ["Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768],
  ["Range of input length should be [1, 129024]", 129_024],
  ["The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8_192],
  ["Your request exceeded model token limit: 8192", 8_192],
  ["prompt token count of 130000 exceeds the limit of 128000", 128_000],
  ["invalid params, context window exceeds limit", null],
  ["Prompt too long", null],
])("the window is read from an overflow's words: %s", (words, window) => {
  expect(windowIn(words)).toBe(window);
});

test("an answer that says nothing, for lack of room, is an overflow; with room it is only cut", async () => {
  const silent = (prompt: number) => ({
    frames: [
      delta({ content: "" }),
      finish("length"),
      { choices: [], usage: { prompt_tokens: prompt, completion_tokens: 0 } },
      "[DONE]" as const,
    ],
  });
  server.next = silent(4_090);
  const error = (await ask(model({ window: 4_096 })).catch((thrown: unknown) => thrown)) as DeckhandError;
  expect(error.code).toBe("MODEL_OVERFLOW");
  server.next = silent(2_000);
  expect(await ask(model({ window: 4_096 }))).toMatchObject({ finish: "cut", text: "" });
});

test("a server that has read much less than was sent is told of, once", async () => {
  const learned = memoryLearned();
  const one = model({ learned });
  server.next = {
    frames: [delta({ content: "hi" }), finish("stop"), { choices: [], usage: { prompt_tokens: 2_051, completion_tokens: 1 } }, "[DONE]"],
  };
  for (let times = 0; times < 2; times++) expect((await ask(one, "some words of a task ".repeat(3_000))).text).toBe("hi");
  const [fact, ...others] = await learned.read(`m at ${new URL(server.url).host}`, Date.now());
  expect(others).toEqual([]);
  expect(`${fact?.name} ${fact?.value}: ${fact?.reason}`).toMatch(/^prompt cut by the server: it read 2051 of about 15\d{3} tokens/);
});
