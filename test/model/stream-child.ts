import { openaiModel } from "../../src/model/openai.ts";

/** Reads one answer of the endpoint in its arguments, and says by how many MB this process grew at most meanwhile. */
const [baseUrl = "", api = "chat"] = process.argv.slice(2);
const model = openaiModel({ apiKey: null, baseUrl, model: "m", api: api === "responses" ? "responses" : "chat" });
const request = {
  messages: [{ role: "user" as const, content: "go" }],
  tools: [{ name: "bash", description: "", parameters: { type: "object" } }],
};
const ask = () => model.ask(request, { signal: new AbortController().signal });
/** What the heap and buffers outside of it take; what the allocator has not given back yet is not ours to say. */
const used = () => {
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
};

await ask(); // a short one, so that code and connections do not count
globalThis.gc?.();
const before = used();
let most = before;
const watch = setInterval(() => (most = Math.max(most, used())), 20);
const { text } = await ask();
clearInterval(watch);
console.log(JSON.stringify({ characters: text.length, grown: Math.round((Math.max(most, used()) - before) / 1e6) }));
process.exit();
