import { DeckhandError } from "../core/errors.ts";
import type { Learned, Model, ModelAnswer, ModelRequest, Trace } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import type { AnswerReader } from "./answer.ts";
import { type Capabilities, type Knowledge, knowledge } from "./capabilities.ts";
import { chatReader } from "./chat.ts";
import { type EndpointOptions, firstApi, isOpenai, nameOfModel, openEndpoint } from "./endpoint.ts";
import { type At, modelError, readFault, StreamFault } from "./errors.ts";
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
  const known = knowledge({ of, learned, trace, api: firstApi(options) });
  const listed = kept(() => listedWindow(endpoint.baseUrl, options.model, endpoint.get), Date.now);
  async function window(ask: boolean): Promise<number | null> {
    if (options.window !== undefined) return options.window;
    const [told] = await Promise.all([listed(ask), known.load()]);
    const { window: refusedAt } = known.can();
    return told !== null && refusedAt !== null ? Math.min(told, refusedAt) : (told ?? refusedAt);
  }
  return {
    name: of,
    window,
    async ask(request, { signal, onText }) {
      signal.throwIfAborted();
      await known.load();
      signal.throwIfAborted();
      const can = known.can();
      const built = buildRequest(options.model, isOpenai(endpoint.baseUrl) ? request : withoutKey(request), can);
      const tools = request.tools.map((tool) => tool.name);
      const reader = can.api === "chat" ? chatReader(tools, options.model) : responsesReader(tools, options.model);
      const { firstByteMs = LIMITS.modelFirstByte, idleMs = LIMITS.modelIdle } = options;
      const watch = watchdog(signal, firstByteMs);
      try {
        const response = await endpoint.post(can.api, built.body, watch.signal);
        await readAnswer(response, reader, { watch, firstByteMs, idleMs, onText });
      } catch (thrown) {
        signal.throwIfAborted();
        const said = thrown instanceof StreamFault || thrown instanceof DeckhandError;
        // Whatever happens to the connection once the message is whole does not matter.
        if (said || !reader.finished()) {
          const at = { baseUrl: endpoint.baseUrl, secret: options.apiKey, now: Date.now() };
          throw watch.silence() ?? (await learnFrom(thrown, at, { known, can, sent: built.sent }));
        }
      } finally {
        watch.end();
      }
      signal.throwIfAborted();
      const answer = reader.answer();
      if (saysNothing(answer)) await refuseSilentOverflow(answer, window);
      await noteCutPrompt(answer, built.characters, known);
      return { ...answer, by: of };
    },
  };
}

function buildRequest(model: string, request: ModelRequest, can: Capabilities): Built {
  return can.api === "chat" ? chatRequest(model, request, can) : responsesRequest(model, request, can);
}

/** Others refuse fields that they do not know. */
function withoutKey(request: ModelRequest): ModelRequest {
  const { cacheKey: _, ...others } = request;
  return others;
}

/** The error to throw. What a refusal teaches is kept, and then the same may be asked again at once, in another form. */
async function learnFrom(
  thrown: unknown,
  at: At,
  { known, can, sent }: { known: Knowledge; can: Capabilities; sent: Sent },
): Promise<DeckhandError> {
  const error = modelError(thrown, at);
  const fault = readFault(thrown, at);
  if (fault === null) return error;
  const window = isOverflow(fault.words) && error.code === "MODEL_OVERFLOW" ? windowIn(fault.words) : null;
  if (window !== null && window !== can.window) await known.learn({ name: "window", value: String(window) }, fault.text);
  if (!TEACH.has(error.code)) return error;
  const lesson = lessonIn({ words: fault.words, status: fault.status, sent, can }, (each) => !known.has(each));
  if (lesson === null) return error;
  await known.learn(lesson, fault.text);
  return new DeckhandError(error.code, `${lesson.name}: ${lesson.value}, because it said: ${fault.text}`, { retryAfterMs: 1 });
}

/** Errors that may be about the form of a request. */
const TEACH = new Set(["MODEL_REFUSED", "MODEL_URL", "MODEL_MISSING", "MODEL_HISTORY", "MODEL_TOOLS", "MODEL_DOWN"]);

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
}

async function readAnswer(response: Response, reader: AnswerReader, reading: Reading): Promise<void> {
  const { watch, firstByteMs, idleMs, onText } = reading;
  const body = bodyReader(reader.size);
  function take(items: Iterable<Item>): void {
    for (const item of items) {
      if (reader.over()) return;
      if (item.done) reader.end();
      const { text, progress } = item.done ? { text: "", progress: false } : reader.take(item.value);
      if (text !== "") onText?.(text);
      if (reader.over()) watch.arm(AFTER_OVER);
      else if (reader.finished()) watch.arm(Math.min(idleMs, AFTER_FINISH));
      else if (progress) watch.arm(reader.thinking() ? firstByteMs : idleMs);
    }
  }
  for await (const bytes of response.body ?? []) take(body.push(bytes));
  take(body.end());
}
