// The CommonJS build: it loads a fifth faster than the other.
import { OpenAI } from "openai/index.js";
import { Agent, fetch as undiciFetch } from "undici";
import { LIMITS } from "../limits.ts";
import type { Api } from "./capabilities.ts";
import { plainUrl } from "./errors.ts";

export interface EndpointOptions {
  /** Null for local servers that want none. */
  apiKey: string | null;
  /** Null for OpenAI's own. */
  baseUrl: string | null;
  model: string;
  /** `auto`: Responses at OpenAI's own, Chat Completions elsewhere, and the other one when the endpoint says so. */
  api?: Api | "auto";
}

export const OPENAI_URL = "https://api.openai.com/v1";

/** Longest wait that a timer takes: only our own watchdog ends a wait. */
const NEVER = 2_147_483_647;

/** Names endpoint and model, as facts are kept and answers are signed. */
export function nameOfModel({ baseUrl, model }: EndpointOptions): string {
  const url = plainUrl(baseUrl ?? OPENAI_URL);
  return `${model} at ${url.replace(/^https?:\/\//, "").replace(/\/v\d+$/, "")}`;
}

/** Where requests go before the endpoint has said anything. */
export function firstApi({ baseUrl, api = "auto" }: EndpointOptions): { first: Api; settled: boolean } {
  if (api !== "auto") return { first: api, settled: true };
  return { first: isOpenai(baseUrl ?? OPENAI_URL) ? "responses" : "chat", settled: false };
}

export function isOpenai(baseUrl: string): boolean {
  return URL.parse(baseUrl)?.hostname === "api.openai.com";
}

export interface Endpoint {
  baseUrl: string;
  /** The answer of status 200, unread. Throws what the SDK throws otherwise; tried once. */
  post(api: Api, body: object, signal: AbortSignal): Promise<Response>;
  /** Text of a GET, or null when there is none. */
  get(url: string): Promise<string | null>;
}

/** The SDK carries requests: address, key, errors by status. What is in an answer is read by our own tolerant readers. */
export function openEndpoint(options: EndpointOptions): Endpoint {
  const baseUrl = options.baseUrl ?? OPENAI_URL;
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
  return {
    baseUrl,
    async post(api, body, signal) {
      // Vendors want fields that the SDK's types do not know.
      if (api === "chat") return await client.chat.completions.create(body as ChatBody, { signal }).asResponse();
      return await client.responses.create(body as ResponsesBody, { signal }).asResponse();
    },
    async get(url) {
      try {
        const headers = options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {};
        const response = await undiciFetch(url, { headers, signal: AbortSignal.timeout(LIMITS.modelList) });
        const text = await response.text();
        return response.ok ? text : null;
      } catch {
        // What asks for more than an answer finds the same trouble again, and tells it.
        return null;
      }
    },
  };
}

type ChatBody = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type ResponsesBody = OpenAI.Responses.ResponseCreateParamsStreaming;
