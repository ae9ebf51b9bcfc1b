import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One thing to send: a chunk as an object, `[DONE]`, raw text or bytes, a pause, a reset connection, or silence. */
export type Frame = object | "[DONE]" | { __raw: string | Uint8Array } | { __wait: number } | "__reset" | "__silence";

export interface Answer {
  frames?: Frame[];
  status?: number;
  type?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface FaultServer {
  url: string;
  /** Bodies of the requests, in order. */
  bodies: Record<string, unknown>[];
  /** How many clients went before their answer was over. */
  gone: number;
  /** Told the headers of each request. */
  heard?: (headers: IncomingHttpHeaders) => void;
  /** Their methods and paths, such as `POST /v1/responses`. */
  asked: string[];
  /** What the next request gets; null leaves it without even headers. */
  next: Answer | null | ((asked: string, body: Record<string, unknown>) => Answer);
  close(): Promise<void>;
}

/** A server that sends what it is told to, right or wrong. */
export async function startFaultServer(): Promise<FaultServer> {
  const server = createServer(async (request, response) => {
    response.on("close", () => (fault.gone += response.writableFinished ? 0 : 1));
    let body = "";
    for await (const piece of request) body += String(piece);
    const asked = `${request.method ?? ""} ${request.url ?? ""}`;
    const parsed = JSON.parse(body || "{}") as Record<string, unknown>;
    fault.asked.push(asked);
    fault.heard?.(request.headers);
    if (body !== "") fault.bodies.push(parsed);
    const answer = typeof fault.next === "function" ? fault.next(asked, parsed) : fault.next;
    if (answer !== null) await send(response, answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const fault: FaultServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies: [],
    asked: [],
    gone: 0,
    next: null,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return fault;
}

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  const type = answer.type ?? (answer.frames ? "text/event-stream" : "application/json");
  response.writeHead(answer.status ?? 200, { "content-type": type, ...answer.headers });
  response.flushHeaders();
  if (answer.body !== undefined) response.write(answer.body);
  for (const frame of answer.frames ?? []) {
    if (frame === "__silence") return;
    if (frame === "__reset") {
      await new Promise((sent) => response.write("", sent));
      response.destroy();
      return;
    }
    if (typeof frame === "object" && "__wait" in frame) await new Promise((over) => setTimeout(over, frame.__wait as number));
    else response.write(textOf(frame));
  }
  response.end();
}

function textOf(frame: object | string): string | Uint8Array {
  if (typeof frame === "string") return `data: ${frame}\n\n`;
  return "__raw" in frame ? (frame.__raw as string | Uint8Array) : `data: ${JSON.stringify(frame)}\n\n`;
}

/** A chunk whose delta is this. */
export function delta(piece: object, finish: string | null = null): object {
  return {
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: piece, finish_reason: finish }],
  };
}

/** A chunk with pieces of calls. */
export function calls(...pieces: object[]): object {
  return delta({ tool_calls: pieces });
}

export function finish(reason: string): object {
  return delta({}, reason);
}
