import { DeckhandError } from "../core/errors.ts";
import type { Learned, Model, ModelAnswer, ModelRequest, Trace } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import type { AnswerReader } from "./answer.ts";
import { type Api, type Capabilities, type Knowledge, knowledge, type Lesson } from "./capabilities.ts";
import { chatReader } from "./chat.ts";
import type { Spoken } from "./echo.ts";
import { type EndpointOptions, firstApi, isOpenai, nameOfModel, openEndpoint } from "./endpoint.ts";
import { type Fault, modelError, readFault, StreamFault } from "./errors.ts";
import { memoryLearned } from "./learned.ts";
import { lessonIn, type Sent } from "./lessons.ts";
import { isOverflow, windowIn } from "./overflow.ts";
import { type Built, chatRequest, responsesRequest } from "./request.ts";
import { responsesReader } from "./responses.ts";
import { bodyReader, type Item } from "./sse.ts";
import { type Watchdog, watchdog } from "./watchdog.ts";
import { kept, listedWindow } from "./window.ts";

export interface OpenaiOptions extends EndpointOptions {
  /** How many tokens the model can read, where somebody knows. */
  window?: number;
  /** Where what the endpoint teaches is kept; for this process alone when left out. */
  learned?: Learned;
  trace?: Trace;
  /** Milliseconds until the first piece of an answer, and between two pieces. */
  firstByteMs?: number;
  idleMs?: number;
}

/** Milliseconds that a finished answer may still take: for its usage, and for the connection to be kept. */
const AFTER_FINISH = 2_000;
const AFTER_OVER = 100;

const SILENT: Trace = { info() {}, warn() {}, error() {} };

/** A model behind any endpoint that speaks Chat Completions or Responses. */
export function openaiModel(options: OpenaiOptions): Model {
  const endpoint = openEndpoint(options);
  const { learned = memoryLearned(), trace = SILENT } = options;
  const of = nameOfModel(options);
  const api = firstApi(options);
  const known = knowledge({ of, learned, trace, api });
  const listed = kept(() => listedWindow(endpoint.baseUrl, options.model, endpoint.get), Date.now);
  async function window(ask: boolean): Promise<number | null> {
    if (options.window !== undefined) return options.window;
    const [told] = await Promise.all([listed(ask), known.load()]);
    const { window: refusedAt } = known.can();
    return told !== null && refusedAt !== null ? Math.min(told, refusedAt) : (told ?? refusedAt);
  }
  /** What was thrown instead of an answer, and whether one had begun; null when the reader has one. */
  async function post(to: Api, { body }: Built, reader: AnswerReader, { signal, onText }: Asking) {
    const { firstByteMs = LIMITS.modelFirstByte, idleMs = LIMITS.modelIdle } = options;
    const watch = watchdog(signal, firstByteMs);
    const reading: Reading = { watch, firstByteMs, idleMs, onText, begun: false };
    try {
      const response = await endpoint.post(to, body, watch.signal);
      await readAnswer(response, reader, reading);
    } catch (thrown) {
      const said = thrown instanceof StreamFault || thrown instanceof DeckhandError;
      // Whatever happens to the connection once the message is whole does not matter.
      if (said || !reader.finished()) return { thrown: watch.silence() ?? thrown, begun: reading.begun };
    } finally {
      watch.end();
    }
    return null;
  }
  async function conclude(answer: ModelAnswer, characters: number, tried: Tried[]): Promise<ModelAnswer> {
    for (const { lesson, reason } of tried) await known.learn(lesson, reason);
    if (saysNothing(answer)) await refuseSilentOverflow(answer, window);
    await known.answered(answer.usage.prompt);
    await noteCutPrompt(answer, characters, known);
    return { ...answer, by: of };
  }
  return {
    name: of,
    window,
    async ask(request, asking) {
      asking.signal.throwIfAborted();
      await known.load();
      const tools = request.tools.map((tool) => tool.name);
      const tried: Tried[] = [];
      for (;;) {
        asking.signal.throwIfAborted();
        const can = known.can(tried.map(({ lesson }) => lesson));
        const built = buildRequest(options.model, isOpenai(endpoint.baseUrl) ? request : withoutKey(request), can);
        const reader = can.api === "chat" ? chatReader(tools, options.model) : responsesReader(tools, options.model);
        const failed = await post(can.api, built, reader, asking);
        asking.signal.throwIfAborted();
        if (failed === null) return await conclude(reader.answer(), built.characters, tried);
        const at = { baseUrl: endpoint.baseUrl, secret: options.apiKey, now: Date.now(), spoken: spokenIn(request) };
        const refused = { error: modelError(failed.thrown, at), fault: failed.begun ? null : readFault(failed.thrown, at) };
        tried.push(learnFrom(refused, { known, can, first: api.first, sent: built.sent, tried }));
      }
    },
  };
}

type Asking = Parameters<Model["ask"]>[1];

/** A form that a request tries, why, and the error to tell when it does not help. */
interface Tried {
  lesson: Lesson;
  reason: string;
  error: DeckhandError;
}

function buildRequest(model: string, request: ModelRequest, can: Capabilities): Built {
  return can.api === "chat" ? chatRequest(model, request, can) : responsesRequest(model, request, can);
}

/** Others refuse fields that they do not know. */
function withoutKey(request: ModelRequest): ModelRequest {
  const { cacheKey: _, ...others } = request;
  return others;
}

interface Circumstances {
  known: Knowledge;
  can: Capabilities;
  first: Api;
  sent: Sent;
  tried: Tried[];
}

/** In which other form to ask the same again at once. Throws the error where the refusal does not teach that. */
function learnFrom({ error, fault }: { error: DeckhandError; fault: Fault | null }, all: Circumstances): Tried {
  const { known, can, first, sent, tried } = all;
  if (fault === null) throw error;
  const { words, status, text } = fault;
  const window = error.code === "MODEL_OVERFLOW" && isOverflow(words) ? windowIn(words) : null;
  if (window !== null) known.suspect(window, text);
  const switched = tried.find(({ lesson }) => lesson.name === "api");
  const isNew = (each: Lesson) =>
    !(each.name === "api" && switched) &&
    !known.has(each) &&
    !tried.some(({ lesson }) => lesson.name === each.name && lesson.value === each.value);
  const lesson = TEACH.has(error.code) ? lessonIn({ words, status, sent, can, first }, isNew) : null;
  if (lesson !== null) return { lesson, reason: text, error };
  // The other API is not there: what the first one said counts.
  throw switched && NOWHERE.has(status ?? 0) ? switched.error : error;
}

const NOWHERE = new Set([404, 405]);

/** Errors that may be about the form of a request. */
const TEACH = new Set(["MODEL_REFUSED", "MODEL_URL", "MODEL_MISSING", "MODEL_HISTORY", "MODEL_TOOLS", "MODEL_DOWN"]);

function spokenIn({ messages }: ModelRequest): Spoken {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  return {
    all: [...messages.map(({ content }) => content ?? ""), ...calls.map((call) => call.arguments)],
    people: messages.flatMap(({ role, content }) => (role === "user" ? [content ?? ""] : [])),
  };
}

function saysNothing({ finish, text, calls }: ModelAnswer): boolean {
  return finish === "cut" && text === "" && calls.length === 0;
}

/** Some vendors do not refuse what fills the window: they say nothing, for lack of room. */
async function refuseSilentOverflow({ usage }: ModelAnswer, window: Model["window"]): Promise<void> {
  const tokens = usage.prompt === null ? null : await window(true);
  if (tokens !== null && (usage.prompt ?? 0) >= tokens * 0.99) throw new DeckhandError("MODEL_OVERFLOW");
}

/** A server that reads much less than was sent has cut it (Ollama does, silently): no text has so few tokens. */
async function noteCutPrompt({ usage }: ModelAnswer, characters: number, known: Knowledge): Promise<void> {
  const lesson = { name: "prompt", value: "cut by the server" };
  // Some do not count what they had in their cache.
  const read = Math.max(usage.prompt ?? 0, usage.cached ?? 0);
  if (read === 0 || characters < 20_000 || read * 10 > characters || known.has(lesson)) return;
  const about = Math.round(characters / 4);
  await known.learn(lesson, `it read ${read} of about ${about} tokens; give it a larger window (Ollama: OLLAMA_CONTEXT_LENGTH)`);
}

interface Reading {
  watch: Watchdog;
  firstByteMs: number;
  idleMs: number;
  onText: ((text: string) => void) | undefined;
  /** Something of the message has come. */
  begun: boolean;
}

async function readAnswer(response: Response, reader: AnswerReader, reading: Reading): Promise<void> {
  const { watch, firstByteMs, idleMs, onText } = reading;
  const body = bodyReader(reader);
  function take(items: Iterable<Item>): void {
    for (const item of items) {
      if (reader.over()) return;
      if (item.done) reader.end();
      const { text, progress } = item.done ? { text: "", progress: false } : reader.take(item.value);
      reading.begun ||= progress;
      if (text !== "") onText?.(text);
      if (reader.over()) watch.arm(AFTER_OVER);
      else if (reader.finished()) watch.arm(Math.min(idleMs, AFTER_FINISH));
      else if (progress) watch.arm(reader.thinking() ? firstByteMs : idleMs);
    }
  }
  for await (const bytes of response.body ?? []) take(body.push(bytes));
  take(body.end());
}
