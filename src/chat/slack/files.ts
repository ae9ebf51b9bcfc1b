import type { MessageFile } from "../../core/entry.ts";
import { atMost } from "../../core/files.ts";
import { networkFailure } from "../../core/network.ts";
import { ChatError, type ChatRefusal } from "../../core/ports.ts";
import { LIMITS } from "../../limits.ts";

/** Where Slack keeps files; nobody else ever gets the token. */
const HOSTS = new Set(["https://files.slack.com", "https://files.slack-gov.com"]);

const LIMITED_WAIT_MS = 10_000;

interface Source {
  botToken: string;
  apiUrl: string | null;
}

/** The bytes of a file that was attached to a message; see `Chat.download`. */
export async function download(
  { botToken, apiUrl }: Source,
  { url, type }: MessageFile,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Uint8Array> {
  if (url === "") throw refusal("refused", "not_shown");
  const origin = URL.canParse(url) ? new URL(url).origin : "";
  if (!HOSTS.has(origin) && (apiUrl === null || origin !== new URL(apiUrl).origin)) throw refusal("refused", "elsewhere");
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal, AbortSignal.timeout(LIMITS.fileTime)]);
  try {
    const response = await fetch(url, { headers: { authorization: `Bearer ${botToken}` }, redirect: "manual", signal: until });
    checkAnswer(response, type);
    const tooLong = Number(response.headers.get("content-length") ?? 0) > maxBytes;
    const data = tooLong ? null : await atMost(response.body, maxBytes);
    if (data === null) throw refusal("refused", "too_large");
    return data;
  } catch (thrown) {
    if (thrown instanceof ChatError) throw thrown;
    throw new ChatError({ kind: "later", code: networkFailure(thrown as Error).code }, thrown);
  } finally {
    // Whatever has not been read is not waited for.
    ended.abort();
  }
}

/** Slack sends whoever may not see a file to its sign-in page, or shows that page as if it were the file. */
function checkAnswer({ status, headers }: Response, type: string): void {
  if (status === 429) {
    const wait = Number(headers.get("retry-after"));
    throw refusal("later", "ratelimited", wait > 0 ? wait * 1_000 : LIMITED_WAIT_MS);
  }
  if (status >= 500) throw refusal("later", `http_${status}`);
  const isPage = headers.get("content-type")?.startsWith("text/html") === true && !type.includes("html");
  if ((status >= 300 && status < 400) || status === 401 || status === 403 || (status === 200 && isPage))
    throw refusal("refused", "not_shown");
  if (status !== 200) throw refusal("refused", `http_${status}`);
}

function refusal(kind: ChatRefusal["kind"], code: string, retryAfterMs?: number): ChatError {
  return new ChatError({ kind, code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}
