import { describe, expect, it } from "vitest";
import { get, open, type Opened, type Served, serve, serveTcp } from "./proxy-kit.ts";

/** A proxy that allows one server, and that server. */
async function both(handle?: Parameters<typeof serve>[0]): Promise<Opened & { served: Served; url: string }> {
  const served = await serve(handle);
  return { ...(await open({ allows: [{ host: "good.example", port: served.port }] })), served, url: `http://good.example:${served.port}/` };
}

describe("a plain request", () => {
  it.each([
    ["POST", "Content-Length: 4", "body"],
    ["POST", "Transfer-Encoding: chunked", "4\r\nbody\r\n0\r\n\r\n"],
    ["DELETE", "Transfer-Encoding: chunked", "4\r\nbody\r\n0\r\n\r\n"],
    ["GET", "Transfer-Encoding: chunked", "4\r\nbody\r\n0\r\n\r\n"],
    ["PUT", "Content-Length: 4\r\nExpect: 100-continue", "body"],
  ])("by %s with %j comes with its body", async (method, header, body) => {
    const { say, url } = await both();
    const answer = await say(`${method} ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n\r\n${body}`);
    expect(answer).toMatch(/HTTP\/1\.1 200 OK[^]*hello body/);
  });

  it("by POST without a body says so", async () => {
    const { say, url, served } = await both();
    await say(`POST ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(served.headers().join("|")).toContain("Content-Length|0");
  });

  it("comes with the host of its address, and without what is for the proxy alone", async () => {
    const { say, url, served } = await both();
    const drop = "Proxy-Authorization: Basic x\r\nProxy-Connection: close\r\nTE: trailers\r\nUpgrade: websocket\r\nX-Drop: 1\r\n";
    await say(`GET ${url} HTTP/1.1\r\nHost: evil.example\r\nConnection: close, X-Drop\r\n${drop}X-Keep: 1\r\nX-Keep: 2\r\n\r\n`);
    const host = new URL(url).host;
    expect(served.headers()).toEqual(["Host", host, "X-Keep", "1", "X-Keep", "2", "Connection", "close"]);
  });

  it("may end in a question mark's words without a path", async () => {
    const { say, url, served } = await both();
    await say(get(`${url.slice(0, -1)}?a`));
    await say(get(url.slice(0, -1)));
    expect(served.asked).toEqual(["GET /?a", "GET /"]);
  });

  it("can be followed by another on the same connection, which is checked anew", async () => {
    const { say, url, proxy } = await both();
    const answers = await say(`GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n${get("http://evil.example/")}`);
    expect(answers).toMatch(/200 OK[^]*hello[^]*HTTP\/1\.1 403 Forbidden/);
    expect(
      proxy
        .attempts()
        .map(({ host }) => host)
        .sort(),
    ).toEqual(["evil.example", "good.example"]);
  });

  it.each([
    ["two lengths", "Content-Length: 4\r\nContent-Length: 40\r\n"],
    ["a length and pieces", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"],
    ["a length that is none", "Content-Length: +4\r\n"],
    ["an encoding that is none", "Transfer-Encoding: xchunked\r\n"],
    ["a line end within a header", "X: a\rGET http://evil.example/ HTTP/1.1\r\n"],
    ["a blank before the colon", "Content-Length : 4\r\n"],
    ["a continued header", "X: a\r\n b\r\nTransfer-Encoding:\r\n chunked\r\n"],
  ])("with %s hides no second one", async (_, header) => {
    const { say, url, served } = await both();
    await say(`POST ${url} HTTP/1.1\r\nHost: x\r\n${header}\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(served.asked.filter((line) => line !== "POST /")).toEqual([]);
  });
});

describe("the answer to a plain request", () => {
  it("comes as it is, without what is for one connection alone", async () => {
    const { say, url } = await both((_, response) => {
      response.writeHead(418, ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Drop", "1", "Connection", "X-Drop", "Keep-Alive", "timeout=5"]);
      response.end("tea");
    });
    const answer = await say(get(url));
    expect(answer).toMatch(/^HTTP\/1\.1 418 [^]*Set-Cookie: a=1\r\nSet-Cookie: b=2[^]*tea/);
    expect(answer).not.toMatch(/X-Drop|Keep-Alive/);
  });

  it("to HEAD keeps its length and has no body", async () => {
    const { say, url } = await both((_, response) => response.writeHead(200, { "Content-Length": 5 }).end());
    expect(await say(get(url).replace("GET", "HEAD"))).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*Content-Length: 5\r\n(?:.+\r\n)*\r\n$/);
  });

  it.each([
    ["is no answer", "220 mail.example ESMTP\r\n", /^HTTP\/1\.1 502 /],
    ["changes the protocol", "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", /^HTTP\/1\.1 502 /],
    ["ends before it began", "", /^HTTP\/1\.1 502 /],
    ["ends too early", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", /^HTTP\/1\.1 200 (?!.*\r\n0\r\n)/],
  ])("that %s ends the connection", async (_, bytes, expected) => {
    const port = await serveTcp((socket) => socket.once("data", () => socket.end(bytes)));
    const { say } = await open({ allows: [{ host: "good.example", port }] });
    expect(await say(get(`http://good.example:${port}/`))).toMatch(expected);
  });
});
