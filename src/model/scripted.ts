import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../core/errors.ts";
import { asRecord, parseJson } from "./json.ts";
import type { Script, Step } from "./script.ts";
import { asChat, eventsOf } from "./scripted-responses.ts";
import { refusalOf } from "./strict.ts";
import { inputRefusalOf } from "./strict-input.ts";
import type { WireMessage, WireTool } from "./wire.ts";

export interface RecordedRequest {
  headers: IncomingHttpHeaders;
  /** As it came; of a Responses request its messages and tools as Chat Completions has them. */
  body: { model: string; messages: WireMessage[]; tools: WireTool[]; stream_options?: object };
  /** The sentence of the 400 that it got, if it was refused. */
  refused: string | null;
  /** The client left before the answer was over. */
  gone: boolean;
}

export interface ScriptedModel {
  /** For OPENAI_BASE_URL; ends in /v1. */
  baseUrl: string;
  /** All requests for an answer, oldest first. */
  requests: RecordedRequest[];
  /** The next `times` accepted requests get this step instead of the script's. */
  fail(step: Step, times?: number): void;
  close(): Promise<void>;
}

/**
 * A model without a model: an HTTP server on 127.0.0.1 that speaks streaming Chat Completions and Responses and answers
 * from a script. It refuses what the strictest vendors refuse, so that nothing passes here that fails there.
 */
export async function startScriptedModel(script: Script, options: { port?: number } = {}): Promise<ScriptedModel> {
  const requests: RecordedRequest[] = [];
  const failures: Step[] = [];
  const closing = new AbortController();
  let accepted = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET" && request.url === "/v1/models") {
      return sendJson(response, 200, { object: "list", data: [{ id: "scripted", object: "model" }] });
    }
    const chat = request.url === "/v1/chat/completions";
    if (request.method !== "POST" || !(chat || request.url === "/v1/responses")) {
      return sendJson(response, 404, errorBody(`no ${request.method} ${request.url} here; the base URL ends in /v1`));
    }
    const sent = parseJson(await textOf(request));
    const refused = chat ? refusalOf(sent) : inputRefusalOf(sent);
    const body = chat || refused !== null ? sent : { ...asRecord(sent), ...asChat(asRecord(sent) ?? {}) };
    const recorded = { headers: request.headers, body: body as RecordedRequest["body"], refused, gone: false };
    requests.push(recorded);
    response.on("close", () => (recorded.gone = !response.writableFinished));
    if (refused !== null) return sendJson(response, 400, errorBody(refused));
    const { messages, tools, model } = recorded.body;
    const step = failures.shift() ?? script({ messages, tools, n: accepted });
    accepted++;
    if (step.delayMs !== undefined) await sleep(step.delayMs, undefined, { signal: closing.signal });
    const asked = JSON.stringify(messages).length;
    play(step, response, chat ? chatFrames(step, model, asked) : responsesFrames(step, model, asked), chat);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((thrown: unknown) => {
      if (!response.headersSent) sendJson(response, 500, errorBody(`the script failed: ${messageOf(thrown)}`));
    });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    fail: (step, times = 1) => void failures.push(...Array.from({ length: times }, () => step)),
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function errorBody(message: string): object {
  return { error: { message, type: "invalid_request_error", param: null, code: null } };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function play(step: Step, response: ServerResponse, frames: string[], chat: boolean): void {
  if (step.status !== undefined) {
    const body = step.body ?? JSON.stringify(errorBody(`scripted ${step.status}`));
    const type = asRecord(parseJson(body)) ? "application/json" : "text/plain";
    response.writeHead(step.status, { "content-type": type, ...step.headers }).end(body);
    return;
  }
  if (step.html === true) {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Welcome</title><p>Not a model.");
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const sent = step.hang === true ? frames.slice(0, 1) : frames.slice(0, step.cutAfter);
  for (const frame of sent) response.write(frame);
  if (step.hang === true) return;
  response.end(chat && step.cutAfter === undefined ? "data: [DONE]\n\n" : "");
}

function chatFrames(step: Step, model: string, asked: number): string[] {
  const head = { id: "scripted", object: "chat.completion.chunk", created: 0, model };
  return framesOf(step, asked).map((frame) => `data: ${JSON.stringify({ ...head, ...frame })}\n\n`);
}

function responsesFrames(step: Step, model: string, asked: number): string[] {
  return eventsOf(step, model, asked, piecesOf).map(
    (event) => `event: ${String(Reflect.get(event, "type"))}\ndata: ${JSON.stringify(event)}\n\n`,
  );
}

/** The chunks of a step, in the manner of OpenAI: the role first, calls in pieces, the usage in a chunk of its own. */
function framesOf(step: Step, asked: number): object[] {
  const calls = step.calls ?? [];
  const argumentsOf = calls.map(({ args }) => (typeof args === "string" ? args : JSON.stringify(args)));
  const said = (step.text ?? "").length + argumentsOf.join("").length;
  const usage = {
    prompt_tokens: Math.ceil(asked / 4),
    completion_tokens: Math.ceil(said / 4),
    total_tokens: Math.ceil((asked + said) / 4),
  };
  if (step.empty === true) return [{ choices: [] }, { choices: [], usage }];
  const delta = (piece: object, finish: string | null = null) => ({
    choices: [{ index: 0, delta: piece, finish_reason: finish }],
  });
  const callFrames = calls.flatMap(({ name, id }, index) => {
    const text = argumentsOf[index] as string;
    const half = Math.ceil(text.length / 2);
    return [
      delta({
        tool_calls: [{ index, id: id ?? `call_${index + 1}`, type: "function", function: { name, arguments: "" } }],
      }),
      ...[text.slice(0, half), text.slice(half)].map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
  });
  return [
    delta({ role: "assistant", content: "" }),
    ...piecesOf(step.text ?? "").map((content) => delta({ content })),
    ...callFrames,
    delta({}, step.finish ?? (calls.length > 0 ? "tool_calls" : "stop")),
    { choices: [], usage },
  ];
}

/** About a word or two a piece, but not more than some forty pieces. */
function piecesOf(text: string): string[] {
  const size = Math.max(8, Math.ceil(text.length / 40));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
}
