import { LIMITS } from "../limits.ts";
import { asRecord, asText, parseJson } from "./json.ts";

/** One model in an endpoint's list. */
type Listed = Record<string, unknown>;

/** Text of a GET, or null when there is none; never throws. */
type Get = (url: string) => Promise<string | null>;

/**
 * How many tokens the endpoint says that this model can read; null when it does not say. What a model was trained for is
 * not asked: local servers start it with less.
 */
export async function listedWindow(baseUrl: string, model: string, get: Get): Promise<number | null> {
  const base = baseUrl.replace(/\/+$/, "");
  const list = listIn(await get(`${base}/models`));
  const listed = list.find(({ id }) => id === model) ?? (list.length === 1 ? list[0] : undefined);
  if (!listed) return null;
  const told = toldBy(listed);
  if (told !== null) return told;
  const root = base.replace(/\/v\d+$/, "");
  switch (listed["owned_by"]) {
    case "llamacpp":
      return figure(asRecord(asRecord(parseJson((await get(`${root}/props`)) ?? ""))?.["default_generation_settings"])?.["n_ctx"]);
    case "library":
      return runningAtOllama(await get(`${root}/api/ps`), model);
    case "organization_owner":
      return figure(listIn(await get(`${root}/api/v0/models`)).find(({ id }) => id === model)?.["loaded_context_length"]);
    default:
      return null;
  }
}

/** vLLM, OpenRouter and Together, Groq, Mistral, LiteLLM, in this order. */
function toldBy(listed: Listed): number | null {
  const names = ["max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens", "n_ctx"];
  const own = names.map((name) => figure(listed[name])).find((tokens) => tokens !== null) ?? null;
  // Of a model that several providers serve, the one that is asked first may take less.
  const provider = figure(asRecord(listed["top_provider"])?.["context_length"]);
  return own !== null && provider !== null ? Math.min(own, provider) : (own ?? provider ?? figure(asRecord(listed["meta"])?.["n_ctx"]));
}

/** Ollama lists what is loaded, with the context that it was loaded with. */
function runningAtOllama(text: string | null, model: string): number | null {
  const all = asRecord(parseJson(text ?? ""))?.["models"];
  const running = Array.isArray(all) ? all.map((each: unknown) => asRecord(each) ?? {}) : [];
  const one = running.find(({ name }) => asText(name) === model || asText(name) === `${model}:latest`);
  return figure(one?.["context_length"]);
}

function listIn(text: string | null): Listed[] {
  const value = parseJson(text ?? "");
  const list = Array.isArray(value) ? value : asRecord(value)?.["data"];
  return Array.isArray(list) ? list.map((each: unknown) => asRecord(each) ?? {}) : [];
}

function figure(value: unknown): number | null {
  const tokens = typeof value === "string" ? Number(value) : value;
  return typeof tokens === "number" && Number.isInteger(tokens) && tokens >= 256 ? tokens : null;
}

/**
 * Gives the last answer again for a while, and asks once for all who wait; what was not told is asked sooner again. Nobody
 * waits for long: null until the answer is there. Who wants no asking gets the last answer.
 */
export function kept(ask: () => Promise<number | null>, now: () => number): (asks: boolean) => Promise<number | null> {
  let last: { at: number; answer: Promise<number | null> } | null = null;
  let told: number | null = null;
  return async (asks) => {
    if (!asks) return told;
    const holds = told !== null ? LIMITS.modelListTime : LIMITS.modelListTime / 10;
    if (last === null || now() - last.at > holds) {
      last = { at: now(), answer: ask() };
      void last.answer.then((tokens) => (told = tokens));
    }
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(() => late.resolve(null), LIMITS.modelListWait);
    const tokens = await Promise.race([last.answer, late.promise]);
    clearTimeout(timer);
    return tokens;
  };
}
