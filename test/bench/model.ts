import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * The model of the benches, in a process of its own so that its clock waits for nobody: it answers at once what the last
 * words of a person say, in as few bytes as an answer takes, and notes when each request was there.
 *
 * `steps N`: so many times `true`, each with another comment. `ask`: a command that needs an approval and prints when it
 * began. `sleep N`: one command that sleeps. `delay N`: milliseconds before each answer. `#NAME`: which conversation it is.
 */

/** One request; times in milliseconds of the machine's monotonic clock. */
export interface Asked {
  name: string;
  /** Its last byte was there. */
  at: number;
  /** The answer was written. */
  answered: number;
  bytes: number;
  /** Which connection it came on, counted from 1. */
  connection: number;
  /** It repeats the one before of this conversation byte for byte and goes on; null for the first. */
  extends: boolean | null;
  /** The answer had no call. */
  last: boolean;
}

interface Told {
  role: string;
  content?: unknown;
}

const before = new Map<string, string>();
const connections = new Map<Socket, number>();

export const SERVE = "--serve-model";

export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function wordsOf(message: Told | undefined): string {
  return typeof message?.content === "string" ? message.content : JSON.stringify(message?.content ?? "");
}

/** The command to run now, or null: all is done. */
function commandOf(words: string, messages: Told[]): string | null {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  const done = since.filter(({ role }) => role === "tool").length;
  const steps = Number(/steps (\d+)/.exec(words)?.[1] ?? 1);
  if (done >= steps) return null;
  if (words.includes("steps ")) return `true # step ${messages.filter(({ role }) => role === "tool").length + 1}`;
  if (words.includes("ask")) return "rm -f old; echo began $EPOCHREALTIME";
  const seconds = /sleep (\d+)/.exec(words)?.[1];
  return seconds === undefined ? null : `sleep ${seconds}`;
}

function eventsOf(command: string | null, id: string): string {
  const delta =
    command === null
      ? { role: "assistant", content: "It is done." }
      : {
          role: "assistant",
          tool_calls: [{ index: 0, id, type: "function", function: { name: "bash", arguments: JSON.stringify({ command }) } }],
        };
  const chunk = (choice: object): string =>
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 0, model: "bench", choices: [choice] })}\n\n`;
  const finish = command === null ? "stop" : "tool_calls";
  return `${chunk({ index: 0, delta, finish_reason: null })}${chunk({ index: 0, delta: {}, finish_reason: finish })}data: [DONE]\n\n`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "application/json" }).end('{"object":"list","data":[{"id":"bench","object":"model"}]}');
    return;
  }
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const at = now();
  const body = Buffer.concat(pieces);
  const { messages, tools } = JSON.parse(body.toString()) as { messages: Told[]; tools?: unknown };
  const words = wordsOf(messages.findLast(({ role }) => role === "user"));
  const name = /#(\w+)/.exec(words)?.[1] ?? "";
  const command = commandOf(words, messages);
  const told = JSON.stringify({ tools, messages }).slice(0, -2);
  const earlier = before.get(name);
  before.set(name, told);
  const delay = Number(/delay (\d+)/.exec(words)?.[1] ?? 0);
  if (delay > 0) await sleep(delay);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const record: Asked = {
    ...{ name, at, answered: 0, bytes: body.length, connection: connections.get(request.socket) ?? 0 },
    ...{ extends: earlier === undefined ? null : told.startsWith(earlier), last: command === null },
  };
  record.answered = now();
  response.end(eventsOf(command, `call_${messages.length}`));
  process.send?.({ answered: record });
}

if (process.argv[2] === SERVE) {
  const server = createServer((request, response) => {
    answer(request, response).catch((thrown: unknown) => response.writeHead(500).end(String(thrown)));
  });
  server.on("connection", (socket) => connections.set(socket, connections.size + 1));
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  process.once("disconnect", () => process.exit());
  process.send?.({ port: (server.address() as AddressInfo).port });
}
