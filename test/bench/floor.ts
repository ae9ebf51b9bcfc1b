import { spawn } from "node:child_process";

/** The floor of an agent: a loop of fetch and spawn, and nothing else. Started by floors.ts. */

interface Said {
  content: string | null;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
}

const baseUrl = process.argv[2] as string;
const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const tools = [{ type: "function", function: { name: "bash", description: "Runs a command.", parameters } }];

async function ask(messages: object[]): Promise<Said> {
  const body = JSON.stringify({ model: "bench", messages, tools, stream: true });
  const response = await fetch(`${baseUrl}/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const said: Said = { content: null };
  for (const line of (await response.text()).split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const { delta } = (JSON.parse(line.slice(6)) as { choices: [{ delta: Partial<Said> }] }).choices[0];
    if (delta.content) said.content = (said.content ?? "") + delta.content;
    for (const { id, type, function: called } of delta.tool_calls ?? []) (said.tool_calls ??= []).push({ id, type, function: called });
  }
  return said;
}

function run(command: string): Promise<string> {
  const child = spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += String(data)));
  return new Promise((done) => child.once("close", (code) => done(`${output}exit ${code}`)));
}

async function converse(words: string[]): Promise<void> {
  const messages: object[] = [{ role: "system", content: "You run commands." }];
  for (const content of words) {
    messages.push({ role: "user", content });
    for (let said: Said; (said = await ask(messages)); ) {
      messages.push({ role: "assistant", ...said });
      if (!said.tool_calls) break;
      for (const { id, function: called } of said.tool_calls) {
        const output = await run((JSON.parse(called.arguments) as { command: string }).command);
        messages.push({ role: "tool", tool_call_id: id, content: output });
      }
    }
  }
}

process.on("message", (prompts: string[][]) => void Promise.all(prompts.map(converse)).then(() => process.send?.("done")));
process.send?.("ready");
