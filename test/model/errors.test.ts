import { afterAll, beforeAll, expect, test } from "vitest";
import { DeckhandError, type ErrorCode } from "../../src/core/errors.ts";
import { modelError } from "../../src/model/errors.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { type Answer, delta, type FaultServer, startFaultServer } from "./fault-server.ts";

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };

async function errorOf(next: Answer, baseUrl = server.url): Promise<DeckhandError> {
  server.next = next;
  const request = { messages: [{ role: "user" as const, content: "go" }], tools: [bash] };
  const asked = openaiModel({ apiKey: null, baseUrl, model: "m" }).ask(request, {
    signal: new AbortController().signal,
  });
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DeckhandError);
  return error as DeckhandError;
}

const http = (status: number, error: unknown): Answer => ({ status, body: JSON.stringify(error) });
const said = (status: number, message: string, more: object = {}): Answer => http(status, { error: { message, ...more } });
const stream = (error: object): Answer => ({ frames: [delta({ content: "hi" }), error] });

/** `again`: milliseconds to wait, 0 for the caller's backoff, null for never. */
const table: [string, Answer, ErrorCode, number | null][] = [
  ["a bad key", said(401, "Incorrect API key provided"), "MODEL_AUTH", null],
  ["a bad key as a 400", said(400, "API key not valid. Please pass a valid API key."), "MODEL_AUTH", null],
  ["a key that may not", said(403, "You are not allowed to sample from this model"), "MODEL_FORBIDDEN", null],
  ["a name that it does not know", said(404, "The model `x` does not exist or you do not have access to it."), "MODEL_MISSING", null],
  ["a name that a gateway does not know", said(400, "x/y is not a valid model ID"), "MODEL_MISSING", null],
  ["a name that DeepSeek does not know", said(400, "Model Not Exist"), "MODEL_MISSING", null],
  [
    "a deployment that is not there",
    said(404, "The API deployment for this resource does not exist.", { code: "DeploymentNotFound" }),
    "MODEL_MISSING",
    null,
  ],
  ["a model without tools", said(400, "registry.ollama.ai/library/gemma does not support tools"), "MODEL_TOOLS", null],
  ["providers without tools", said(404, "No endpoints found that support tool use."), "MODEL_TOOLS", null],
  ["llama.cpp without its templates", said(500, "tools param requires --jinja flag"), "MODEL_TOOLS", null],
  ["a wrong method", { status: 405, type: "text/html", body: "<html>" }, "MODEL_URL", null],
  ["no money", said(402, "Insufficient Balance"), "MODEL_QUOTA", null],
  ["no quota as a 429", said(429, "You exceeded your current quota", { code: "insufficient_quota" }), "MODEL_QUOTA", null],
  ["no quota with a wait", { ...said(429, "no", { code: "insufficient_quota" }), headers: { "retry-after": "5" } }, "MODEL_QUOTA", null],
  ["a plan's limit", said(429, "You have hit your usage limit."), "MODEL_QUOTA", null],
  [
    "a quota of a minute",
    said(429, "You exceeded your current quota, check your plan and billing. Please retry in 32.5s."),
    "MODEL_BUSY",
    32_500,
  ],
  ["too many requests", said(429, "Rate limit reached. Please try again in 1m2s."), "MODEL_BUSY", 62_000],
  ["too many requests, soon over", said(429, "Rate limit reached. Please try again in 350ms."), "MODEL_BUSY", 350],
  ["throttling that talks of tokens", said(429, "ThrottlingException: Too many tokens, please wait"), "MODEL_BUSY", 0],
  ["throttling under another status", said(400, "Throttling: too many requests, maximum context length"), "MODEL_BUSY", 0],
  ["a time-out of theirs", said(408, "timeout"), "MODEL_DOWN", 0],
  ["a conflict", said(409, "locked"), "MODEL_DOWN", 0],
  ["a 500", said(500, "oops"), "MODEL_DOWN", 0],
  ["a 503 with a wait", { ...said(503, "loading"), headers: { "retry-after": "20" } }, "MODEL_DOWN", 20_000],
  ["a 529", said(529, "Overloaded", { type: "overloaded_error" }), "MODEL_DOWN", 0],
  ["a 500 that says not to try again", { ...said(500, "oops"), headers: { "x-should-retry": "false" } }, "MODEL_DOWN", null],
  ["a filter", said(400, "no", { code: "content_filter" }), "MODEL_FILTER", null],
  ["a provider's filter", said(403, "Your input was flagged for violence"), "MODEL_FILTER", null],
  [
    "a call that the server cannot read",
    said(400, "Failed to call a function", { code: "tool_use_failed", failed_generation: "<function=bash{" }),
    "MODEL_CALL",
    0,
  ],
  ["a history that the server cannot read", said(500, "Failed to parse tool call arguments as JSON"), "MODEL_HISTORY", null],
  [
    "a server without tools",
    http(400, { object: "error", message: '"auto" tool choice requires --enable-auto-tool-choice', code: 400 }),
    "MODEL_TOOLS",
    null,
  ],
  ["a 422", http(422, { detail: [{ loc: ["body"], msg: "extra inputs are not permitted" }] }), "MODEL_REFUSED", null],
  ["a body too large", { status: 413, body: "" }, "MODEL_OVERFLOW", null],
  [
    "a request above the rate itself",
    said(413, "Request too large: tokens per minute", { code: "rate_limit_exceeded" }),
    "MODEL_OVERFLOW",
    null,
  ],
  ["an error in the stream with a number", stream({ error: { message: "bad", code: 400 } }), "MODEL_REFUSED", null],
  ["an error in the stream with a number as text", stream({ error: { message: "bad", code: "503" } }), "MODEL_DOWN", 0],
  ["an error in the stream with a word", stream({ error: { message: "bad", type: "invalid_request_error" } }), "MODEL_REFUSED", null],
  ["an error in the stream without anything", stream({ error: { message: "it broke" } }), "MODEL_DOWN", 0],
  ["a flat error in the stream", stream({ object: "error", message: "bad", code: 401 }), "MODEL_AUTH", null],
  ["an error event", stream({ __raw: 'event: error\ndata: {"message":"slow","code":429}\n\n' }), "MODEL_BUSY", 0],
  ["an error event in words", stream({ __raw: "event: error\ndata: out of memory\n\n" }), "MODEL_DOWN", 0],
  ["an error field", stream({ __raw: 'error: {"code":500,"message":"slot unavailable"}\n\n' }), "MODEL_DOWN", 0],
  ["an error line without data", stream({ __raw: '{"error":{"code":429,"message":"slow"}}\n\n' }), "MODEL_BUSY", 0],
  ["an error list in the stream", stream({ __raw: 'data: [{"error":{"code":503,"message":"overloaded"}}]\n\n' }), "MODEL_DOWN", 0],
];

test.each(table)("%s is %s", async (_, answer, code, again) => {
  const error = await errorOf(answer);
  expect([error.code, error.retryAfterMs ?? null]).toEqual([code, again]);
  expect(error.line()).not.toContain("[object");
});

test.each([
  [400, "prompt is too long: 210000 tokens > 200000 maximum"],
  [400, "This model's maximum context length is 8192 tokens"],
  [503, "litellm.MidStreamFallbackError: exceeds the model's maximum context length of 131072 tokens"],
  [400, "ContextWindowExceededError"],
  [400, "Input length (9000) exceeds model's maximum context length (8192)"],
  [500, "the request exceeds the available context size, try increasing it"],
  [400, "Trying to keep the first 9000 tokens when context the overflows. greater than the context length"],
  [400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."],
  [400, "Please reduce the length of the messages or completion."],
  [400, "This model's maximum prompt length is 131072 but the request contains 200000 tokens."],
  [400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"],
  [400, "Range of input length should be [1, 129024]"],
  [400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."],
  [400, "Your request exceeded model token limit: 8192"],
  [400, "invalid params, context window exceeds limit"],
  [400, "Prompt too long"],
  [400, "Input is too long for requested model."],
  [400, "prompt token count of 130000 exceeds the limit of 128000"],
  [500, "no user query found in messages"],
])("an overflow is known by its words: %i %s", async (status, message) => {
  expect((await errorOf(said(status, message))).code).toBe("MODEL_OVERFLOW");
  expect((await errorOf(stream({ error: { message, code: status } }))).code).toBe("MODEL_OVERFLOW");
});

test.each([
  "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
  "`tool_use` ids were found without `tool_result` blocks immediately after: x",
  "unexpected `tool_use_id` found in `tool_result` blocks: x",
  "Not the same number of function calls and responses",
  "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
  "Please ensure that the number of function response parts is equal to the number of function call parts",
  "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
  "Duplicate value for 'tool_call_id' of call_1 in message[3]",
  "No tool output found for function call call_1.",
  "Conversation roles must alternate user/assistant/user/assistant/...",
  "After the optional system message, conversation roles must alternate",
])("a history that is at fault is known by its words: %s", async (message) => {
  expect((await errorOf(said(400, message))).code).toBe("MODEL_HISTORY");
});

test("an overflow that a gateway wraps is still an overflow", async () => {
  const metadata = { raw: '{"error":{"message":"maximum context length is 8192 tokens"}}' };
  expect((await errorOf(said(400, "Provider returned error", { metadata }))).code).toBe("MODEL_OVERFLOW");
});

test("what the model wrote goes with the error about a call that its server could not read", async () => {
  const failed = { code: "tool_use_failed", failed_generation: "<function=bash{" };
  expect((await errorOf(said(400, "Failed to call a function", failed))).said).toBe("<function=bash{");
  expect((await errorOf(stream({ error: { message: "Failed to call a function", ...failed } }))).said).toBe("<function=bash{");
});

test("which filter fired is said", async () => {
  const innererror = {
    code: "ResponsibleAIPolicyViolation",
    content_filter_result: { hate: { filtered: false }, jailbreak: { filtered: true } },
  };
  const error = await errorOf(said(400, "The response was filtered", { code: "content_filter", innererror }));
  expect(error.line()).toContain("its filter for jailbreak fired");
});

test("a 404 says what is probably wrong with the address, unless it is the model's name", async () => {
  const page = { status: 404, type: "text/html", body: "<html><title>404 Not Found</title>" };
  const bare = server.url.replace("/v1", "");
  expect((await errorOf(page, bare)).line()).toContain(`404 Not Found; try ${bare}/v1.`);
  expect((await errorOf(page, `${server.url}/chat/completions`)).line()).toContain(`leave out what follows /v1 in ${server.url}`);
  expect((await errorOf(page)).line()).toContain(`asked at ${server.url}.`);
  expect((await errorOf(said(404, "The model `x` does not exist"), bare)).line()).not.toContain("try ");
});

test("a long or odd body stays one short line", async () => {
  for (const body of [
    `{"error":{"message":${JSON.stringify("a\nb ".repeat(500))}}}`,
    '{"error":{"message":{"a":[1]}}}',
    '{"a":{}}',
    "x".repeat(9_000),
  ]) {
    const error = await errorOf({ status: 400, body });
    expect(error.what.length).toBeLessThan(280);
    expect(error.line()).not.toMatch(/\n|\[object/);
  }
});

test("secrets in the address are not shown", async () => {
  const error = await errorOf({ status: 404, body: "{}" }, server.url.replace("//", "//user:hunter2@"));
  expect(error.line()).not.toContain("hunter2");
});

test.each([new Error("boom"), "boom", { boom: 1 }, null, undefined, 7])("any thrown thing has a code: %j", (thrown) => {
  const error = modelError(thrown, { baseUrl: server.url, secret: null, now: 0 });
  expect(error.code).toBe("MODEL_DOWN");
  expect(error.line()).not.toContain("[object");
});
