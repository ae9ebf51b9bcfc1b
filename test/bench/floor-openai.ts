import { execa } from "execa";
import OpenAI from "openai";
import type { ChatCompletionMessageFunctionToolCall, ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources";

/** A bare loop of the packages that Deckhand is made of. Like floor.ts. */

const client = new OpenAI({ baseURL: process.argv[2] as string, apiKey: "none", maxRetries: 0 });
const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const tools: ChatCompletionTool[] = [{ type: "function", function: { name: "bash", description: "Runs a command.", parameters } }];

async function converse(words: string[]): Promise<void> {
  const messages: ChatCompletionMessageParam[] = [{ role: "system", content: "You run commands." }];
  for (const content of words) {
    messages.push({ role: "user", content });
    for (;;) {
      const stream = await client.chat.completions.create({ model: "bench", messages, tools, stream: true });
      let text = "";
      const calls: ChatCompletionMessageFunctionToolCall[] = [];
      for await (const { choices } of stream) {
        const { content: piece, tool_calls: called } = choices[0]?.delta ?? {};
        text += piece ?? "";
        for (const { id = "", function: what } of called ?? []) {
          calls.push({ id, type: "function", function: { name: what?.name ?? "", arguments: what?.arguments ?? "" } });
        }
      }
      messages.push({ role: "assistant", content: text, ...(calls.length > 0 ? { tool_calls: calls } : {}) });
      if (calls.length === 0) break;
      for (const { id, function: called } of calls) {
        const { command } = JSON.parse(called.arguments) as { command: string };
        const { all, exitCode } = await execa("bash", ["-c", command], { all: true, reject: false });
        messages.push({ role: "tool", tool_call_id: id, content: `${all}exit ${exitCode}` });
      }
    }
  }
}

process.on("message", (prompts: string[][]) => void Promise.all(prompts.map(converse)).then(() => process.send?.("done")));
process.send?.("ready");
