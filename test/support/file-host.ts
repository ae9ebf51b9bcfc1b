import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import type { MessageFile } from "../../src/core/entry.ts";
import { type Chat, ChatError, type ChatRefusal } from "../../src/core/ports.ts";

/** A host of files that answers as it is told, and remembers what it was asked. */
export interface FileHost {
  url: string;
  asked: { path: string; authorization: string | undefined }[];
  /** Bytes that were written of bodies without an end. */
  written(): number;
  close(): Promise<void>;
}

type Answers = Record<string, (response: ServerResponse) => void>;

/** Beside the answers given, `/endless` sends more and more, and `/silent` nothing. */
export async function startFileHost(answers: Answers = {}): Promise<FileHost> {
  const asked: FileHost["asked"] = [];
  let written = 0;
  async function endless(response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": "text/plain" });
    while (!response.destroyed && written < 200_000_000) {
      written += 100_000;
      if (!response.write("x".repeat(100_000))) await setTimeout(1);
    }
    response.end();
  }
  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    asked.push({ path, authorization: request.headers.authorization });
    if (path === "/endless") void endless(response);
    else if (path !== "/silent") (answers[path] ?? ((each) => each.writeHead(404).end()))(response);
  }
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    written: () => written,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function fileAt(url: string, type = "text/plain"): MessageFile {
  return { name: "a.txt", type, bytes: 1, url };
}

export async function fetchText(chat: Chat, url: string, maxBytes = 1_000_000): Promise<string> {
  return new TextDecoder().decode(await chat.download(fileAt(url), { maxBytes, signal: new AbortController().signal }));
}

/** What a download is refused with. */
export async function refusedWith(download: Promise<Uint8Array | string>): Promise<ChatRefusal> {
  const thrown: unknown = await download.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ChatError);
  return (thrown as ChatError).refusal;
}
