import { statSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { assert, asyncProperty, constantFrom, oneof, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/limits.ts";
import { isRoot, RUN_UID } from "../support/workspace.ts";
import { get, open, serve, serveTcp, tunnel } from "./proxy-kit.ts";

const FORBIDDEN = /^HTTP\/1\.1 403 /;

describe("a host that is allowed", () => {
  it("answers a plain request", async () => {
    const { port, asked } = await serve();
    const { say, proxy } = await open({ allows: [{ host: "good.example", port }] });
    expect(await say(get(`http://good.example:${port}/a?b=c`))).toMatch(/^HTTP\/1\.1 200 [^]*hello $/);
    expect(asked).toEqual(["GET /a?b=c"]);
    expect(proxy.attempts()).toEqual([{ host: "good.example", port, refused: null }]);
  });

  it("is reached through a tunnel, with bytes that came early and answers that come late", async () => {
    const port = await serveTcp((socket) => {
      socket.on("end", () => setTimeout(() => socket.end("late"), 50));
      socket.on("data", (data) => socket.write(String(data).toUpperCase()));
    });
    const { socket } = await open({ allows: [{ host: "good.example", port }] });
    const client = connect({ path: socket, allowHalfOpen: true });
    client.end(`${tunnel(`good.example:${port}`)}early`);
    expect(Buffer.concat(await client.toArray()).toString()).toBe("HTTP/1.1 200 Connection established\r\n\r\nEARLYlate");
  });

  it("is the same in capitals", async () => {
    const { port } = await serve();
    const { say } = await open({ allows: [{ host: "Good.example", port }] });
    expect(await say(get(`http://GOOD.Example:${port}/`))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("is reached at the address that was checked, and looked up once", async () => {
    const { port } = await serve();
    const answers = [["127.0.0.1"], ["127.0.0.2"]];
    const checked: string[] = [];
    const { say } = await open({
      allows: [{ host: "good.example", port }],
      lookup: async () => answers.shift() ?? [],
      isPublic: (address) => checked.push(address) > 0,
    });
    expect(await say(get(`http://good.example:${port}/`))).toMatch(/^HTTP\/1\.1 200 /);
    expect([checked, answers]).toEqual([["127.0.0.1"], [["127.0.0.2"]]]);
  });

  it("is reached at its next address when the first does not answer", async () => {
    const { port } = await serve();
    const { say } = await open({ allows: [{ host: "good.example", port }], lookup: async () => ["127.0.0.9", "127.0.0.1"] });
    expect(await say(get(`http://good.example:${port}/`))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("that nothing listens at is told as that, not as refused", async () => {
    const { say, proxy } = await open({ allows: [{ host: "good.example", port: 1 }] });
    expect(await say(get("http://good.example:1/"))).toMatch(/^HTTP\/1\.1 502 [^]*good\.example:1 cannot be reached: .*ECONNREFUSED/);
    expect(await say(tunnel("good.example:1"))).toMatch(/^HTTP\/1\.1 502 [^]*ECONNREFUSED/);
    expect(proxy.attempts()).toEqual([{ host: "good.example", port: 1, refused: null }]);
  });

  it("is not followed when it sends the client elsewhere", async () => {
    const { port } = await serve((_, response) => response.writeHead(302, { Location: "http://evil.example/" }).end());
    const { say, proxy } = await open({ allows: [{ host: "good.example", port }] });
    expect(await say(get(`http://good.example:${port}/`))).toMatch(/^HTTP\/1\.1 302 [^]*Location: http:\/\/evil\.example\//);
    expect(proxy.attempts()).toHaveLength(1);
  });
});

describe("what is not allowed", () => {
  it.each([
    ["another host", "evil.example:443"],
    ["another port", "good.example:444"],
    ["a longer name", "good.example.evil.example:443"],
    ["a name with another beginning", "evilgood.example:443"],
    ["a name below it", "www.good.example:443"],
    ["a user before it", "good.example@evil.example:443"],
    ["a user and password before it", "a:b@good.example:443"],
    ["a dot behind it", "good.example.:443"],
    ["a NUL in it", "good.example\0.evil.example:443"],
    ["a CR in it", "good.example\r.evil.example:443"],
    ["a blank in it", "good.example .evil.example:443"],
    ["an escape in it", "good.example%2eevil.example:443"],
    ["other letters", "g\u00f6od.example:443"],
    ["a slash in it", "good.example/:443"],
    ["no port", "good.example"],
    ["port 0", "good.example:0"],
    ["a port that is too high", "good.example:65979"],
    ["a port with a zero before it", "good.example:0443"],
    ["this machine by name", "localhost:443"],
    ["this machine by address", "127.0.0.1:443"],
    ["an address as one number", "2130706433:443"],
    ["an address in octal", "0177.0.0.1:443"],
    ["an address in hexadecimal", "0x7f000001:443"],
    ["an address in two parts", "127.1:443"],
    ["an IPv6 address", "[::1]:443"],
    ["an IPv6 address without brackets", "::1:443"],
    ["the metadata of clouds", "169.254.169.254:443"],
    ["nothing", ":443"],
  ])("%s is refused with 403", async (_, authority) => {
    const { say, proxy } = await open({ allows: [{ host: "good.example", port: 443 }] });
    expect(await say(Buffer.from(tunnel(authority), "latin1"))).toMatch(FORBIDDEN);
    expect(await say(Buffer.from(get(`http://${authority}/`), "latin1"))).toMatch(FORBIDDEN);
    for (const attempt of proxy.attempts()) expect(attempt.refused).toMatch(/./);
    expect(proxy.attempts()).not.toEqual([]);
  });

  it.each([
    ["a path alone", "/x"],
    ["https as a plain request", "https://good.example/"],
    ["another scheme", "ftp://good.example/"],
    ["all of the server", "*"],
  ])("%s is refused with 403", async (_, url) => {
    const { say } = await open({ allows: [{ host: "good.example", port: 80 }] });
    expect(await say(`OPTIONS ${url} HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n`)).toMatch(FORBIDDEN);
  });

  it("is told in one line, to the client and in the list of attempts", async () => {
    const { say, proxy } = await open({ allows: [{ host: "good.example", port: 443 }] });
    const text = (await say(tunnel("evil.example:443"))).split("\r\n\r\n")[1];
    expect(text).toBe("deckhand: evil.example:443 is refused: it is not among the hosts that are allowed\n");
    await say(tunnel("good.example:22"));
    await say(tunnel("a\0b:1"));
    expect(proxy.attempts()).toEqual([
      { host: "evil.example", port: 443, refused: "it is not among the hosts that are allowed" },
      { host: "good.example", port: 22, refused: "only port 443 of it is allowed" },
      { host: "a⟨U+0000⟩b:1", port: 0, refused: expect.stringMatching(/plain spelling/) },
    ]);
  });

  it("is told without what it held beside a host: passwords, paths", async () => {
    const { say, proxy } = await open({});
    await say(get("http://ann:hunter2@good.example/secret"));
    await say(tunnel("ann:hunter2@good.example:443"));
    await say(get("https://good.example:443/secret?token"));
    await say(get("/secret"));
    expect(proxy.attempts().map(({ host }) => host)).toEqual(["...@good.example", "...@good.example:443", "good.example:443", "?"]);
  });

  it("whatever is written, nothing but the allowed name is looked up", async () => {
    const asked = new Set<string>();
    const { say } = await open({
      allows: [{ host: "good.example", port: 443 }],
      lookup: async (host) => (asked.add(host), Promise.reject(new Error("no"))),
    });
    const piece = constantFrom(
      "good.example",
      "evil.example",
      "127.0.0.1",
      "[::1]",
      ":443",
      "@",
      ":",
      ".",
      "%00",
      "\0",
      "\\",
      "/",
      "#",
      "?",
      " ",
      "x",
    );
    const authority = oneof(string({ maxLength: 30 }), string({ unit: piece, maxLength: 5 }));
    await assert(
      asyncProperty(authority, async (text) => {
        await say(Buffer.from(tunnel(text), "utf8"));
        await say(Buffer.from(get(`http://${text}/`), "utf8"));
      }),
      { numRuns: 150 },
    );
    expect([...asked].filter((host) => host !== "good.example")).toEqual([]);
  });
});

describe("where a name leads", () => {
  const allows = [{ host: "good.example", port: 80 }];

  it.each([
    ["this machine", ["127.0.0.1"]],
    ["a private network", ["10.1.2.3"]],
    ["the metadata of clouds", ["169.254.169.254"]],
    ["this machine, as IPv6", ["::ffff:127.0.0.1"]],
    ["a public and a private address", ["93.184.216.34", "192.168.0.1"]],
    ["nothing that is an address", ["good.example"]],
    ["nowhere", []],
  ])("to %s is refused", async (_, addresses) => {
    // Without the tests' own idea of what is public.
    const { proxy, say } = await open({ allows, lookup: async () => addresses, isPublic: undefined as never });
    expect(await say(tunnel("good.example:80"))).toMatch(/^HTTP\/1\.1 403 [^]*leads to an address that is not a public one/);
    expect(proxy.attempts()).toEqual([{ host: "good.example", port: 80, refused: expect.stringMatching(/not a public one/) }]);
  });

  it("cannot be found out: that is told", async () => {
    const { say } = await open({ allows, lookup: async () => Promise.reject(new Error("ENOTFOUND")) });
    expect(await say(tunnel("good.example:80"))).toMatch(/^HTTP\/1\.1 502 [^]*its address is not known \(ENOTFOUND\)/);
  });
});

describe("any public host", () => {
  const allows = [{ host: "*", port: null }];

  it("is every name at every port", async () => {
    const { port } = await serve();
    const { say } = await open({ allows });
    expect(await say(get(`http://what.ever:${port}/`))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await say(get(`http://127.0.0.1:${port}/`))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("is no IPv6 address, which has to be named", async () => {
    const { say } = await open({ allows });
    expect(await say(tunnel("[2606:4700::1111]:443"))).toMatch(FORBIDDEN);
    const named = await open({ allows: [{ host: "[2606:4700:0::1111]", port: 443 }], isPublic: () => false });
    expect(await named.say(tunnel("[2606:4700::1111]:443"))).toMatch(/leads to an address that is not a public one/);
  });

  it("is not this machine under a public address of its own, nor a private one", async () => {
    const { say } = await open({ allows, isPublic: undefined as never, lookup: async () => ["127.0.0.1"] });
    for (const host of ["localhost:6379", "10.0.0.1:80", "metadata.google.internal:80", "168.63.129.16:80"]) {
      expect(await say(tunnel(host))).toMatch(FORBIDDEN);
    }
  });
});

describe("the proxy", () => {
  it("lets nobody but the owner of its socket in", async () => {
    const owner = isRoot() ? { uid: RUN_UID, gid: RUN_UID } : null;
    const { socket } = await open({ owner });
    const { mode, uid } = statSync(socket);
    expect([mode & 0o777, uid]).toEqual([0o600, owner?.uid ?? process.getuid?.()]);
  });

  it("keeps each different attempt once, and not more than it may", async () => {
    const { say, proxy } = await open({ allows: [] });
    await Promise.all(Array.from({ length: 20 }, () => say(tunnel("evil.example:443"))));
    expect(proxy.attempts()).toHaveLength(1);
    for (let port = 1; port <= LIMITS.networkAttempts + 5; port++) await say(tunnel(`evil.example:${port}`));
    expect(proxy.attempts()).toHaveLength(LIMITS.networkAttempts);
  });

  it("ends everything at once when it is closed, tunnels and requests under way among it", async () => {
    const port = await serveTcp(() => {});
    const { socket, proxy } = await open({ allows: [{ host: "good.example", port }] });
    const tunnelled = connect({ path: socket });
    tunnelled.write(tunnel(`good.example:${port}`));
    await once(tunnelled, "data");
    const waiting = connect({ path: socket });
    waiting.write(get(`http://good.example:${port}/`));
    const silent = connect({ path: socket });
    await once(silent, "connect");
    const ends = [tunnelled, waiting, silent].map(async (client) => {
      client.on("error", () => {});
      client.resume();
      await new Promise((done) => client.once("close", done));
    });
    await proxy.close();
    await Promise.all(ends);
    await proxy.close();
    expect(statSync(socket, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("takes no more connections at once than it may", async () => {
    const { socket } = await open({});
    const clients = Array.from({ length: LIMITS.networkConnections }, () => connect({ path: socket }));
    await Promise.all(clients.map((client) => once(client, "connect")));
    const late = connect({ path: socket });
    late.on("error", () => {});
    late.resume();
    await new Promise((done) => late.once("close", done));
    for (const client of clients) client.destroy();
  });

  it("cannot be made where a socket cannot be: that is told", async () => {
    await expect(open({ socket: `/tmp/${"x".repeat(120)}` })).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
  });
});
