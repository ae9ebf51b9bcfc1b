import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcp, type Server, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openProxy, type Proxy, type ProxyOptions } from "../../src/sandbox/proxy.ts";

export interface Served {
  port: number;
  /** What came in, as `METHOD path`. */
  asked: string[];
  /** The last request's headers, names and values in turns. */
  headers: () => string[];
}

/** A web server on loopback that says `hello` and what it was sent, unless told otherwise. */
export async function serve(handle?: (incoming: IncomingMessage, response: ServerResponse) => void): Promise<Served> {
  const asked: string[] = [];
  let headers: string[] = [];
  const server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    headers = incoming.rawHeaders;
    if (handle !== undefined) handle(incoming, response);
    else void incoming.toArray().then((parts) => response.end(`hello ${Buffer.concat(parts).toString()}`));
  });
  return { port: await port(server), asked, headers: () => headers };
}

/** A server on loopback that does this with each connection. */
export async function serveTcp(handle: (socket: Socket) => void): Promise<number> {
  return await port(createTcp({ allowHalfOpen: true }, handle));
}

async function port(server: Server): Promise<number> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

export interface Opened {
  proxy: Proxy;
  socket: string;
  /** Sends these bytes and gives all that comes back until the proxy ends the connection. */
  say: (bytes: string | Uint8Array) => Promise<string>;
}

/** A proxy to loopback servers: every name leads there, and that counts as public unless the test says otherwise. */
export async function open(options: Partial<ProxyOptions>): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), "deckhand-proxy-"));
  const socket = join(folder, "s");
  const all: ProxyOptions = {
    ...{ socket, owner: null, allows: [], lookup: async () => ["127.0.0.1"], isPublic: () => true },
    ...options,
  };
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const proxy = await openProxy(all);
  onTestFinished(() => proxy.close());
  return { proxy, socket, say: async (bytes) => await said(socket, bytes) };
}

async function said(path: string, bytes: string | Uint8Array): Promise<string> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on("error", () => {});
  socket.write(bytes);
  const parts = await socket.toArray().catch(() => []);
  socket.destroy();
  return Buffer.concat(parts).toString("latin1");
}

/** `GET` of an absolute address, the last on its connection. */
export function get(url: string, more = ""): string {
  return `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`;
}

export function tunnel(authority: string): string {
  return `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n\r\n`;
}
