import { isIP } from "node:net";
import { assert, constantFrom, domain, ipV4, ipV6, oneof, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { type Grant, grantSentence, grantText, hostAndPort, parseGrant, plainHost } from "../../src/core/grants.ts";

describe("a grant", () => {
  it.each<[string, Grant, string]>([
    ["network=example.com:443", { kind: "network", host: "example.com", port: 443 }, "may connect to example.com:443"],
    ["network=[2606:4700::1111]:80", { kind: "network", host: "[2606:4700::1111]", port: 80 }, "may connect to [2606:4700::1111]:80"],
    ["network=*", { kind: "network", host: "*", port: null }, "may connect to any public host"],
    ["read=/opt/with blank", { kind: "read", path: "/opt/with blank" }, "may read /opt/with blank"],
    ["write=/srv/out=1", { kind: "write", path: "/srv/out=1" }, "may change /srv/out=1"],
    ["credential=github", { kind: "credential", name: "github" }, 'gets the credential "github"'],
  ])("%s is read, written and told", (text, grant, sentence) => {
    expect(parseGrant(text)).toEqual(grant);
    expect(grantText(grant)).toBe(text);
    expect(grantSentence(grant)).toBe(sentence);
  });

  it("for a host in capitals or a long address is the one for its plain spelling", () => {
    expect(grantText(parseGrant("network=EXAMPLE.com:443"))).toBe("network=example.com:443");
    expect(grantText(parseGrant("network=[2606:4700:0:0:0::1111]:443"))).toBe("network=[2606:4700::1111]:443");
  });

  it.each([
    "",
    "network=",
    "network=example.com",
    "network=example.com:0",
    "network=example.com:65536",
    "network=example.com:0443",
    "network=*:443",
    "network=*.example.com:443",
    "network=user@example.com:443",
    "network=example.com.:443",
    "network=127.1:443",
    "network=2130706433:443",
    "network=https://example.com:443",
    "network=example.com/x:443",
    "network=exa mple.com:443",
    "network=\u212Aelvin.example:443",
    "network=example.com:443\nwrite=/",
    "read=opt",
    "read=~/x",
    "read=/opt\n/x",
    "write=/opt\u0000",
    "write=",
    "credential=../x",
    "credential=a b",
    "Network=example.com:443",
    "sudo=yes",
  ])("is not %j", (text) => {
    expect(() => parseGrant(text)).toThrow(expect.objectContaining({ code: "BAD_INPUT" }));
  });
});

describe("the plain spelling of a host", () => {
  it.each([
    ["a-b.example", "a-b.example"],
    ["A_B.Example", "a_b.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["localhost", "localhost"],
    ["0.0.0.0", "0.0.0.0"],
    ["[::FFFF:1.2.3.4]", "[::ffff:102:304]"],
  ])("%s is %s", (text, plain) => expect(plainHost(text)).toBe(plain));

  it.each([
    ["a number", "2130706433"],
    ["a hexadecimal number", "0x7f000001"],
    ["a name that ends in a number", "example.1"],
    ["a name that ends in a hexadecimal number", "example.0x1"],
    ["octal parts", "0177.0.0.01"],
    ["too few parts", "127.1"],
    ["too many parts", "1.2.3.4.5"],
    ["a part that is too high", "1.2.3.256"],
    ["a dot at the end", "1.2.3.4."],
    ["an empty part", "a..example"],
    ["a bare IPv6 address", "::1"],
    ["an interface", "[fe80::1%25eth0]"],
    ["no IPv6 address", "[1:2]"],
    ["another alphabet", "bücher.example"],
    ["full-width letters", "ｅxample.com"],
    ["an escape", "ex%61mple.com"],
    ["a hyphen at the end", "example-.com"],
    ["a part that is too long", `${"a".repeat(64)}.example`],
    ["a name that is too long", `${"a.".repeat(127)}com`],
    ["a NUL", "a\0.example"],
    ["a line end", "a.example\n"],
  ])("is not %s: %j", (_, text) => expect(plainHost(text)).toBeNull());

  const piece = constantFrom(
    "example",
    "com",
    "127",
    "0x7f",
    "1",
    "[",
    "]",
    "::",
    ":",
    ".",
    "@",
    "%",
    "-",
    "_",
    "xn--",
    "A",
    "é",
    "\0",
    " ",
    "/",
  );
  const any = oneof(domain(), ipV4(), ipV6(), string(), string({ unit: piece, maxLength: 8 }));

  it("is its own plain spelling, plain ASCII, and an address only when it is written as one", () => {
    assert(
      property(any, (text) => {
        const plain = plainHost(text);
        if (plain === null) return;
        expect(plainHost(plain)).toBe(plain);
        expect(plain).toMatch(/^[a-z0-9._-]+$|^\[[0-9a-f:]+\]$/);
        // A reader of addresses that knows all old spellings finds none that we take for a name.
        const read = URL.canParse(`http://${plain}`) ? new URL(`http://${plain}`).hostname : plain;
        expect(read).toBe(plain);
        expect(isIP(read)).toBe(isIP(plain));
      }),
    );
  });

  it("with its port can be taken apart again", () => {
    assert(
      property(any, (text) => {
        const found = hostAndPort(`${text}:443`);
        expect(found).toEqual(plainHost(text) === null ? null : { host: plainHost(text), port: 443 });
      }),
    );
  });
});
