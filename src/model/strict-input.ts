import { asRecord, asText, parseJson } from "./json.ts";
import { illFormed, isName } from "./strict.ts";

/**
 * What the strictest vendors would refuse in a Responses request, as one sentence, or null. Like `strict.ts` it shares
 * nothing with what builds requests.
 */
export function inputRefusalOf(body: unknown): string | null {
  const request = asRecord(body);
  if (!request) return "the body must be a JSON object";
  if (asText(request["model"]) === "") return "'model' must be a name";
  if (request["stream"] !== true) return "only 'stream': true is supported";
  if (request["store"] !== false) return "'store' must be false: nothing is kept here";
  const known = ["model", "stream", "store", "include", "instructions", "input", "tools", "tool_choice"];
  const unknown = Object.keys(request).find((name) => !known.includes(name));
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'`;
  const { instructions, input, tools } = request;
  if (instructions !== undefined && asText(instructions) === "") return "'instructions' must be a string with something in it";
  if (!Array.isArray(input) || input.length === 0) return "'input' must be a list with something in it";
  return illFormed(body) ?? toolsRefusal(tools) ?? itemsRefusal(input.map((each: unknown) => asRecord(each) ?? {}));
}

function toolsRefusal(tools: unknown): string | null {
  if (!Array.isArray(tools) || tools.length === 0) return "'tools' must be a list with something in it";
  for (const tool of tools.map(asRecord)) {
    if (tool?.["type"] !== "function") return "each tool must be of type 'function'";
    if (!isName(tool["name"])) return "a tool's name must be letters, digits, '_' or '-', at most 64";
    if (asRecord(tool["parameters"])?.["type"] !== "object") return "a tool's parameters must be an object schema";
    if (tool["strict"] !== false) return "Invalid schema: 'additionalProperties' is required to be supplied and to be false";
  }
  return null;
}

function itemsRefusal(items: Record<string, unknown>[]): string | null {
  const owed = new Set<string>();
  const known = new Set<string>();
  for (const [at, item] of items.entries()) {
    const where = `input[${at}]`;
    const id = asText(item["call_id"]);
    switch (item["type"]) {
      case "message":
        if (owed.size > 0 && item["role"] === "user") return `No tool output found for function call ${[...owed].join(", ")}.`;
        if (!isMessage(item)) return `${where}: a message needs a role and content with something in it`;
        break;
      case "reasoning":
        if (!isThought(item)) return `${where}: a reasoning item needs 'summary' and 'encrypted_content', and nothing that is unknown`;
        if (!leadsOn(items[at + 1])) return `${where}: item of type 'reasoning' was provided without its required following item.`;
        break;
      case "function_call":
        if (id === "" || known.has(id)) return `${where}: 'call_id' must be a name of its own`;
        if (!isName(item["name"])) return `${where}: a call's name must be letters, digits, '_' or '-', at most 64`;
        if (!asRecord(parseJson(asText(item["arguments"])))) return `${where}: failed to parse tool call arguments as JSON`;
        known.add(id);
        owed.add(id);
        break;
      case "function_call_output":
        if (!owed.delete(id)) return `No tool call found for function call output with call_id ${id}.`;
        if (asText(item["output"]) === "") return `${where}: 'output' must be a string with something in it`;
        break;
      default:
        return `${where}: unknown type '${String(item["type"])}'`;
    }
  }
  return owed.size > 0 ? `No tool output found for function call ${[...owed].join(", ")}.` : null;
}

function isMessage({ role, content }: Record<string, unknown>): boolean {
  if (role !== "user" && role !== "assistant") return false;
  if (typeof content === "string") return content !== "";
  if (!Array.isArray(content) || role !== "user") return false;
  const parts = content.map((part: unknown) => asRecord(part) ?? {});
  const isImage = (part: Record<string, unknown>) => part["type"] === "input_image" && asText(part["image_url"]).startsWith("data:image/");
  return parts.every((part) => isImage(part) || (part["type"] === "input_text" && asText(part["text"]) !== ""));
}

function isThought(item: Record<string, unknown>): boolean {
  const known = ["type", "id", "summary", "encrypted_content"];
  return (
    Array.isArray(item["summary"]) && asText(item["encrypted_content"]) !== "" && Object.keys(item).every((name) => known.includes(name))
  );
}

function leadsOn(next: Record<string, unknown> | undefined): boolean {
  return (
    next?.["type"] === "function_call" || next?.["type"] === "reasoning" || (next?.["type"] === "message" && next["role"] === "assistant")
  );
}
