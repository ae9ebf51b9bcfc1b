import { APIConnectionError, APIError } from "openai/index.js";
import { DeckhandError } from "../core/errors.ts";
import type { Fact } from "../core/ports.ts";
import { type EndpointOptions, firstApi, OPENAI_URL } from "./endpoint.ts";
import { modelError, plainUrl } from "./errors.ts";
import { asRecord, parseJson } from "./json.ts";

const WAIT_MS = 10_000;

/**
 * Asks the endpoint for its list of models, which costs nothing. Gives what is fine in words; throws MODEL_AUTH,
 * MODEL_FORBIDDEN, MODEL_URL, MODEL_HTML, MODEL_DOWN or what else the endpoint has against us.
 */
export async function modelHealth(options: EndpointOptions): Promise<string> {
  const base = (options.baseUrl ?? OPENAI_URL).replace(/\/+$/, "");
  const where = plainUrl(base);
  try {
    const list = asRecord(parseJson(await ask(`${base}/models`, options.apiKey)));
    if (!list) throw new DeckhandError("MODEL_HTML");
    const names = Array.isArray(list["data"]) ? list["data"].map((each: unknown) => String(asRecord(each)?.["id"])) : [];
    if (names.length === 0 || names.includes(options.model)) return `${options.model} at ${where}`;
    return `${where} answers, but its list of models lacks ${options.model}: check OPENAI_MODEL if requests fail`;
  } catch (thrown) {
    const error = modelError(thrown, { baseUrl: base, secret: options.apiKey, now: Date.now() });
    if (error.code === "MODEL_URL" && (await takesRequests(base, options.apiKey)))
      return `${options.model} at ${where}, which lists no models`;
    throw error;
  }
}

/** Whether there is something that looks at requests for an answer: it has to refuse this one. */
async function takesRequests(base: string, apiKey: string | null): Promise<boolean> {
  try {
    await ask(`${base}/chat/completions`, apiKey, "{}");
    return false;
  } catch (thrown) {
    return thrown instanceof APIError && (thrown.status === 400 || thrown.status === 422);
  }
}

/** The text of an answer of status 200. Throws an APIError, as the SDK would, otherwise. */
async function ask(url: string, apiKey: string | null, body?: string): Promise<string> {
  const headers = { "content-type": "application/json", ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) };
  let response: Response;
  let text: string;
  try {
    const what = body === undefined ? {} : { method: "POST", body };
    response = await fetch(url, { ...what, headers, signal: AbortSignal.timeout(WAIT_MS) });
    text = await response.text();
  } catch (thrown) {
    throw new APIConnectionError({ cause: thrown as Error });
  }
  if (!response.ok) throw APIError.generate(response.status, Object(parseJson(text)), text, response.headers);
  return text;
}

/** What is known of the endpoint, a line each: the API that is used, and what it taught us, since when and why. */
export function knownOf(options: EndpointOptions, facts: Fact[]): string[] {
  const { first, settled } = firstApi(options);
  const switched = settled ? undefined : facts.find(({ name }) => name === "api")?.value;
  const names = { chat: "Chat Completions", responses: "Responses" };
  const api = `it speaks ${names[(switched ?? first) as keyof typeof names]}`;
  return [
    api,
    ...facts.map(({ name, value, reason, at }) => `${name}: ${value} (since ${new Date(at).toISOString().slice(0, 10)}: ${reason})`),
  ];
}
