/** How the templates of models begin a call; in the text of an answer it was not understood as one. */
const BEGINNING = /^(?:<\|?(?:tool_calls?|function_calls?|invoke|function)\b|\[TOOL_CALLS\]|<｜tool)/i;

/** Whether a whole answer is a call of one of these tools, written as text: people cannot use it, and it is never run. */
export function isWrittenCall(text: string, tools: string[]): boolean {
  const bare = text
    .trim()
    .replace(/^```\w*\n([\s\S]*)\n```$/, "$1")
    .trim();
  if (BEGINNING.test(bare)) return tools.some((name) => bare.split(/[^\w-]+/).includes(name));
  if (!/^[{[]/.test(bare)) return false;
  const parsed = parse(bare);
  const all: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  return all.length > 0 && all.every((each) => isCall(each, tools));
}

function isCall(value: unknown, tools: string[]): boolean {
  const made = fields(value);
  const inner = fields(made["function"]);
  const name = made["name"] ?? inner["name"] ?? made["tool"] ?? made["function"];
  const given = ["arguments", "parameters", "args", "input"].some((key) => key in made || key in inner);
  return tools.some((tool) => tool === name) && given;
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // prose that begins with a bracket
  }
}
