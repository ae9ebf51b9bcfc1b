import { APIConnectionError, APIError } from "openai/index.js";
import { DeckhandError, type ErrorCode, messageOf } from "../core/errors.ts";
import { type Spoken, withoutEcho } from "./echo.ts";
import { asRecord, asText, weigh } from "./json.ts";
import { isOverflow } from "./overflow.ts";

/** An error that came inside an answer of status 200: the body as it was sent. */
export class StreamFault extends Error {
  readonly body: unknown;
  constructor(body: unknown) {
    super("The answer carries an error");
    this.name = "StreamFault";
    this.body = body;
  }
}

/** What an answer's chunk says of an error, in any of the forms that servers use; undefined when it says none. */
export function faultIn(chunk: Record<string, unknown>): unknown {
  const { error, choices, object, message, code, type, detail } = chunk;
  const empty = !error || Object.keys(Object(error)).length === 0;
  if (!empty) return error;
  if (Array.isArray(choices)) return undefined;
  if (object === "error" || (typeof message === "string" && (code !== undefined || type === "error"))) return chunk;
  return typeof detail === "string" ? chunk : undefined;
}

/** Where the request went: what may be told of it, what must not, and the time for dates in headers. */
export interface At {
  baseUrl: string;
  secret: string | null;
  now: number;
  /** What the request said: what a refusal repeats of it is not the service's word. */
  spoken?: Spoken;
}

/** An error of the service, whatever its form was. */
export interface Fault {
  /** The HTTP status, or the one that the body names. */
  status: number | null;
  /** For people: its message, one line, at most 200 characters, without the key. */
  text: string;
  /** For the tables below: message, codes and what a gateway wrapped. Neither has what it repeats of the request. */
  words: string;
  /** The filters that fired, if it says so. */
  filters: string[];
  /** Milliseconds to wait, as its headers or its words ask for; 0 when they name no time. */
  wait: number;
  /** `x-should-retry: false`. */
  final: boolean;
  /** A call that the model wrote and its server could not read; "" when it says none. */
  said: string;
}

/**
 * Any thrown thing as a DeckhandError of a MODEL_ code that carries no secret. `retryAfterMs` is set when trying
 * the same again makes sense: what the service asks for, or 0 for the caller's own backoff.
 */
export function modelError(thrown: unknown, at: At): DeckhandError {
  if (thrown instanceof DeckhandError) return thrown;
  const fault = readFault(thrown, at);
  return fault === null ? connectionError(thrown, at) : faultError(fault, at);
}

/** What the service said; null when it was not the service that failed. */
export function readFault(thrown: unknown, at: At): Fault | null {
  if (thrown instanceof StreamFault) return faultOf(thrown.body, null, "", null, at);
  if (thrown instanceof APIConnectionError || !(thrown instanceof APIError) || thrown.status === undefined) return null;
  return faultOf(thrown.error, thrown.status, thrown.message, thrown.headers ?? null, at);
}

function faultOf(said: unknown, httpStatus: number | null, message: string, headers: Headers | null, at: At): Fault {
  const sent = weigh(said) === Infinity ? "an error that is nested too deeply" : said;
  const outer = asRecord(Array.isArray(sent) ? sent[0] : sent) ?? {};
  const body = asRecord(outer["error"]) ?? outer;
  const inner = asRecord(body["innererror"]) ?? {};
  const own = [body["message"], body["msg"], detailIn(body["detail"]), outer["error"], sent].find((each) => asText(each) !== "");
  const plain = message.replace(/^\d{3} /, "").replace(/^status code \(no body\)$/, "");
  const text = ownWords(asText(own) || (Object.keys(body).length > 0 ? JSON.stringify(body) : plain), at);
  const codes = [body["code"], body["type"], body["status"], body["param"], inner["code"]].map(plainly).join(" ");
  const wrapped = asRecord(body["metadata"])?.["raw"];
  const figures = ["n_ctx", "max_context_length"].flatMap((name) =>
    Number(plainly(body[name])) > 0 ? [`${name}: ${plainly(body[name])}`] : [],
  );
  const words = [text, codes, wrapped === undefined ? "" : ownWords(JSON.stringify(wrapped), at), ...figures].join(" ");
  const named = [body["code"], body["status"], body["status_code"]]
    .map((each) => Number(plainly(each)))
    .find((each) => each >= 400 && each < 600);
  return {
    status: httpStatus ?? named ?? null,
    text: shown(text, at.secret),
    words,
    filters: filtersIn(inner["content_filter_result"] ?? body["content_filter_result"]),
    wait: waitOf(headers, text, at.now),
    final: headers?.get("x-should-retry") === "false",
    said: asText(body["failed_generation"]),
  };
}

/** Text and figures; an object may not even have a text. */
function plainly(value: unknown): string {
  return typeof value === "object" && value !== null ? "" : String(value);
}

function ownWords(words: string, { spoken }: At): string {
  return spoken ? withoutEcho(words, spoken) : words;
}

/** Some list what is wrong, and repeat for each what was sent. */
function detailIn(detail: unknown): string {
  if (!Array.isArray(detail)) return asText(detail);
  const faults = detail.map((each: unknown) => asRecord(each) ?? {});
  return faults.map(({ loc, msg }) => `${Array.isArray(loc) ? loc.map(plainly).join(".") : ""}: ${asText(msg)}`).join("; ");
}

function filtersIn(result: unknown): string[] {
  return Object.entries(asRecord(result) ?? {}).flatMap(([name, value]) => (asRecord(value)?.["filtered"] === true ? [name] : []));
}

/** One line of at most 200 characters; of a web page its title; never the key, whole or in the usual forms of keys. */
function shown(text: string, secret: string | null): string {
  const page = /^\s*</.test(text) ? (/<title>([^<]*)/i.exec(text)?.[1] ?? "a web page") : text;
  const open = secret === null || secret.length < 4 ? page : page.replaceAll(secret, "[key]");
  const safe = open.replace(/\b(sk|gsk|xai|AIza)[-_]?[\w*-]{12,}/g, "[key]").replace(/\bBearer\s+\S+|(?<=:\/\/)[^/\s@]+(?=@)/gi, "[key]");
  const line = safe.replace(/\s+/g, " ").trim();
  return (line.length > 200 ? `${line.slice(0, 199)}…` : line || "no reason given").toWellFormed();
}

/** `retry-after-ms`, `retry-after` in seconds or as a date, else "try again in 7m12.5s" in the words. */
function waitOf(headers: Headers | null, text: string, now: number): number {
  const asked = headers?.get("retry-after") ?? "";
  const inWords = /(?:try again|retry) in (?:(\d+)m(?!s))?\s*(\d+(?:\.\d+)?)\s*(ms|s)/i.exec(text);
  const choices = [
    Number.parseFloat(headers?.get("retry-after-ms") ?? ""),
    /^\s*[\d.]+\s*$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - now,
    inWords ? (Number(inWords[1] ?? 0) * 60 + Number(inWords[2]) / (inWords[3]?.toLowerCase() === "ms" ? 1000 : 1)) * 1000 : Number.NaN,
  ];
  return Math.ceil(Math.max(0, choices.find((each) => Number.isFinite(each)) ?? 0));
}

const BUSY = /rate.?limit|too many requests|throttl/i;
const QUOTA = /insufficient (balance|credits?|funds)|credit balance|exceeded your current quota|billing|usage limit/i;
const KEY = /api key not valid|invalid[ _]api[ _]key|incorrect api key|API_KEY_INVALID/i;
const FILTER = /content_filter|ResponsibleAIPolicy|content[ _](management[ _])?policy|data_?inspection_?failed|flagged|moderation/i;
const NO_MODEL =
  /model_?not_?found|model\b.{0,120}(not (found|exist)|does not exist|is not (available|a valid model))|(no such|unknown|invalid) model\b|is not a valid model|DeploymentNotFound/i;
const NO_TOOLS =
  /enable-auto-tool-choice|tool-call-parser|not support (tools?|functions?)\b|no endpoints found that support tool|requires? --jinja|(tool|function) calling is not|\btools? (is|are) not (supported|enabled)|tools param requires/i;
/** The model wrote a call that its own server cannot read; another try is another roll of the dice. */
const BAD_CALL = /tool_use_failed|error parsing tool call/i;
/** Our history is at fault: the same request fails for ever. */
const BAD_HISTORY = new RegExp(
  [
    "failed to parse tool call arguments|did not have response messages|no tool (call|output) found for|unexpected role|roles must alternate",
    "missing a thought_signature|role '?tool'? must be a response|tool_calls'? must be followed by|(ids were|tool_use_id`?) found (without|in) `?tool_result",
    "same number of function calls|function response parts is equal|function call turn comes immediately|expected last role",
    "duplicate value for '?tool_call_id",
  ].join("|"),
  "i",
);

/** By its words before its status: gateways wrap one error in another's status. */
function faultError(fault: Fault, at: At): DeckhandError {
  const { status, words, text } = fault;
  const error = (code: ErrorCode, detail = text) => new DeckhandError(code, detail);
  const again = (code: ErrorCode, detail = text) => new DeckhandError(code, detail, fault.final ? {} : { retryAfterMs: fault.wait });
  const busy = status === 429 || (BUSY.test(words) && status !== 413);
  if (status === 413 || (!busy && isOverflow(words))) return error("MODEL_OVERFLOW");
  // A quota that comes back within a minute is called a quota too; the wait tells them apart.
  const spent = status === 402 || /insufficient_quota/.test(words) || (QUOTA.test(words) && fault.wait === 0);
  if (spent) return error("MODEL_QUOTA");
  if (busy) return again("MODEL_BUSY");
  if (status === 401 || KEY.test(words)) return error("MODEL_AUTH");
  if ((status ?? 0) < 500 && (FILTER.test(words) || fault.filters.length > 0)) {
    return error("MODEL_FILTER", fault.filters.length > 0 ? `its filter for ${fault.filters.join(", ")} fired` : text);
  }
  if (status === 403) return error("MODEL_FORBIDDEN");
  if (NO_TOOLS.test(words)) return error("MODEL_TOOLS");
  if ((status ?? 0) < 500 && NO_MODEL.test(words)) return error("MODEL_MISSING");
  if (status === 404 || status === 405) return error("MODEL_URL", `${text}${addressHint(words, at.baseUrl)}`);
  if (BAD_CALL.test(words)) {
    const { wait, said } = fault;
    return new DeckhandError("MODEL_CALL", text, { ...(fault.final ? {} : { retryAfterMs: wait }), ...(said ? { said } : {}) });
  }
  if (BAD_HISTORY.test(words)) return error("MODEL_HISTORY");
  const lasting = status === null ? /invalid_request|invalid_parameter|not_supported/i.test(words) : status < 500;
  if (lasting && status !== 408 && status !== 409) return error("MODEL_REFUSED");
  return again("MODEL_DOWN", status === null ? text : `${status}, ${text}`);
}

/** What is probably wrong with the address; nothing when the words blame the model's name. */
function addressHint(words: string, baseUrl: string): string {
  if (/\bmodel\b/i.test(words)) return "";
  const url = plainUrl(baseUrl);
  if (/\/(chat\/)?completions$/.test(url)) return `; leave out what follows /v1 in ${url}`;
  return /\/v\d/.test(url) ? `; asked at ${url}` : `; try ${url}/v1`;
}

/** The address without name, password and query, which may be secrets. */
export function plainUrl(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  return url ? `${url.origin}${url.pathname}`.replace(/\/+$/, "") : "an address that is none";
}

function connectionError(thrown: unknown, at: At): DeckhandError {
  const { code, message } = causeOf(thrown);
  const where = plainUrl(at.baseUrl);
  const url = URL.parse(at.baseUrl);
  if (!url || !/^https?:$/.test(url.protocol)) return new DeckhandError("MODEL_URL", where);
  if (url.username !== "" || url.password !== "")
    return new DeckhandError("MODEL_URL", `${where} takes no name and password before the host`);
  // A line end or a letter of another script in the key: it never leaves this machine.
  if (/ByteString|^Headers\./.test(message)) return new DeckhandError("MODEL_AUTH");
  if (/CERT|SSL|TLS|SELF_SIGNED|ISSUER|VERIFY/.test(code)) {
    return new DeckhandError("MODEL_DOWN", `${where} has no good certificate (${code})`);
  }
  const words: Record<string, string> = {
    ECONNREFUSED: `nothing listens at ${where}`,
    ENOTFOUND: `there is no host of that name: ${where}`,
    EAI_AGAIN: `the name of ${where} cannot be looked up now`,
  };
  const reason = code || shown(message, at.secret);
  const broken = words[code] ?? `the connection to ${where} failed (${reason})`;
  if (words[code] !== undefined || thrown instanceof APIConnectionError)
    return new DeckhandError("MODEL_DOWN", broken, { retryAfterMs: 0 });
  // What the SDK did not wrap broke while the answer was read.
  if (code !== "") return new DeckhandError("MODEL_CUT", `the connection was lost (${code})`, { retryAfterMs: 0 });
  return new DeckhandError("MODEL_DOWN", reason);
}

/** The first system code in a chain of causes, and the innermost message. */
function causeOf(thrown: unknown): { code: string; message: string } {
  let error = thrown;
  let message = messageOf(thrown);
  for (let depth = 0; depth < 5 && error instanceof Error; depth++) {
    message = messageOf(error);
    const { code, errors } = error as Error & { code?: unknown; errors?: unknown };
    if (typeof code === "string") return { code, message };
    error = error.cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return { code: "", message };
}
