import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { discordChat } from "../../../src/chat/discord/discord.ts";
import type { Chat } from "../../../src/core/ports.ts";
import { memoryLog } from "../../../src/memory.ts";
import { type FileHost, fetchText, fileAt, refusedWith, startFileHost } from "../../support/file-host.ts";
import { listTrace, realClock } from "../slack/kit.ts";
import { ADA, GENERAL, ids, openRoom, type Room } from "./kit.ts";

function chatAt(apiUrl: string | null): Chat {
  return discordChat({ token: "secret", apiUrl, trace: listTrace(), log: memoryLog(realClock), clock: realClock, ids, watch: [] });
}

describe("a file that somebody attached in Discord", () => {
  let room: Room;
  let host: FileHost;
  let other: FileHost;

  beforeAll(async () => {
    room = await openRoom();
    other = await startFileHost({ "/steal": (r) => r.end("stolen") });
    host = await startFileHost({
      "/away": (r) => r.writeHead(302, { location: `${other.url}/steal` }).end(),
      "/busy": (r) => r.writeHead(429).end(),
      "/broken": (r) => r.writeHead(503).end(),
      "/odd": (r) => r.writeHead(418).end(),
      "/fine": (r) => r.end("fine"),
      "/big": (r) => r.writeHead(200, { "content-length": "2000000" }).flushHeaders(),
    });
  });
  afterAll(() => Promise.all([room.close(), host.close(), other.close()]));

  it("is fetched by its signed address, and nobody's token goes there", async () => {
    const text = `<@${room.twin.botUserId}> look`;
    await room.twin.say({ channel: GENERAL, user: ADA, text, files: [{ name: "a.log", content: "grüße\n" }] });
    const url = (await room.heard("mention")).files?.[0]?.url ?? "";
    expect(await fetchText(room.chat, url)).toBe("grüße\n");
    expect(await fetchText(chatAt(`${host.url}/api`), `${host.url}/fine`)).toBe("fine");
    expect(host.asked).toEqual([{ path: "/fine", authorization: undefined }]);
    const forged = url.replace(/hm=[^&]*/, "hm=0");
    expect(await refusedWith(fetchText(room.chat, forged))).toEqual({ kind: "refused", code: "not_shown" });
  });

  it.each([
    "http://169.254.169.254/latest/meta-data",
    "https://cdn.discordapp.com.evil.example/x",
    "https://cdn.discordapp.com@evil.example/x",
    "http://cdn.discordapp.com/not-encrypted",
    "file:///etc/passwd",
    "",
  ])("is never fetched from elsewhere: %s", async (url) => {
    expect(await refusedWith(fetchText(chatAt(null), url))).toEqual({ kind: "refused", code: "elsewhere" });
  });

  it("does not take us to another host by a redirect", async () => {
    const chat = chatAt(`${host.url}/api`);
    expect(await refusedWith(fetchText(chat, `${other.url}/steal`))).toMatchObject({ code: "elsewhere" });
    expect(await refusedWith(fetchText(chat, `${host.url}/away`))).toEqual({ kind: "refused", code: "not_shown" });
    expect(other.asked).toEqual([]);
  });

  it("that is too large is let go as soon as that is known", async () => {
    for (const path of ["/big", "/endless"]) {
      const refused = await refusedWith(fetchText(chatAt(`${host.url}/api`), `${host.url}${path}`));
      expect(refused).toEqual({ kind: "refused", code: "too_large" });
    }
    expect(host.written()).toBeLessThan(100_000_000);
  });

  it.each([
    ["/busy", { kind: "later", code: "ratelimited", retryAfterMs: 5_000 }],
    ["/broken", { kind: "later", code: "http_503" }],
    ["/missing", { kind: "refused", code: "not_shown" }],
    ["/odd", { kind: "refused", code: "http_418" }],
  ])("that Discord fails to send: %s", async (path, refusal) => {
    expect(await refusedWith(fetchText(chatAt(`${host.url}/api`), `${host.url}${path}`))).toEqual(refusal);
  });

  it("is let go when we stop", async () => {
    const stop = new AbortController();
    const download = chatAt(`${host.url}/api`).download(fileAt(`${host.url}/silent`), { maxBytes: 10, signal: stop.signal });
    stop.abort();
    expect(await refusedWith(download)).toMatchObject({ kind: "later" });
  });
});
