import { asRecord, asText, parseJson } from "./json.ts";

/**
 * What the strictest vendors would refuse in a Chat Completions request, as one sentence, or null. It is not
 * shared with `wire.ts` on purpose: what builds requests must not be what checks them.
 */
export function refusalOf(body: unknown): string | null {
  const request = asRecord(body);
  if (!request) return "the body must be a JSON object";
  if (asText(request["model"]) === "") return "'model' must be a name";
  if (request["stream"] !== true) return "only 'stream': true is supported";
  const { messages, tools } = request;
  if (!Array.isArray(messages) || messages.length === 0) return "'messages' must be a list with something in it";
  return illFormed(body) ?? toolsRefusal(tools) ?? sequenceRefusal(messages.map((each: unknown) => asRecord(each) ?? {}));
}

export function illFormed(value: unknown): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : "no low surrogate in string";
  if (typeof value !== "object" || value === null) return null;
  return (
    Object.values(value)
      .map(illFormed)
      .find((each) => each !== null) ?? null
  );
}

function toolsRefusal(tools: unknown): string | null {
  if (!Array.isArray(tools) || tools.length === 0) return "'tools' must be a list with something in it";
  for (const tool of tools.map(asRecord)) {
    const made = asRecord(tool?.["function"]);
    if (tool?.["type"] !== "function" || !made) return "each tool must be of type 'function'";
    if (!isName(made["name"])) return "a tool's name must be letters, digits, '_' or '-', at most 64";
    if (asRecord(made["parameters"])?.["type"] !== "object") return "a tool's parameters must be an object schema";
  }
  return null;
}

export function isName(name: unknown): boolean {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(asText(name));
}

function sequenceRefusal(messages: Record<string, unknown>[]): string | null {
  let owed: string[] = [];
  let before = "";
  for (const [at, message] of messages.entries()) {
    const where = `messages[${at}]`;
    const role = asText(message["role"]);
    if (!["system", "user", "assistant", "tool"].includes(role)) return `${where}: unknown role '${role}'`;
    if (!("content" in message)) return `${where}: missing field 'content'`;
    const wrong = messageRefusal(message, role);
    if (wrong !== null) return `${where}: ${wrong}`;
    if (role === "tool") {
      const id = asText(message["tool_call_id"]);
      if (!owed.includes(id)) return `${where}: result for '${id}', which no call right before it asked for`;
      owed = owed.filter((each) => each !== id);
    } else if (owed.length > 0) return `${where}: tool calls without a result right after them: ${owed.join(", ")}`;
    if (role === "system" && at > 0) return `${where}: system message must be the first`;
    if (role === "assistant" && before !== "user" && before !== "tool") return `${where}: assistant after '${before}'`;
    if (role === "user" && before === "user") return `${where}: conversation roles must alternate`;
    if (role === "assistant") owed = callsOf(message).map((call) => asText(call["id"]));
    before = role;
  }
  if (owed.length > 0) return `tool calls without a result right after them: ${owed.join(", ")}`;
  return before === "user" || before === "tool" ? null : "the last message must be of a user or a tool";
}

function messageRefusal(message: Record<string, unknown>, role: string): string | null {
  const { content, tool_calls: sent } = message;
  if (role === "user" && isSeen(content)) return null;
  if (role !== "assistant") return asText(content) === "" ? "content must be a string with something in it" : null;
  if (sent === undefined) return asText(content) === "" ? "an assistant message needs content or tool calls" : null;
  if (content !== null && asText(content) === "") return "content must be null or a string with something in it";
  const calls = callsOf(message);
  if (calls.length === 0) return "'tool_calls' must be a list with something in it";
  if (new Set(calls.map((call) => call["id"])).size < calls.length) return "two tool calls with the same id";
  return calls.map(callRefusal).find((each) => each !== null) ?? null;
}

/** A text and images: parts are for nothing else. */
function isSeen(content: unknown): boolean {
  if (!Array.isArray(content) || content.length < 2) return false;
  const [text, ...images] = content.map((part: unknown) => asRecord(part) ?? {});
  const url = (image: Record<string, unknown>) => asText(asRecord(image["image_url"])?.["url"]);
  return text?.["type"] === "text" && asText(text["text"]) !== "" && images.every((image) => url(image).startsWith("data:image/"));
}

function callsOf(message: Record<string, unknown>): Record<string, unknown>[] {
  const calls = message["tool_calls"];
  return Array.isArray(calls) ? calls.map((each: unknown) => asRecord(each) ?? {}) : [];
}

function callRefusal(call: Record<string, unknown>): string | null {
  const made = asRecord(call["function"]) ?? {};
  if (!/^[a-zA-Z0-9]{9}$/.test(asText(call["id"]))) return "a tool call's id must be nine letters or digits";
  if (call["type"] !== "function") return "a tool call must be of type 'function'";
  if (!isName(made["name"])) return "a tool call's name must be letters, digits, '_' or '-', at most 64";
  const given = asRecord(parseJson(asText(made["arguments"])));
  return given ? illFormed(given) : "failed to parse tool call arguments as JSON";
}
