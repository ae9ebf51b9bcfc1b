import OpenAI from "openai";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { Agent, fetch as undiciFetch } from "undici";
import { DeckhandError } from "../core/errors.ts";
import type { Model, ModelRequest } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { answerOf, isFinished, join, type Joining, startJoining } from "./accumulate.ts";
import { modelError, refusedField, StreamFault } from "./errors.ts";
import { bodyReader, type Item } from "./sse.ts";
import { toWire } from "./wire.ts";

export interface OpenaiOptions {
  /** Null for local servers that want none. */
  apiKey: string | null;
  /** Null for OpenAI's own. */
  baseUrl: string | null;
  model: string;
  /** Milliseconds until the first piece of an answer, and between two pieces. */
  firstByteMs?: number;
  idleMs?: number;
}

/** Milliseconds that a finished answer may still take: for its usage, and for the connection to be kept. */
const AFTER_FINISH = 2_000;
const AFTER_DONE = 100;

/** Longest wait that a timer takes: only our own watchdog ends a wait. */
const NEVER = 2_147_483_647;

/**
 * A model behind any endpoint that speaks Chat Completions. The SDK carries the request (address, key, errors by
 * status) and hands over the raw response; what is in it is read by our own tolerant reader.
 */
export function openaiModel(options: OpenaiOptions): Model {
  const baseUrl = options.baseUrl ?? "https://api.openai.com/v1";
  // Node's fetch gives up after 300 s of silence; only undici's own fetch takes its Agent.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const client = new OpenAI({
    // The SDK refuses to work without one.
    apiKey: options.apiKey || "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: NEVER,
    logLevel: "off",
    fetch: ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch,
  });
  /** Optional fields that this endpoint has refused; they are left out from then on. */
  const refused = new Set<string>();
  return {
    async ask(request, { signal, onText }) {
      signal.throwIfAborted();
      const joining = startJoining(
        request.tools.map((tool) => tool.name),
        options.model,
      );
      const watch = watchdog(signal, options.firstByteMs ?? LIMITS.modelFirstByte);
      try {
        const body = bodyOf(options.model, request, refused);
        const response = await client.chat.completions.create(body, { signal: watch.signal }).asResponse();
        await readAnswer(response, joining, { watch, idleMs: options.idleMs ?? LIMITS.modelIdle, onText });
      } catch (thrown) {
        signal.throwIfAborted();
        const field = refusedField(thrown);
        if (field !== null && !refused.has(field)) {
          refused.add(field);
          throw new DeckhandError("MODEL_REFUSED", `it does not know ${field}`, { retryAfterMs: 1 });
        }
        const said = thrown instanceof StreamFault || thrown instanceof DeckhandError;
        // Whatever happens to the connection once the message is whole does not matter.
        if (said || !isFinished(joining)) {
          throw watch.silence() ?? modelError(thrown, { baseUrl, secret: options.apiKey, now: Date.now() });
        }
      } finally {
        watch.end();
      }
      signal.throwIfAborted();
      return answerOf(joining);
    },
  };
}

function bodyOf(model: string, request: ModelRequest, refused: Set<string>): ChatCompletionCreateParamsStreaming {
  const { messages, tools } = toWire(request.messages, request.tools);
  const body = {
    model,
    messages: messages.map((message) => {
      if (message.role !== "assistant" || !refused.has("reasoning_content")) return message;
      const { reasoning_content: _, ...rest } = message;
      return rest;
    }),
    ...(tools ? { tools } : {}),
    stream: true,
    ...(refused.has("stream_options") ? {} : { stream_options: { include_usage: true } }),
  };
  // Vendors want fields back that the SDK's types do not know.
  return body as ChatCompletionCreateParamsStreaming;
}

interface Reading {
  watch: Watchdog;
  idleMs: number;
  onText: ((text: string) => void) | undefined;
}

async function readAnswer(response: Response, joining: Joining, { watch, idleMs, onText }: Reading): Promise<void> {
  const reader = bodyReader();
  function take(items: Item[]): void {
    for (const item of items) {
      if (joining.ended) return;
      if (item.done) joining.ended = true;
      const { text, progress } = item.done ? { text: "", progress: false } : join(joining, item.value);
      if (text !== "") onText?.(text);
      if (joining.ended) watch.arm(AFTER_DONE);
      else if (isFinished(joining)) watch.arm(Math.min(idleMs, AFTER_FINISH));
      else if (progress) watch.arm(idleMs);
    }
  }
  for await (const bytes of response.body ?? []) take(reader.push(bytes));
  take(reader.end());
}

type Watchdog = ReturnType<typeof watchdog>;

/** Aborts with the caller's signal, and by itself when nothing comes for as long as it was armed for. */
function watchdog(outer: AbortSignal, firstMs: number) {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let silentMs: number | null = null;
  const abort = () => controller.abort();
  outer.addEventListener("abort", abort, { once: true });
  function arm(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      silentMs = ms;
      controller.abort();
    }, ms);
  }
  arm(firstMs);
  return {
    signal: controller.signal,
    arm,
    /** The error that the silence makes, once it was too long. */
    silence: () =>
      silentMs === null
        ? null
        : new DeckhandError("MODEL_TIMEOUT", `nothing came for ${Math.ceil(silentMs / 1000)} s`, { retryAfterMs: 0 }),
    end() {
      clearTimeout(timer);
      outer.removeEventListener("abort", abort);
    },
  };
}
