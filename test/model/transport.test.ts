import { afterAll, beforeAll, expect, test } from "vitest";
import type { DeckhandError } from "../../src/core/errors.ts";
import { type OpenaiOptions, openaiModel } from "../../src/model/openai.ts";
import { delta, type FaultServer, finish, type Frame, startFaultServer } from "./fault-server.ts";

const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };
const request = { messages: [{ role: "user" as const, content: "go" }], tools: [bash] };

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(() => server.close());

function model(options: Partial<OpenaiOptions> = {}) {
  return openaiModel({ apiKey: "very-secret-key", baseUrl: server.url, model: "m", ...options });
}

function signal(): AbortSignal {
  return new AbortController().signal;
}

async function failure(asked: Promise<unknown>): Promise<DeckhandError> {
  const outcome = await asked.catch((thrown: unknown) => thrown);
  expect(outcome).toBeInstanceOf(Error);
  return outcome as DeckhandError;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((over) => setTimeout(over, 5));
}

test("an abort before the headers rejects with the signal's reason and hangs up", async () => {
  const [gone, asked] = [server.gone, server.bodies.length];
  server.next = null;
  const controller = new AbortController();
  const answer = model().ask(request, { signal: controller.signal });
  await until(() => server.bodies.length > asked);
  const reason = new Error("stopped by Ann");
  controller.abort(reason);
  await expect(answer).rejects.toBe(reason);
  await until(() => server.gone > gone);
});

test("an abort in the middle of an answer rejects with the signal's reason and hangs up", async () => {
  const gone = server.gone;
  server.next = { frames: [delta({ content: "hel" }), "__silence"] };
  const controller = new AbortController();
  const reason = new Error("stopped by Ann");
  const answer = model().ask(request, { signal: controller.signal, onText: () => controller.abort(reason) });
  await expect(answer).rejects.toBe(reason);
  await until(() => server.gone > gone);
});

test("an abort after the finish reason still rejects: nothing of a stopped turn is kept", async () => {
  server.next = { frames: [delta({ content: "hi" }), finish("stop"), "__silence"] };
  const controller = new AbortController();
  const reason = new Error("stopped by Ann");
  const onText = () => void setTimeout(() => controller.abort(reason), 50);
  await expect(model().ask(request, { signal: controller.signal, onText })).rejects.toBe(reason);
});

test("a signal that is aborted already asks nothing", async () => {
  const asked = server.bodies.length;
  await expect(model().ask(request, { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
  expect(server.bodies.length).toBe(asked);
});

test("an abort while an error's body is read rejects with the signal's reason", async () => {
  server.next = { status: 500, frames: [{ __raw: "{" }, "__silence"] };
  const controller = new AbortController();
  const asked = server.bodies.length;
  const answer = model().ask(request, { signal: controller.signal });
  await until(() => server.bodies.length > asked);
  setTimeout(() => controller.abort(new Error("stopped")), 50);
  await expect(answer).rejects.toThrow("stopped");
});

test.each<[string, Frame[] | null]>([
  ["no headers", null],
  ["no piece behind the role", [delta({ role: "assistant", content: "" }), "__silence"]],
  ["keep-alives only", [{ __raw: ": ping\n\n" }, { __wait: 30 }, delta({ content: "" }), { __wait: 30 }, { choices: [] }, "__silence"]],
])("silence before the first piece ends in MODEL_TIMEOUT: %s", async (_, frames) => {
  server.next = frames && { frames };
  const error = await failure(model({ firstByteMs: 200 }).ask(request, { signal: signal() }));
  expect([error.code, error.retryAfterMs]).toEqual(["MODEL_TIMEOUT", 0]);
});

test("silence in the middle ends in MODEL_TIMEOUT, whatever keep-alives come", async () => {
  const ping = [{ __raw: ": ping\n\n" }, { __wait: 60 }];
  server.next = { frames: [delta({ content: "hel" }), ...ping, ...ping, ...ping, "__silence"] };
  const error = await failure(model({ idleMs: 150 }).ask(request, { signal: signal() }));
  expect(error.code).toBe("MODEL_TIMEOUT");
});

test("slow pieces are no silence", async () => {
  const slow = ["a", "b", "c", "d"].flatMap((content) => [delta({ reasoning_content: content }), { __wait: 300 }]);
  server.next = { frames: [...slow, delta({ content: "hi" }), finish("stop"), "[DONE]"] };
  expect((await model({ firstByteMs: 1_000, idleMs: 1_000 }).ask(request, { signal: signal() })).text).toBe("hi");
});

test("an answer that is over does not wait for a server that never hangs up", async () => {
  server.next = { frames: [delta({ content: "hi" }), finish("stop"), "[DONE]", "__silence"] };
  expect((await model().ask(request, { signal: signal() })).text).toBe("hi");
  server.next = { frames: [delta({ content: "hi" }), finish("stop"), "__silence"] };
  expect((await model().ask(request, { signal: signal() })).text).toBe("hi");
});

test("text is handed on as it comes", async () => {
  server.next = {
    frames: [delta({ content: "hel" }), delta({ reasoning_content: "hm" }), delta({ content: "lo" }), finish("stop"), "[DONE]"],
  };
  const heard: string[] = [];
  await model().ask(request, { signal: signal(), onText: (text) => heard.push(text) });
  expect(heard).toEqual(["hel", "lo"]);
});

test.each([
  [{ "retry-after": "7" }, 7_000, 7_000],
  [{ "retry-after": "600" }, 600_000, 600_000],
  [{ "retry-after-ms": "250", "retry-after": "1" }, 250, 250],
  [{ "retry-after": new Date(Date.now() + 60_000).toUTCString() }, 1_000, 60_000],
  [{}, 0, 0],
])("a 429 is tried once and carries what the server asks to wait: %j", async (headers, least, most) => {
  const asked = server.bodies.length;
  server.next = { status: 429, headers, body: '{"error":{"message":"slow down"}}' };
  const error = await failure(model().ask(request, { signal: signal() }));
  expect(error.code).toBe("MODEL_BUSY");
  expect(error.retryAfterMs).toBeGreaterThanOrEqual(least);
  expect(error.retryAfterMs).toBeLessThanOrEqual(most);
  expect(server.bodies.length).toBe(asked + 1);
});

test("the key is in no error, whatever the server sends back", async () => {
  for (const status of [400, 401, 403, 404, 500]) {
    server.next = { status, body: '{"error":{"message":"bad key very-secret-key, sk-another-very-secret-key (Bearer very-secret)"}}' };
    const error = await failure(model().ask(request, { signal: signal() }));
    expect(`${error.stack}${JSON.stringify(error)}${error.line()}${String(error.cause)}`).not.toContain("very-secret");
  }
});

test("a key that cannot be sent is a bad key, and is not shown", async () => {
  for (const apiKey of ["very\nsecret", "very-sécret-ключ"]) {
    const error = await failure(model({ apiKey }).ask(request, { signal: signal() }));
    expect([error.code, error.retryAfterMs]).toEqual(["MODEL_AUTH", undefined]);
  }
});

test("a port where nothing listens, a name without a host and a wrong address each say so", async () => {
  const dead = await startFaultServer();
  await dead.close();
  const down = await failure(model({ baseUrl: dead.url }).ask(request, { signal: signal() }));
  expect([down.code, down.retryAfterMs]).toEqual(["MODEL_DOWN", 0]);
  expect(down.line()).toContain(`nothing listens at ${dead.url}`);
  for (const baseUrl of ["nowhere", "ftp://127.0.0.1/v1", ""]) {
    const none = await failure(model({ baseUrl }).ask(request, { signal: signal() }));
    expect([none.code, none.retryAfterMs]).toEqual(["MODEL_URL", undefined]);
  }
});
