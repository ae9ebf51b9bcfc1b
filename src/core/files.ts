import { LIMITS } from "../limits.ts";
import { fold } from "./conversation.ts";
import { type Entry, isEntry, type MessageFile, type NewEntry, type ReceivedFile } from "./entry.ts";
import { messageOf } from "./errors.ts";
import { lines } from "./lines.ts";
import type { Log } from "./log.ts";
import { type Chat, ChatError, type Clock, type Queue, type Trace } from "./ports.ts";

export interface FetchDeps {
  log: Log;
  queue: Pick<Queue, "wake" | "wakePosts">;
  clock: Clock;
  trace: Trace;
  chats: Chat[];
  /** So little memory is left for the log that nothing big may be kept. */
  isFull?: () => Promise<boolean>;
}

/** Fetches what people attach, for workers, which have no tokens of a chat. */
export interface Fetcher {
  /**
   * Begins to fetch what has not been fetched yet, and rings for this thread's posts again later, in case that this process
   * dies meanwhile. True when there is something. Twice is once.
   */
  look(conversation: string, entries: Entry[]): Promise<boolean>;
  /** Lets everything go; another gateway begins it anew. Never rejects. */
  close(): Promise<void>;
}

type Message = Entry<"message">;

/** A few messages at a time, beside the posts: none of them waits for a download. */
export function fileFetcher(deps: FetchDeps): Fetcher {
  const { log, clock, trace } = deps;
  const inLine = lines();
  const jobs = new Map<string, Promise<void>>();
  const end = new AbortController();
  let begun = 0;

  function begin(conversation: string, message: Message, room: number): void {
    const job = `${conversation} ${message.seq}`;
    if (jobs.has(job) || end.signal.aborted) return;
    const line = String((begun += 1) % LIMITS.filesAtOnce);
    const over = inLine(line, job, () => receive(conversation, message, { ...deps, room, signal: end.signal }))
      // The ring that was asked for begins it anew.
      .catch((thrown: unknown) => trace.warn("files-not-fetched", { conversation, error: messageOf(thrown) }))
      .finally(() => jobs.delete(job));
    jobs.set(job, over);
  }

  return {
    async look(conversation, entries) {
      if (!entries.some((entry) => isEntry(entry, "message") && entry.files)) return false;
      const { fetching } = fold(entries);
      if (fetching.length === 0) return false;
      await log.postAt(conversation, clock.now() + LIMITS.filesAgain);
      const room = LIMITS.filePictures - picturesIn(entries);
      for (const message of fetching) begin(conversation, message, room);
      return true;
    },
    async close() {
      end.abort(new Error("this process ends"));
      await Promise.all(jobs.values());
    },
  };
}

function picturesIn(entries: Entry[]): number {
  const files = entries.flatMap((entry) => (isEntry(entry, "received") ? entry.files : []));
  return files.reduce((sum, file) => sum + ("blob" in file && file.as === "picture" ? file.bytes : 0), 0);
}

interface Job extends FetchDeps {
  /** Bytes of pictures that this thread may still have. */
  room: number;
  signal: AbortSignal;
}

async function receive(conversation: string, message: Message, job: Job): Promise<void> {
  const { log, queue, clock, trace, signal } = job;
  if (signal.aborted) return;
  const all = message.files ?? [];
  const full = (await job.isFull?.()) === true;
  const taken = all.slice(0, full ? 0 : LIMITS.filesPerMessage);
  const why = full ? "there is no room for files now" : `only ${LIMITS.filesPerMessage} files of a message are taken`;
  const contents = await Promise.all(taken.map((file) => fetched(file, { ...job, conversation })));
  if (signal.aborted) return;
  const files: ReceivedFile[] = [];
  for (const [at, file] of all.entries()) {
    const received = judged(file, contents[at] ?? why, job.room);
    if ("data" in received) {
      const { data, ...kept } = received;
      const blob = `file:${conversation}:${message.seq}:${at}`;
      await log.putBlob(blob, data, LIMITS.fileTtl);
      if (kept.as === "picture") job.room -= data.length;
      files.push({ ...kept, blob });
    } else files.push(received);
  }
  const entry: NewEntry<"received"> = { type: "received", parent: message.seq, of: message.seq, files };
  const event = `files:${conversation}:${message.seq}`;
  const kept = await log.ingest({ conversation, event, at: clock.now(), entry, wakes: true });
  trace.info("files-received", { conversation, kept: kept.kind, files: all.length });
  if (kept.kind === "appended") await queue.wake(conversation, kept.workspace);
  await queue.wakePosts(conversation);
}

type Judged = { name: string; bytes: number } & ({ as: "text" | "picture"; type: string; data: Uint8Array } | { problem: string });

/** What a file is, by its content, or why it is not taken; `room`: bytes for pictures. */
function judged({ name, bytes, type }: MessageFile, data: Uint8Array | string, room: number): Judged {
  if (typeof data === "string") return { name, bytes, problem: data };
  const { length } = data;
  const picture = pictureType(data);
  if (picture !== null && length > room)
    return { name, bytes: length, problem: "this thread has as many pictures as a model can be shown" };
  if (picture !== null) return { name, bytes: length, as: "picture", type: picture, data };
  const problem = textProblem(data);
  return problem === null ? { name, bytes: length, as: "text", type: type || "text/plain", data } : { name, bytes: length, problem };
}

/** The bytes, or why there are none. */
async function fetched(file: MessageFile, job: Job & { conversation: string }): Promise<Uint8Array | string> {
  const { chats, conversation, clock, trace, signal } = job;
  const chat = chats.find(({ platform }) => conversation.startsWith(`${platform}:`));
  const maxBytes = file.type !== "" && !file.type.startsWith("image/") ? LIMITS.fileText : LIMITS.filePicture;
  if (file.bytes > maxBytes) return tooLarge(maxBytes);
  for (let tries = 1; ; tries += 1) {
    try {
      return (await chat?.download(file, { maxBytes, signal })) ?? "no gateway serves this platform";
    } catch (thrown) {
      if (!(thrown instanceof ChatError)) throw thrown;
      const { kind, code, retryAfterMs = 1_000 * tries } = thrown.refusal;
      trace.warn("file-not-fetched", { conversation, kind, code, tries });
      if (code === "too_large") return tooLarge(maxBytes);
      if (kind === "refused" || tries >= LIMITS.fileTries || signal.aborted) return WORDS[code] ?? `it could not be fetched (${code})`;
      await clock.sleep(Math.min(retryAfterMs, LIMITS.fileTime), signal);
    }
  }
}

const WORDS: Record<string, string> = {
  elsewhere: "it does not lie on this platform itself",
  not_shown: "the platform does not let me see it",
};

function tooLarge(maxBytes: number): string {
  return `it is larger than ${maxBytes / 1_000_000} MB`;
}

const SIGNATURES: [string, RegExp][] = [
  ["image/png", /^\x89PNG\r\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
];

/** By its first bytes, whatever it is called; null for everything that models do not take as a picture. */
function pictureType(data: Uint8Array): string | null {
  const head = String.fromCharCode(...data.subarray(0, 12));
  return SIGNATURES.find(([, signature]) => signature.test(head))?.[0] ?? null;
}

function textProblem(data: Uint8Array): string | null {
  if (data.length > LIMITS.fileText) return tooLarge(LIMITS.fileText);
  try {
    if (!new TextDecoder("utf-8", { fatal: true }).decode(data).includes("\0")) return null;
  } catch {
    // No UTF-8, as a NUL is no text: the same answer.
  }
  return "it is neither text (UTF-8) nor a picture (PNG, JPEG, GIF, WebP)";
}

/** A body as it comes, or null as soon as it is more than `maxBytes`. */
export async function atMost(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > maxBytes) return null;
    parts.push(part);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
