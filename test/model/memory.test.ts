import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { completed, event, textItem } from "./event-frames.ts";
import { delta, finish } from "./fault-server.ts";

const TOKEN = "twenty characters... ";
const TOKENS = 500_000;

let server: Server;
let answers = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    // The first answer of each client is short.
    void stream(response, request.url?.endsWith("responses") === true, answers++ % 2 === 0 ? 10 : TOKENS);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** As fast as the client reads. */
async function stream(response: ServerResponse, responses: boolean, tokens: number): Promise<void> {
  const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
  const piece = frame(
    responses
      ? event("output_text.delta", { output_index: 0, content_index: 0, item_id: "msg_1", delta: TOKEN })
      : delta({ content: TOKEN }),
  );
  for (let sent = 0; sent < tokens; sent += 500) {
    if (!response.write(piece.repeat(Math.min(500, tokens - sent)))) await once(response, "drain");
  }
  const text = TOKEN.repeat(tokens);
  if (responses) {
    response.write(frame(event("output_text.done", { output_index: 0, content_index: 0, item_id: "msg_1", text })));
    response.write(frame(event("output_item.done", { output_index: 0, item: textItem(text) })));
    response.write(frame(completed([textItem(text)])));
    response.end();
  } else response.end(`${frame(finish("stop"))}data: [DONE]\n\n`);
}

// Over Responses the vendor says the whole text three times more, each time as one event.
test.each(["chat", "responses"])(
  "10 MB of an answer over %s take less than 60 MB",
  // Garbage goes when it suits: on a busy machine now and then too late.
  { timeout: 120_000, retry: 2 },
  async (api) => {
    const { port } = server.address() as AddressInfo;
    const child = fileURLToPath(new URL("./stream-child.ts", import.meta.url));
    const run = promisify(execFile)(process.execPath, ["--expose-gc", child, `http://127.0.0.1:${port}/v1`, api]);
    const { characters, grown } = JSON.parse((await run).stdout) as { characters: number; grown: number };
    expect(characters).toBe(TOKEN.length * TOKENS);
    expect(grown).toBeLessThan(60);
  },
);
