import { createServer as createWeb } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { behindEachDoor, type Said, together } from "../../support/doors.ts";
import { systemCall } from "../../support/system-calls.ts";

/** What stands outside: servers of the host's that nobody may reach, and one that plays a public host. */
const servers: Server[] = [];
let callers = 0;
let loopback: number;
let granted: number;
/** Not on loopback's usual address: it counts as public for the workers of this file alone. */
const PUBLIC = "127.0.0.2";
const NAMES = {
  "allowed.test": [PUBLIC],
  "loopback.test": ["127.0.0.1"],
  "private.test": ["10.1.2.3"],
  "metadata.test": ["169.254.169.254"],
  "mapped.test": ["::ffff:10.0.0.1"],
  "mixed.test": [PUBLIC, "192.168.0.1"],
};

/** Bash that puts one request to the proxy and shows the first line and the last of what comes back. */
const ASK = String.raw`ask() { exec 3<>/dev/tcp/127.0.0.1/3128 || return; printf '%b\r\n\r\n' "$*" >&3; sed -n '1p;$p' <&3; exec 3>&-; }`;

async function listen(server: Server, where: object): Promise<Server> {
  servers.push(server);
  await once(server.listen(where), "listening");
  return server;
}

function caller(): Server {
  return createServer((client) => void (callers++, client.destroy()));
}

beforeAll(async () => {
  loopback = ((await listen(caller(), { host: "127.0.0.1", port: 0 })).address() as AddressInfo).port;
  const web = createWeb((request, response) => response.end(`the allowed host at ${request.headers.host}\n`));
  granted = ((await listen(web, { host: PUBLIC, port: 0 })).address() as AddressInfo).port;
});
afterAll(() => {
  for (const server of servers) server.close();
});

behindEachDoor(
  (door) => {
    let said: Record<string, Said>;

    beforeAll(async () => {
      const { place, sh } = door();
      const [path, abstract] = [join(place.root, "docker.sock"), `deckhand-${place.root}`];
      await listen(caller(), { path });
      await listen(caller(), { path: `\0${abstract}` });
      const local = (address: string) =>
        `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die; connect(S, pack_sockaddr_un(${address})) or die "$!\\n"'`;
      said = await together(sh, {
        "38": `exec 3<>/dev/tcp/127.0.0.1/${loopback}`,
        "39": local(`"\\0${abstract}"`),
        "40": local(`"${path}"`),
        "41": "exec 3<>/dev/tcp/169.254.169.254/80",
        "42": "getent hosts example.com; exec 3<>/dev/tcp/1.1.1.1/53",
        "43": [40, 17, 38, 44, 29, 31].map((family) => `${systemCall("socket", family, 3, 0)}; echo`).join("\n"),
        links: "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; cat /proc/net/unix | wc -l; ls -A /run",
      });
    });

    it.each([
      ["38 a port of the host: refused", "38", /Connection refused/],
      ["39 an abstract socket of the host: refused", "39", /^Connection refused\n$/],
      ["40 a socket file of the host, as Docker's: not there", "40", /^No such file or directory\n$/],
      ["41 the metadata of a cloud: unreachable", "41", /Network is unreachable/],
      ["42 names: no answer", "42", /^bash: connect: Network is unreachable\nbash: line 1: \S*: Network is unreachable\n$/],
      ["43 sockets of kinds that leave a network namespace: not supported", "43", /^(EAFNOSUPPORT\n){6}$/],
    ])("%s", (_, name, words) => {
      expect(said[name]?.text).toMatch(words);
      expect(said.links?.text).toMatch(/^lo\n1\nsess\n$/);
      expect(callers).toBe(0);
    });

    it("44 with a grant: the host that it names, and no other; without an approval or afterwards: nothing", async () => {
      const { sh } = door();
      const grants = [`network=allowed.test:${granted}`];
      const lines = [
        ASK,
        `ask "GET http://allowed.test:${granted}/ HTTP/1.0"`,
        `ask "CONNECT allowed.test:${granted} HTTP/1.0\\r\\n\\r\\nGET / HTTP/1.0\\r\\nHost: inner"`,
        'ask "GET http://evil.test/ HTTP/1.0"',
        'ask "CONNECT evil.test:443 HTTP/1.0"',
        `exec 4<>/dev/tcp/${PUBLIC}/${granted}`,
      ];
      const { output, network } = await sh(lines.join("\n"), { reach: "approved", grants });
      const [get, body, tunnel, through, other, , otherTunnel, ...rest] = output.text.split("\n");
      expect([get, body]).toEqual([expect.stringMatching(/^HTTP\/1\.1 200/), `the allowed host at allowed.test:${granted}`]);
      expect([tunnel, through]).toEqual([expect.stringMatching(/^HTTP\/1\.1 200/), "the allowed host at inner"]);
      expect([other, otherTunnel]).toEqual([expect.stringMatching(/^HTTP\/1\.1 403/), expect.stringMatching(/^HTTP\/1\.1 403/)]);
      expect(rest.join("\n")).toMatch(/Connection refused/);
      expect(network).toEqual([
        { host: "allowed.test", port: granted, refused: null },
        { host: "evil.test", port: 80, refused: expect.any(String) as string },
        { host: "evil.test", port: 443, refused: expect.any(String) as string },
      ]);
      expect(await sh("true", { grants })).toMatchObject({ how: "refused", why: expect.stringContaining("GRANT_REFUSED") as string });
      expect(
        (await sh(`${ASK}\nask "GET http://allowed.test:${granted}/ HTTP/1.0"; ls -A /run`, { reach: "approved" })).output.text,
      ).toMatch(/Connection refused\n(.*\n)*sess\n$/);
    });

    it("45 with a grant: odd spellings, other ports, and names that lead to what is not public are refused", async () => {
      const { sh } = door();
      const grants = Object.keys(NAMES).map((name) => `network=${name}:${granted}`);
      const hosts = [
        ...[
          "allowed.test\\0.evil.test",
          "allowed.test\\r.evil.test",
          "allowed.test\\r\\nX: .evil.test",
          "allowed.test.evil.test",
          "evil.allowed.test",
        ],
        ...["2130706434", "0x7f000002", "0177.0.0.2", "127.2", "127.0.0.2", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]", "[::1]", "localhost"],
        ...["user@allowed.test", "allowed.test@evil.test", "allowed.test.", "allowed%2etest", "allowed.test%00", "", "*"],
        ...["loopback.test", "private.test", "metadata.test", "mapped.test", "mixed.test"],
      ];
      const asked = hosts.flatMap((host) => [`GET http://${host}:${granted}/ HTTP/1.0`, `CONNECT ${host}:${granted} HTTP/1.0`]);
      asked.push(`CONNECT allowed.test:${loopback} HTTP/1.0`, "CONNECT allowed.test HTTP/1.0", `CONNECT allowed.test:0${granted} HTTP/1.0`);
      const { output, network } = await sh([ASK, ...asked.map((line) => `ask '${line}' | head -n 1`)].join("\n"), {
        reach: "approved",
        grants,
      });
      const answers = output.text.trimEnd().split("\n");
      expect(asked.filter((_, at) => !answers[at]?.startsWith("HTTP/1.1 403"))).toEqual([]);
      expect(answers).toHaveLength(asked.length);
      expect(network?.filter(({ refused }) => refused === null)).toEqual([]);
      expect(callers).toBe(0);
    });
  },
  { network: { names: NAMES, open: [PUBLIC] } },
);
