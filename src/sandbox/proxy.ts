import { chownSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Attempt } from "../core/entry.ts";
import { DeckhandError, messageOf } from "../core/errors.ts";
import { hostAndPort } from "../core/grants.ts";
import { LIMITS } from "../limits.ts";
import { type Dialer, dialer, type DialOptions, type Refusal } from "./dial.ts";
import { onward, returned } from "./headers.ts";

export interface ProxyOptions extends DialOptions {
  /** Path of the socket to make, in a folder of ours that the run user can pass. */
  socket: string;
  /** Who may connect, when that is not ourselves. */
  owner: { uid: number; gid: number } | null;
}

/** The way out of one run. */
export interface Proxy {
  /** Where it was asked to connect, each different attempt once, in order; at most LIMITS.networkAttempts. */
  attempts(): Attempt[];
  /** Ends all connections and removes the socket. A second call changes nothing. Never rejects. */
  close(): Promise<void>;
}

/**
 * An HTTP proxy (CONNECT, and plain http:// addresses) on a Unix socket, for named hosts alone. A name is looked up once,
 * every address it has must be a public one, and it is these addresses that are connected to. Throws STATE_UNUSABLE.
 */
export async function openProxy(options: ProxyOptions): Promise<Proxy> {
  const dial = dialer(options);
  const server = createServer({ requestTimeout: 0, headersTimeout: LIMITS.networkConnect });
  server.maxConnections = LIMITS.networkConnections;
  server.timeout = LIMITS.networkIdle;
  // None may be left out of what is sent on: a length, for one.
  server.maxHeadersCount = 0;
  server.on("connection", (socket) => dial.watch(socket));
  server.on("connect", (incoming: IncomingMessage, client: Socket, head: Buffer) => void tunnel(dial, incoming, client, head));
  server.on("request", (incoming, response) => void pass(dial, incoming, response));
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, client) => unreadable(dial, error, client));
  await listen(server, options);
  let closing: Promise<void> | null = null;
  return {
    attempts: dial.attempts,
    close: async () => {
      closing ??= new Promise((done) => {
        server.close(() => done());
        dial.end();
      });
      await closing;
      rmSync(options.socket, { force: true });
    },
  };
}

async function listen(server: Server, { socket, owner }: ProxyOptions): Promise<void> {
  const listening = new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.once("listening", done);
  });
  // The socket is made at once: it is never open to others, not even for a moment.
  const before = process.umask(0o177);
  try {
    server.listen(socket);
  } finally {
    process.umask(before);
  }
  try {
    await listening;
    if (owner !== null) chownSync(socket, owner.uid, owner.gid);
  } catch (thrown) {
    server.close();
    throw new DeckhandError("STATE_UNUSABLE", messageOf(thrown), { cause: thrown });
  }
}

/** CONNECT: bytes both ways. */
async function tunnel(dial: Dialer, incoming: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
  const asked = incoming.url ?? "";
  const reached = await dial.reach(hostAndPort(asked), asked);
  if ("status" in reached) {
    client.end(answer(reached));
    return;
  }
  const { socket } = reached;
  if (client.destroyed) {
    socket.destroy();
    return;
  }
  client.once("close", () => socket.destroy());
  socket.once("close", () => client.destroy());
  client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  socket.write(head);
  client.pipe(socket).pipe(client);
}

/** A request for an http:// address, made anew. Redirects go back to the client, who has to ask again. */
async function pass(dial: Dialer, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = incoming.url ?? "";
  const [, authority = "", path = ""] = /^http:\/\/([^/?#]*)([/?][^#]*)?$/i.exec(asked) ?? [];
  const target = hostAndPort(authority) ?? hostAndPort(`${authority}:80`);
  const reached = await dial.reach(target, asked);
  if ("status" in reached || target === null) {
    refuse(response, "status" in reached ? reached : dial.refuse(asked));
    return;
  }
  const { socket } = reached;
  response.once("close", () => socket.destroy());
  if (response.destroyed) {
    socket.destroy();
    return;
  }
  const failed = (error: Error) => refuse(response, { status: 502, text: `the connection to it broke: ${messageOf(error)}` });
  try {
    const headers = onward(incoming, target);
    if (headers === null) throw new Error("its transfer encoding is not known");
    const { method = "GET" } = incoming;
    const out = request({
      method,
      path: path.startsWith("/") ? path : `/${path}`,
      headers,
      setHost: false,
      createConnection: () => socket,
    });
    out.on("error", failed);
    out.on("upgrade", () => failed(new Error("it changed the protocol")));
    out.on("response", (answered) => {
      try {
        response.writeHead(answered.statusCode ?? 502, returned(answered));
        answered.on("error", () => response.destroy());
        answered.pipe(response);
      } catch (thrown) {
        failed(thrown as Error);
      }
    });
    incoming.on("error", () => out.destroy());
    incoming.pipe(out);
  } catch (thrown) {
    socket.destroy();
    failed(thrown as Error);
  }
}

function refuse(response: ServerResponse, { status, text }: Refusal): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
  response.end(`deckhand: ${text}\n`);
}

/** What is no request at all; an odd host in it can be the reason. */
function unreadable(dial: Dialer, error: NodeJS.ErrnoException & { rawPacket?: Buffer }, client: Duplex): void {
  if (!error.code?.startsWith("HPE_") || !client.writable) {
    client.destroy();
    return;
  }
  const line = error.rawPacket?.toString("latin1").split(/\r?\n/, 1)[0] ?? "";
  const asked = /^[A-Z]+ (.+?)(?: HTTP\/[\d.]+)?$/.exec(line)?.[1] ?? "?";
  client.end(answer(dial.refuse(asked)));
}

function answer({ status, text }: Refusal): string {
  const body = `deckhand: ${text}\n`;
  const reason = status === 403 ? "Forbidden" : "Bad Gateway";
  const length = new TextEncoder().encode(body).length;
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${length}`,
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
