import { afterAll, beforeAll, expect, test } from "vitest";
import { knownOf, modelHealth } from "../../src/model/health.ts";
import { type FaultServer, startFaultServer } from "./fault-server.ts";

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

const options = () => ({ apiKey: null, baseUrl: server.url, model: "m" });
const at = Date.UTC(2026, 10, 30);

test("a model of the endpoint's list is fine; one that is not in it is told of", async () => {
  server.next = { body: '{"data":[{"id":"m"}]}' };
  expect(await modelHealth(options())).toBe(`m at ${server.url}`);
  server.next = { body: '{"data":[{"id":"n"}]}' };
  expect(await modelHealth(options())).toMatch(/lacks m: check OPENAI_MODEL/);
});

test("what is known of an endpoint: the API that is spoken, and what it taught, since when and why", () => {
  const facts = [
    { name: "api", value: "responses", reason: "use /v1/responses", at },
    { name: "images", value: "left out", reason: "unknown variant `image_url`", at },
  ];
  expect(knownOf(options(), [])).toEqual(["it speaks Chat Completions"]);
  expect(knownOf({ ...options(), baseUrl: null }, [])).toEqual(["it speaks Responses"]);
  expect(knownOf({ ...options(), api: "chat" }, facts.slice(0, 1))[0]).toBe("it speaks Chat Completions");
  expect(knownOf(options(), facts)).toEqual([
    "it speaks Responses",
    "api: responses (since 2026-11-30: use /v1/responses)",
    "images: left out (since 2026-11-30: unknown variant `image_url`)",
  ]);
});
