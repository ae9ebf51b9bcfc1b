import { Buffer } from "node:buffer";
import { BlockList, isIPv4, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/** IPv4 that is not the public internet: this host, private, shared, link-local with the metadata of clouds, reserved, groups. */
const CLOSED_4 = listOf("ipv4", [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  // Azure's machines get their metadata and keys here, in the middle of public addresses.
  "168.63.129.16/32",
]);

/** The one part of IPv6 that is given out, and what in it is not: tunnels, tests, examples. */
const GIVEN_6 = listOf("ipv6", ["2000::/3"]);
const CLOSED_6 = listOf("ipv6", ["2001::/23", "2001:db8::/32", "3fff::/20"]);

/** IPv6 that stands for IPv4, with the byte where that begins: mapped, NAT64, 6to4. */
const WITHIN_6 = [
  { list: listOf("ipv6", ["::ffff:0:0/96", "64:ff9b::/96"]), at: 12 },
  { list: listOf("ipv6", ["2002::/16"]), at: 2 },
];

/** Whether an address is one of the public internet. False for everything that is no IP address in plain spelling. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !CLOSED_4.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  const within = WITHIN_6.find(({ list }) => list.check(address, "ipv6"));
  if (within !== undefined)
    return isPublic(
      bytesOf(address)
        .subarray(within.at, within.at + 4)
        .join("."),
    );
  return GIVEN_6.check(address, "ipv6") && !CLOSED_6.check(address, "ipv6");
}

/** Whether an address, however written, is one of this machine's own: what listens there may count on its walls. */
export function isOwn(address: string): boolean {
  const own = new BlockList();
  for (const { address: each, family } of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
    own.addAddress(each.replace(/%.*/, ""), family === "IPv6" ? "ipv6" : "ipv4");
  }
  return own.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

function listOf(family: "ipv4" | "ipv6", ranges: string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, bits] = range.split("/") as [string, string];
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

/** The sixteen bytes of an IPv6 address. */
function bytesOf(address: string): Buffer {
  // The URL parser writes it in hexadecimal groups, with one gap at most.
  const [left = "", right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groups = (text: string | undefined): string[] => (text ? text.split(":") : []);
  const [begin, end] = [groups(left), groups(right)];
  const gap = Array.from({ length: 8 - begin.length - end.length }, () => "0");
  return Buffer.from([...begin, ...gap, ...end].map((group) => group.padStart(4, "0")).join(""), "hex");
}
