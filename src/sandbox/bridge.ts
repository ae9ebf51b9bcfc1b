/** Where the proxy's socket stands inside. */
export const PROXY_SOCKET = "/run/proxy.sock";

const PORT = 3128;
/** As /proc/net/tcp writes a socket that listens at 127.0.0.1:3128. */
const LISTENS = `0100007F:${PORT.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A`;
const SOCAT = "/usr/bin/socat";

/**
 * Lines for the supervisor, before it says that everything stands: programs speak TCP, the proxy listens on a Unix
 * socket, and socat carries one to the other until the sandbox ends. Whatever goes wrong is said on stderr, and nothing
 * starts.
 */
export function bridgePrelude(): string {
  // It waits for both directions of a connection to end: an answer may be longer than its question. Nagle would only add delay.
  const carry = `${SOCAT} -t 600 TCP-LISTEN:${PORT},bind=127.0.0.1,fork,reuseaddr,backlog=128,nodelay UNIX-CONNECT:${PROXY_SOCKET}`;
  return [
    `[ -x ${SOCAT} ] || { echo "failed to execute socat: No such file" >&2; exit 127; }`,
    `${carry} </dev/null >/dev/null 2>&1 &`,
    `bridge_tries=0`,
    `until grep -q ' ${LISTENS} ' /proc/net/tcp; do`,
    `  [ "$((bridge_tries += 1))" -lt 1000 ] && kill -0 $! 2>/dev/null || { echo "the bridge to the network did not start" >&2; exit 125; }`,
    `  sleep 0.005`,
    `done`,
    `unset bridge_tries`,
    ``,
  ].join("\n");
}

/** Variables that lead programs to the bridge. */
export function proxyEnv(): Record<string, string> {
  const proxy = `http://127.0.0.1:${PORT}`;
  const here = "localhost,127.0.0.1,::1";
  return {
    ...{ http_proxy: proxy, https_proxy: proxy, all_proxy: proxy, no_proxy: here },
    ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: here },
    NODE_USE_ENV_PROXY: "1",
  };
}
