import { afterAll, beforeAll, expect, test } from "vitest";
import { isOpenai } from "../../src/model/endpoint.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { chatRequest, responsesRequest } from "../../src/model/request.ts";
import { type FaultServer, finish, startFaultServer } from "./fault-server.ts";
import { knowledge } from "../../src/model/capabilities.ts";
import { memoryLearned } from "../../src/model/learned.ts";

const trace = { info() {}, warn() {}, error() {} };
const request = { messages: [{ role: "user" as const, content: "go" }], tools: [], cacheKey: "k1" };

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

test("the conversation's key goes with every request at OpenAI, in both forms", () => {
  const can = knowledge({ of: "m", learned: memoryLearned(), trace, api: { first: "chat", settled: true } }).can();
  expect(chatRequest("m", request, can).body).toMatchObject({ prompt_cache_key: "k1" });
  expect(responsesRequest("m", request, can).body).toMatchObject({ prompt_cache_key: "k1" });
  expect(isOpenai("https://api.openai.com/v1")).toBe(true);
});

test("other services do not get it: many refuse what they do not know", async () => {
  server.next = { frames: [finish("stop"), "[DONE]"] };
  await openaiModel({ apiKey: null, baseUrl: server.url, model: "m" }).ask(request, { signal: new AbortController().signal });
  expect(server.bodies.at(-1)).not.toHaveProperty("prompt_cache_key");
  expect(isOpenai("https://api.openai.com.example.org/v1")).toBe(false);
});
