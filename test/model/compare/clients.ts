import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Model as PiModel } from "@earendil-works/pi-ai";
import { stream } from "@earendil-works/pi-ai/api/openai-completions";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import { jsonSchema, streamText, type ToolSet } from "ai";
import { messageOf } from "../../../src/core/errors.ts";
import { openaiModel } from "../../../src/model/openai.ts";
import type { Outcome } from "./scenario.ts";

const TASK = "list the files";
const TOOL = { description: "Runs a command.", parameters: { type: "object" as const, properties: {}, additionalProperties: true } };

/** Asks an endpoint once, with one tool, as the package's own documentation does it. Never rejects. */
export interface Client {
  name: string;
  /** The npm package, for its version. */
  module: string | null;
  play(baseUrl: string): Promise<Outcome>;
}

const failed = (thrown: unknown): Outcome => ({ text: "", calls: [], end: "error", note: messageOf(thrown) });

const deckhand: Client = {
  name: "Deckhand",
  module: null,
  async play(baseUrl) {
    const request = { messages: [{ role: "user" as const, content: TASK }], tools: [{ name: "bash", ...TOOL }] };
    try {
      const model = openaiModel({ apiKey: null, baseUrl, model: "m" });
      const { text, calls, finish } = await model.ask(request, { signal: new AbortController().signal });
      const end = ({ cut: "length", filter: "filtered" } as Record<string, Outcome["end"]>)[finish] ?? "fine";
      // Of a cut message nothing runs; the loop gives each call an id of its own.
      const run = finish === "calls" ? calls.map(({ name, args }, at) => ({ id: String(at), name, args })) : [];
      return { text, calls: run, end, note: finish };
    } catch (thrown) {
      return failed(thrown);
    }
  },
};

const pi: Client = {
  name: "pi-ai",
  module: "@earendil-works/pi-ai",
  async play(baseUrl) {
    const model: PiModel<"openai-completions"> = {
      ...{ id: "m", name: "m", api: "openai-completions", provider: "test", baseUrl, input: ["text"], reasoning: false },
      ...{ contextWindow: 128_000, maxTokens: 8_192, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
    };
    const context = { messages: [{ role: "user" as const, content: TASK, timestamp: 0 }], tools: [{ name: "bash", ...TOOL }] };
    try {
      const answer = await stream(model, normalizeContext(context), { apiKey: "none", maxRetries: 0 }).result();
      const text = answer.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      const all = answer.content.filter((part) => part.type === "toolCall");
      const whole = ["stop", "toolUse"].includes(answer.stopReason);
      const run = whole ? all.filter((call) => call.argumentsError === undefined) : [];
      const end = answer.stopReason === "length" ? "length" : whole ? "fine" : "error";
      return {
        text,
        calls: run.map(({ id, name, arguments: args }) => ({ id, name, args })),
        end,
        note: answer.errorMessage ?? answer.stopReason,
      };
    } catch (thrown) {
      return failed(thrown);
    }
  },
};

const aiSdk: Client = {
  name: "AI SDK openai-compatible",
  module: "@ai-sdk/openai-compatible",
  async play(baseUrl) {
    const provider = createOpenAICompatible({ name: "test", baseURL: baseUrl, apiKey: "none" });
    const tools = { bash: { description: TOOL.description, inputSchema: jsonSchema<object>(TOOL.parameters) } } as ToolSet;
    const outcome: Outcome = { text: "", calls: [], end: "fine", note: "" };
    try {
      const { stream: parts } = streamText({ model: provider("m"), prompt: TASK, tools, maxRetries: 0, onError: () => {} });
      for await (const part of parts) {
        if (part.type === "text-delta") outcome.text += part.text;
        else if (part.type === "tool-call" && part.invalid !== true)
          outcome.calls.push({ id: part.toolCallId, name: part.toolName, args: part.input });
        // With an `execute` it would run at once: what comes later calls nothing back.
        else if (part.type === "error") Object.assign(outcome, { end: "error", note: messageOf(part.error) });
        else if (part.type === "finish" && outcome.end !== "error") {
          outcome.note = part.finishReason;
          const ends: Record<string, Outcome["end"]> = { length: "length", "content-filter": "filtered", error: "error" };
          outcome.end = ends[part.finishReason] ?? "fine";
        }
      }
      return outcome;
    } catch (thrown) {
      return { ...failed(thrown), text: outcome.text };
    }
  },
};

export const CLIENTS: Client[] = [deckhand, pi, aiSdk];
