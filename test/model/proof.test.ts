import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DeckhandError } from "../../src/core/errors.ts";
import type { Fact, Learned, Message } from "../../src/core/ports.ts";
import { memoryLearned } from "../../src/model/learned.ts";
import { openaiModel } from "../../src/model/openai.ts";
import { completed, textEvents } from "./event-frames.ts";
import { type Answer, delta, type FaultServer, finish, startFaultServer } from "./fault-server.ts";

let server: FaultServer;
let learned: Learned;
beforeAll(async () => {
  server = await startFaultServer();
});
beforeEach(() => {
  learned = memoryLearned();
});
afterAll(() => server.close());

const of = () => `m at ${new URL(server.url).host}`;
const facts = async () => (await learned.read(of(), Date.now())).map(({ name, value }) => `${name}: ${value}`);
const model = () => openaiModel({ apiKey: null, baseUrl: server.url, model: "m", learned });
const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };
const ask = (one: ReturnType<typeof model>, ...messages: Message[]) =>
  one.ask({ messages, tools: [bash] }, { signal: new AbortController().signal });
const user = (content: string): Message => ({ role: "user", content });
const failure = async (asked: Promise<unknown>) => (await asked.catch((thrown: unknown) => thrown)) as DeckhandError;
const said = (status: number, message: string): Answer => ({ status, body: JSON.stringify({ error: { message } }) });
const chatFine = (prompt = 100): Answer => ({
  frames: [delta({ content: "hi" }), finish("stop"), { choices: [], usage: { prompt_tokens: prompt, completion_tokens: 1 } }, "[DONE]"],
});
const fine = (asked: string): Answer => (asked.endsWith("/responses") ? { frames: [...textEvents(["hi"]), completed()] } : chatFine());
const fact = (name: string, value: string): Fact => ({ name, value, reason: "so", at: Date.now() });

describe("a lesson is kept only when it has helped", () => {
  test("what was asked for in vain is not learned, and the refusal is told", async () => {
    server.next = said(400, "Unknown parameter: 'stream_options'");
    const error = await failure(ask(model(), user("go")));
    expect([error.code, error.retryAfterMs]).toEqual(["MODEL_REFUSED", undefined]);
    expect(await facts()).toEqual([]);
    server.next = fine;
    await ask(model(), user("go"));
    expect(server.bodies.at(-1)).toHaveProperty("stream_options");
  });

  test("nobody else's request has the other form before that", async () => {
    const one = model();
    server.next = said(400, "Unknown parameter: 'stream_options'");
    await failure(ask(one, user("go")));
    server.next = fine;
    await ask(one, user("go"));
    expect(server.bodies.at(-1)).toHaveProperty("stream_options");
  });

  test("an API that is not there is left again, and the endpoint's first words are told", async () => {
    const one = model();
    server.next = (asked) => (asked.endsWith("/responses") ? said(404, "Not Found") : said(400, "x: use the responses api"));
    const error = await failure(ask(one, user("go")));
    expect([error.code, error.what]).toEqual(["MODEL_REFUSED", expect.stringContaining("use the responses api")]);
    expect(await facts()).toEqual([]);
    server.next = fine;
    await ask(one, user("go"));
    expect(server.asked.at(-1)).toBe("POST /v1/chat/completions");
  });

  test.each([404, 405])(
    "an API that was learned and is not there any more (%i) is left in the same request, and forgotten",
    async (status) => {
      await learned.note(of(), fact("api", "responses"));
      server.next = (asked) => (asked.endsWith("/responses") ? said(status, "no model there") : fine(asked));
      const one = model();
      expect((await ask(one, user("go"))).text).toBe("hi");
      expect(await facts()).toEqual([]);
      const asked = server.asked.length;
      await ask(one, user("go"));
      expect(server.asked.slice(asked)).toEqual(["POST /v1/chat/completions"]);
    },
  );

  test("several lessons of one request are kept together", async () => {
    server.next = (asked, body) => {
      if ("stream_options" in body) return said(400, "Unknown parameter: 'stream_options'");
      return JSON.stringify(body).includes('"content":null') ? said(400, "'content' field must be a string") : fine(asked);
    };
    const call = { id: "aaaaaaaa1", name: "bash", arguments: "{}" };
    await ask(model(), user("go"), { role: "assistant", content: null, calls: [call] });
    expect(await facts()).toEqual(["stream_options: left out", "content: empty"]);
  });
});

describe("words of the request itself that a refusal repeats", () => {
  const validation = (text: string) =>
    said(400, `1 validation error: {'type': 'string_type', 'msg': 'Input should be a valid string', 'input': ${text.slice(-300)}}`);
  const WORDS = [
    "maximum context length is 3000 tokens",
    "you must use the responses api",
    "unknown parameter stream_options",
    "invalid api key, insufficient_quota, rate limit, content_filter",
  ];

  test.each(WORDS)("teach nothing and change nothing: %s", async (words) => {
    const message = user(`Ann: please find where the text "${words}" stands in\n\tC:\\new\\file "x"`);
    const asked = server.asked.length;
    server.next = (_, body) => validation(JSON.stringify(body["messages"]));
    expect((await failure(ask(model(), message))).code).toBe("MODEL_REFUSED");
    server.next = () => validation(`'${message.content}'`);
    expect((await failure(ask(model(), message))).code).toBe("MODEL_REFUSED");
    server.next = () => ({ status: 422, body: JSON.stringify({ detail: [{ loc: ["body", 1], msg: "bad", input: words }] }) });
    expect((await failure(ask(model(), user("other")))).code).toBe("MODEL_REFUSED");
    expect(server.asked.slice(asked)).toEqual(Array(3).fill("POST /v1/chat/completions"));
    expect(await facts()).toEqual([]);
  });

  test.each(WORDS)("also when they are all that a person says: %s", async (words) => {
    server.next = () => validation(`'Ann: ${words}'`);
    expect((await failure(ask(model(), user(`Ann: ${words}`)))).code).toBe("MODEL_REFUSED");
    expect(await facts()).toEqual([]);
  });

  test("do not hide the endpoint's own: a thread about overflows can overflow", async () => {
    const source = 'raise ValueError(f"This model\'s maximum context length is {self.max_model_len} tokens. However, you requested")';
    server.next = said(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.");
    expect((await failure(ask(model(), user(source)))).code).toBe("MODEL_OVERFLOW");
  });
});

describe("a window that an overflow tells", () => {
  const overflow = (window: number) => said(400, `This model's maximum context length is ${window} tokens.`);

  test("holds at once, and for the next processes when a request was answered since", async () => {
    const one = model();
    server.next = overflow(8_192);
    await failure(ask(one, user("go")));
    expect([await one.window(false), await model().window(false)]).toEqual([8_192, null]);
    server.next = chatFine();
    await ask(one, user("go"));
    expect(await facts()).toEqual(["window: 8192"]);
  });

  test("is not believed below what was read before, or when it is absurd", async () => {
    const one = model();
    server.next = chatFine(5_000);
    await ask(one, user("go"));
    for (const window of [300, 1_000, 4_000]) {
      server.next = overflow(window);
      expect((await failure(ask(one, user("go")))).code).toBe("MODEL_OVERFLOW");
      expect(await one.window(false)).toBeNull();
    }
    expect(await facts()).toEqual([]);
  });

  test("is forgotten when the model reads more", async () => {
    await learned.note(of(), fact("window", "4000"));
    const one = model();
    server.next = chatFine(5_000);
    await ask(one, user("go"));
    expect(await one.window(false)).toBeNull();
    expect(await facts()).toEqual([]);
  });

  test("of an earlier version that is absurd is not taken", async () => {
    await learned.note(of(), fact("window", "300"));
    expect(await model().window(false)).toBeNull();
  });
});
