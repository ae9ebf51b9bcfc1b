import type { MessageFile } from "../../core/entry.ts";
import { atMost } from "../../core/files.ts";
import { networkFailure } from "../../core/network.ts";
import { ChatError } from "../../core/ports.ts";
import { LIMITS } from "../../limits.ts";

/** Where Discord keeps files. Their addresses are signed: nobody's token goes there. */
const HOSTS = new Set(["https://cdn.discordapp.com", "https://media.discordapp.net"]);

const LIMITED_WAIT_MS = 5_000;

/** The bytes of a file that was attached to a message; see `Chat.download`. `apiUrl`: null, or the address of a twin. */
export async function download(
  apiUrl: string | null,
  { url }: MessageFile,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Uint8Array> {
  const origin = URL.canParse(url) ? new URL(url).origin : "";
  if (!HOSTS.has(origin) && (apiUrl === null || origin !== new URL(apiUrl).origin)) {
    throw new ChatError({ kind: "refused", code: "elsewhere" });
  }
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(LIMITS.fileTime)]);
  try {
    const response = await fetch(url, { redirect: "manual", signal: until });
    checkAnswer(response);
    const tooLong = Number(response.headers.get("content-length") ?? 0) > maxBytes;
    const data = tooLong ? null : await atMost(response.body, maxBytes);
    if (data === null) throw new ChatError({ kind: "refused", code: "too_large" });
    return data;
  } catch (thrown) {
    if (thrown instanceof ChatError) throw thrown;
    throw new ChatError({ kind: "later", code: networkFailure(thrown as Error).code }, thrown);
  } finally {
    // Whatever has not been read is not waited for.
    ended.abort();
  }
}

/** An address is good for a day; afterwards, and when the message is gone, it is 404. */
function checkAnswer({ status, headers }: Response): void {
  if (status === 200) return;
  if (status === 429) {
    const wait = Number(headers.get("retry-after"));
    throw new ChatError({ kind: "later", code: "ratelimited", retryAfterMs: wait > 0 ? wait * 1_000 : LIMITED_WAIT_MS });
  }
  if (status >= 500) throw new ChatError({ kind: "later", code: `http_${status}` });
  const isHidden = status < 400 || [401, 403, 404].includes(status);
  throw new ChatError({ kind: "refused", code: isHidden ? "not_shown" : `http_${status}` });
}
