import { networkInterfaces } from "node:os";
import { assert, ipV4, ipV6, nat, property, string, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { isOwn, isPublic } from "../../src/sandbox/addresses.ts";

describe("a public address", () => {
  it.each(["8.8.8.8", "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "223.255.255.255"])(
    "%s",
    (address) => expect(isPublic(address)).toBe(true),
  );

  it.each(["2606:4700::1111", "2a00:1450:4001:80f::200e", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"])(
    "%s",
    (address) => expect(isPublic(address)).toBe(true),
  );
});

describe("no public address", () => {
  it.each([
    ["this host", "0.0.0.0"],
    ["this network", "0.1.2.3"],
    ["a private network", "10.0.0.1"],
    ["a private network", "172.16.0.1"],
    ["a private network", "172.31.255.255"],
    ["a private network", "192.168.1.1"],
    ["a network shared behind a provider", "100.64.0.1"],
    ["Alibaba's metadata", "100.100.100.200"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.255.254"],
    ["link-local", "169.254.1.1"],
    ["the metadata of clouds", "169.254.169.254"],
    ["Azure's metadata", "168.63.129.16"],
    ["Oracle's metadata", "192.0.0.192"],
    ["an example", "192.0.2.1"],
    ["an example", "198.51.100.1"],
    ["an example", "203.0.113.1"],
    ["6to4's relay", "192.88.99.1"],
    ["benchmarks", "198.19.255.255"],
    ["a group", "224.0.0.1"],
    ["a group", "239.255.255.250"],
    ["reserved", "240.0.0.1"],
    ["everybody", "255.255.255.255"],
    ["this host", "::"],
    ["loopback", "::1"],
    ["link-local", "fe80::1"],
    ["link-local with its interface", "fe80::1%eth0"],
    ["a site of old", "fec0::1"],
    ["unique-local", "fd00::1"],
    ["Amazon's metadata", "fd00:ec2::254"],
    ["Google's metadata", "fd20:ce::254"],
    ["a group", "ff02::1"],
    ["an example", "2001:db8::1"],
    ["an example", "3fff::1"],
    ["Teredo", "2001:0:7f00:1::1"],
    ["IPv4 of old in IPv6", "::127.0.0.1"],
    ["IPv4 of old in IPv6", "::8.8.8.8"],
    ["a local NAT64", "64:ff9b:1::808:808"],
    ["a public address with an interface", "2606:4700::1111%eth0"],
  ])("%s: %s", (_, address) => expect(isPublic(address)).toBe(false));

  it.each(["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "8.8.8.8 ", "8.8.8", "[2606:4700::1111]", "example.com", ""])(
    "what is no address in plain spelling: %j",
    (text) => expect(isPublic(text)).toBe(false),
  );
});

it("whatever carries an IPv4 address within IPv6 is as public as that", () => {
  assert(
    property(tuple(nat(255), nat(255), nat(255), nat(255)), (bytes) => {
      const plain = isPublic(bytes.join("."));
      const [a, b] = [0, 2].map((at) => ((bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)).toString(16));
      for (const form of [
        `::ffff:${bytes.join(".")}`,
        `::FFFF:${a}:${b}`,
        `64:ff9b::${a}:${b}`,
        `2002:${a}:${b}::1`,
        `2002:${a}:${b}:0:1:2:3:4`,
      ]) {
        expect([form, isPublic(form)]).toEqual([form, plain]);
      }
    }),
  );
});

it("every text has an answer, and only an address can be public", () => {
  assert(
    property(string(), (text) => {
      expect(isPublic(text)).toBe(false);
    }),
  );
  assert(property(ipV4(), (address) => void isPublic(address)));
  assert(property(ipV6(), (address) => void isPublic(address)));
});

it("this machine knows its own addresses, in both spellings", () => {
  expect([isOwn("127.0.0.1"), isOwn("::ffff:127.0.0.1"), isOwn("93.184.216.34")]).toEqual([true, true, false]);
  for (const each of Object.values(networkInterfaces()).flatMap((list) => list ?? []))
    expect(isOwn(each.address.replace(/%.*/, ""))).toBe(true);
});
