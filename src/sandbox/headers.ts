import type { IncomingMessage } from "node:http";

/** What concerns one connection only, or the proxy itself. */
const HOP_BY_HOP = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade expect".split(" "),
);

/** Headers for a request that is made anew, for this host. Null when the length of its body cannot be said again. */
export function onward(incoming: IncomingMessage, { host, port }: { host: string; port: number }): string[] | null {
  const framing = framingOf(incoming);
  if (framing === null) return null;
  return ["Host", port === 80 ? host : `${host}:${port}`, ...kept(incoming, "host", "content-length"), ...framing, "Connection", "close"];
}

/** Said by us: for some methods Node would send a body without any length, for others an empty one in pieces. */
function framingOf({ method, headers }: IncomingMessage): string[] | null {
  const { "transfer-encoding": encoding, "content-length": length } = headers;
  if (encoding !== undefined) return encoding.toLowerCase() === "chunked" ? ["Transfer-Encoding", "chunked"] : null;
  if (length !== undefined) return ["Content-Length", length];
  return method === "GET" || method === "HEAD" ? [] : ["Content-Length", "0"];
}

/** Headers of the answer, for the client. */
export function returned(answered: IncomingMessage): string[] {
  return kept(answered);
}

/** Names and values in turns, as they came. */
function kept({ rawHeaders, headers }: IncomingMessage, ...more: string[]): string[] {
  const named = (headers.connection ?? "").toLowerCase().split(/[\s,]+/);
  const dropped = new Set([...HOP_BY_HOP, ...named, ...more]);
  return rawHeaders.flatMap((name, at) => {
    if (at % 2 === 1 || dropped.has(name.toLowerCase())) return [];
    return [name, rawHeaders[at + 1] ?? ""];
  });
}
