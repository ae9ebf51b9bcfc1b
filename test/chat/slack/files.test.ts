import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { slackChat } from "../../../src/chat/slack/slack.ts";
import type { Chat } from "../../../src/core/ports.ts";
import { type FileHost, fetchText, fileAt, refusedWith, startFileHost } from "../../support/file-host.ts";
import { listTrace, memoryMarks, openRoom, realClock, type Room } from "./kit.ts";

const never = new AbortController().signal;

function chatAt(apiUrl: string | null): Chat {
  return slackChat({ botToken: "xoxb-secret", appToken: "", apiUrl, trace: listTrace(), log: memoryMarks(), clock: realClock, watch: [] });
}

describe("a file that somebody attached in Slack", () => {
  let room: Room;
  let host: FileHost;
  let other: FileHost;

  beforeAll(async () => {
    room = await openRoom({ started: false });
    other = await startFileHost({ "/steal": (r) => r.end("stolen") });
    host = await startFileHost({
      "/away": (r) => r.writeHead(302, { location: `${other.url}/steal` }).end(),
      "/page": (r) => r.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<title>Sign in</title>"),
      "/busy": (r) => r.writeHead(429, { "retry-after": "7" }).end(),
      "/broken": (r) => r.writeHead(502).end(),
      "/cut": (r) => r.writeHead(200, { "content-length": "100" }).write("half", () => r.destroy()),
      "/big": (r) => r.writeHead(200, { "content-length": "2000000" }).flushHeaders(),
    });
  });
  afterAll(() => Promise.all([room.close(), host.close(), other.close()]));

  async function attached(content: string): Promise<string> {
    const { ts } = await room.twin.say({ channel: "C1", user: "U1", text: "look", files: [{ name: "a.txt", content }] });
    return String(room.twin.messages("C1").find((message) => message.ts === ts)?.files?.[0]?.["url_private_download"]);
  }

  it("is fetched with the bot's token", async () => {
    expect(await fetchText(room.chat, await attached("grüße\n"))).toBe("grüße\n");
  });

  it("is refused when Slack does not let the app see it", async () => {
    const url = await attached("x");
    expect(await refusedWith(fetchText(chatAt(room.twin.apiUrl), url))).toEqual({ kind: "refused", code: "not_shown" });
    expect(await refusedWith(fetchText(chatAt(`${host.url}/api/`), `${host.url}/page`))).toMatchObject({ code: "not_shown" });
    expect(await refusedWith(fetchText(chatAt(null), ""))).toMatchObject({ code: "not_shown" });
  });

  it("that is a page itself is fetched like any other", async () => {
    const file = fileAt(`${host.url}/page`, "text/html");
    const page = await chatAt(`${host.url}/api/`).download(file, { maxBytes: 1_000, signal: never });
    expect(new TextDecoder().decode(page)).toContain("Sign in");
  });

  it.each([
    "http://169.254.169.254/latest/meta-data",
    "https://files.slack.com.evil.example/x",
    "https://files.slack.com@evil.example/x",
    "https://evil.example/https://files.slack.com/",
    "http://files.slack.com/not-encrypted",
    "https://files.slack.com:8443/x",
    "file:///etc/passwd",
    "no address",
  ])("is never fetched from elsewhere: %s", async (url) => {
    expect(await refusedWith(fetchText(chatAt(null), url))).toEqual({ kind: "refused", code: "elsewhere" });
  });

  it("does not take us, or the token, to another host by a redirect", async () => {
    const chat = chatAt(`${host.url}/api/`);
    expect(await refusedWith(fetchText(chat, `${other.url}/steal`))).toMatchObject({ code: "elsewhere" });
    expect(await refusedWith(fetchText(chat, `${host.url}/away`))).toEqual({ kind: "refused", code: "not_shown" });
    expect(other.asked).toEqual([]);
    expect(host.asked.at(-1)).toEqual({ path: "/away", authorization: "Bearer xoxb-secret" });
  });

  it("that is too large is let go as soon as that is known", async () => {
    const chat = chatAt(`${host.url}/api/`);
    for (const path of ["/big", "/endless"]) {
      expect(await refusedWith(fetchText(chat, `${host.url}${path}`))).toEqual({ kind: "refused", code: "too_large" });
    }
    expect(host.written()).toBeLessThan(100_000_000);
  });

  it.each([
    ["/busy", { kind: "later", code: "ratelimited", retryAfterMs: 7_000 }],
    ["/broken", { kind: "later", code: "http_502" }],
    ["/cut", { kind: "later" }],
    ["/missing", { kind: "refused", code: "http_404" }],
  ])("that Slack fails to send: %s", async (path, refusal) => {
    expect(await refusedWith(fetchText(chatAt(`${host.url}/api/`), `${host.url}${path}`))).toMatchObject(refusal);
  });

  it("is let go when we stop", async () => {
    const stop = new AbortController();
    const download = chatAt(`${host.url}/api/`).download(fileAt(`${host.url}/silent`), { maxBytes: 10, signal: stop.signal });
    stop.abort();
    expect(await refusedWith(download)).toMatchObject({ kind: "later" });
  });
});
