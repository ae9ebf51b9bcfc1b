import { DeckhandError } from "../core/errors.ts";
import { asRecord, parseJson } from "./json.ts";
import type { OpenaiOptions } from "./openai.ts";

const WAIT_MS = 10_000;

/**
 * Asks the endpoint for its list of models, which costs nothing. Gives what is fine in words; throws MODEL_AUTH,
 * MODEL_FORBIDDEN, MODEL_URL, MODEL_HTML or MODEL_DOWN.
 */
export async function modelHealth(options: OpenaiOptions): Promise<string> {
  const base = (options.baseUrl ?? "https://api.openai.com/v1").replace(/\/+$/, "");
  const response = await listModels(base, options.apiKey);
  const text = await response.text();
  if (response.status === 401) throw new DeckhandError("MODEL_AUTH");
  if (response.status === 403) throw new DeckhandError("MODEL_FORBIDDEN", options.model);
  if (response.status === 404) throw new DeckhandError("MODEL_URL", base.endsWith("/v1") ? base : `${base}, which does not end in /v1`);
  if (response.status >= 400) throw new DeckhandError("MODEL_DOWN", `status ${response.status}`);
  const list = asRecord(parseJson(text));
  if (!list) throw new DeckhandError("MODEL_HTML");
  const names = Array.isArray(list["data"]) ? list["data"].map((each: unknown) => String(asRecord(each)?.["id"])) : [];
  const known = names.length === 0 || names.includes(options.model);
  return known ? `${options.model} at ${base}` : `${base} answers, but does not list ${options.model}`;
}

async function listModels(base: string, apiKey: string | null): Promise<Response> {
  try {
    const headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    return await fetch(`${base}/models`, { headers, signal: AbortSignal.timeout(WAIT_MS) });
  } catch (thrown) {
    const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause.message : String(thrown);
    throw new DeckhandError("MODEL_DOWN", cause, { cause: thrown });
  }
}
