import { DeckhandError } from "./errors.ts";

/**
 * What an approval adds to the sandbox for one run. In entries, digests and on the command line a grant is one line of
 * text: `network=HOST:PORT`, `network=*` (any public host), `read=PATH`, `write=PATH`, `credential=NAME`.
 */
export type Grant =
  | { kind: "network"; host: string; port: number }
  | { kind: "network"; host: "*"; port: null }
  | { kind: "read" | "write"; path: string }
  | { kind: "credential"; name: string };

/** A name whose last part begins with a letter, as no way of writing a number does. */
const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV6 = /^\[[0-9a-f:.]+\]$/i;

/**
 * A host in the one spelling that is compared: a name in lower case (other alphabets as `xn--`), an IPv4 address in four
 * decimal parts, an IPv6 address in brackets in its short form. Null for everything else that some program might take
 * for a host.
 */
export function plainHost(text: string): string | null {
  if (IPV6.test(text)) return URL.canParse(`http://${text}`) ? new URL(`http://${text}`).hostname : null;
  return IPV4.test(text) || (text.length <= 253 && NAME.test(text)) ? text.toLowerCase() : null;
}

/** `HOST:PORT` with a plain host; null when it is not that. */
export function hostAndPort(text: string): { host: string; port: number } | null {
  const [, name = "", digits] = /^(\[[^\]]*\]|[^:]*):([1-9]\d{0,4})$/.exec(text) ?? [];
  const [host, port] = [plainHost(name), Number(digits)];
  return host !== null && port <= 65_535 ? { host, port } : null;
}

/** Throws BAD_INPUT for what is no grant; whether it may be given is decided where it is used. */
export function parseGrant(text: string): Grant {
  const [, kind, value = ""] = /^(network|read|write|credential)=(\P{Cc}+)$/u.exec(text) ?? [];
  const wrong = (): DeckhandError =>
    new DeckhandError("BAD_INPUT", `"${text}" is no grant: use network=HOST:PORT, read=PATH, write=PATH or credential=NAME`);
  if (kind === "credential" && /^[\w-]{1,64}$/.test(value)) return { kind, name: value };
  if ((kind === "read" || kind === "write") && value.startsWith("/")) return { kind, path: value };
  if (kind !== "network") throw wrong();
  if (value === "*") return { kind, host: "*", port: null };
  const named = hostAndPort(value);
  if (named === null) throw wrong();
  return { kind, ...named };
}

/** The same grant as text: what is shown, digested and kept. */
export function grantText(grant: Grant): string {
  switch (grant.kind) {
    case "network":
      return grant.host === "*" ? "network=*" : `network=${grant.host}:${grant.port}`;
    case "credential":
      return `credential=${grant.name}`;
    default:
      return `${grant.kind}=${grant.path}`;
  }
}

/** What a card says of it. */
export function grantSentence(grant: Grant): string {
  switch (grant.kind) {
    case "network":
      return grant.host === "*" ? "may connect to any public host" : `may connect to ${grant.host}:${grant.port}`;
    case "credential":
      return `gets the credential "${grant.name}"`;
    case "read":
      return `may read ${grant.path}`;
    case "write":
      return `may change ${grant.path}`;
  }
}

/** What every command sees anyway, of its own: to be granted it would change nothing. */
const OWN = /^(?:read|write)=\/(?:bin|dev|etc|lib\w*|proc|sbin|tmp|usr)(?:\/|$)/;

/** Whether a grant adds something to the sandbox. */
export function widens(grant: string): boolean {
  return !OWN.test(grant);
}

/** Of the grants that are given the one that is enough for what is needed; null when none is. */
export function enough(needed: string, given: readonly string[]): string | null {
  if (given.includes(needed)) return needed;
  // Any public host: what is needed may be one, and a private one stays closed.
  return needed.startsWith("network=") && given.includes(ANY_HOST) ? ANY_HOST : null;
}

const ANY_HOST = grantText({ kind: "network", host: "*", port: null });
