import { type APIMessage, type RawFile, RESTJSONErrorCodes as Code, MessageFlags, Routes } from "discord.js";
import { messageOf } from "../../core/errors.ts";
import { channelIds, discordThread, parseDiscordThread } from "../../core/inbound.ts";
import {
  type Begun,
  type Bucket,
  type ChatAct,
  ChatError,
  type Chunk,
  type Clock,
  type Found,
  type Ids,
  type Sought,
  type Trace,
} from "../../core/ports.ts";
import type { Lane } from "../../core/post.ts";
import { LIMITS } from "../../limits.ts";
import type { Api } from "./api.ts";
import type { DiscordBody } from "./layout.ts";
import { NotOpened, openThread } from "./opening.ts";
import { lookUp } from "./places.ts";
import { chatError, codeOf } from "./refusals.ts";
import { idAt, timeOf } from "./snowflake.ts";
import { encode, encodeShort } from "./text.ts";
import type { Typing } from "./typing.ts";

export interface Out {
  api: Api;
  trace: Trace;
  clock: Clock;
  ids: Pick<Ids, "digest">;
  typing: Typing;
  /** Our own user, once it is known. */
  self: () => string | undefined;
}

const NONCE_MAX = 25;
/** Discord knows a nonce for "the past few minutes"; so long we count on it. */
const NONCE_MS = 2 * 60_000;
/** Discord's clock and ours may differ by this much. */
const SKEW_MS = 5_000;
/** Messages of more than an hour Discord changes only now and then. */
const OLD_MS = 55 * 60_000;
const START_WAIT_MS = 1_000;
const TEXT_MAX = 1_900;
/** How many messages Discord gives at once; what is sought is among the first that came after what we know. */
const PAGE = 100;
/** Of a thread's name. */
const NAME_MAX = 100;

/** Nobody is called, and no link is unfolded. */
const QUIET = { allowed_mentions: { parse: [], replied_user: false }, flags: MessageFlags.SuppressEmbeds };

type Shown = Pick<DiscordBody, "content" | "components">;

/** Sends one chunk into the thread; under a nonce that Discord still knows it is the same message. Throws ChatError. */
export async function send(out: Out, thread: string, chunk: Chunk, nonce: string, file?: Uint8Array): Promise<string> {
  const { channel } = parseDiscordThread(thread);
  const files = filesOf(chunk, file);
  const shown = shownBy(chunk, files.length === 0);
  const digest = out.ids.digest(nonce);
  const components = shown.components.map((row, index) => (index === 0 ? { ...row, id: markOf(digest) } : row));
  const body = { ...QUIET, ...shown, components, nonce: digest.slice(0, NONCE_MAX), enforce_nonce: true };
  try {
    const sent = (await out.api.write.post(Routes.channelMessages(channel), { body, files })) as APIMessage;
    // A message of an earlier try says what was so then.
    if (!isShown(sent, shown)) await bringUpToDate(out, channel, sent.id, shown);
    showWork(out, channel, chunk);
    return sent.id;
  } catch (error) {
    throw chatError(error, files.length > 0);
  }
}

/** Throws ChatError `doubtful`: the message is there, but not as it should be. Who deleted it does not want it again. */
async function bringUpToDate(out: Out, channel: string, id: string, shown: Shown): Promise<void> {
  try {
    await patch(out, channel, id, shown);
  } catch (error) {
    if (codeOf(error) === Code.UnknownMessage) return;
    throw new ChatError({ ...chatError(error).refusal, kind: "doubtful" }, error);
  }
}

/** Posts in the channel and makes a thread of the message, which goes again when no thread can begin. Throws ChatError. */
export async function begin(out: Out, key: string, chunk: Chunk, nonce: string): Promise<Begun> {
  const [channel = ""] = channelIds("discord", [key]);
  try {
    const { guild } = await lookUp(out.api, channel);
    const home = discordThread(guild, channel, channel).key;
    const ref = await send(out, home, chunk, nonce);
    try {
      await openThread(out.api, channel, ref, chunk.plain.slice(0, NAME_MAX).toWellFormed());
    } catch (error) {
      await remove(out, channel, ref);
      throw error;
    }
    return { thread: discordThread(guild, ref, channel).key, root: { thread: home, ref } };
  } catch (error) {
    if (error instanceof NotOpened) throw new ChatError(chatError(error.problem.cause).refusal, error);
    throw chatError(error);
  }
}

/** Makes a message show this chunk; an old one is sent anew, and its new id returned. Files stay as they are. Throws ChatError. */
export async function edit(out: Out, thread: string, ref: string, chunk: Chunk): Promise<string | void> {
  const { channel } = parseDiscordThread(thread);
  const hasFile = chunk.file !== undefined || (chunk.body as DiscordBody).attached !== undefined;
  try {
    if (!hasFile && out.clock.now() - timeOf(ref) > OLD_MS) return await sendAnew(out, thread, ref, chunk);
    await patch(out, channel, ref, shownBy(chunk, false));
    showWork(out, channel, chunk);
  } catch (error) {
    throw chatError(error);
  }
}

/** In an archived thread nothing can be changed: it is brought back first. */
async function patch({ api }: Out, channel: string, ref: string, shown: Shown): Promise<void> {
  const change = async (): Promise<unknown> => await api.write.patch(Routes.channelMessage(channel, ref), { body: { ...QUIET, ...shown } });
  try {
    await change();
  } catch (error) {
    if (codeOf(error) !== Code.InvalidActionOnArchivedThread) throw error;
    await api.write.patch(Routes.channel(channel), { body: { archived: false } });
    await change();
  }
}

async function sendAnew(out: Out, thread: string, ref: string, chunk: Chunk): Promise<string> {
  const { channel } = parseDiscordThread(thread);
  const id = await send(out, thread, chunk, `${thread}/${ref}/anew`);
  // When it stays, both are there; the buttons of the old one still do what they say.
  await remove(out, channel, ref);
  return id;
}

/** Never rejects. */
async function remove({ api, trace }: Out, channel: string, ref: string): Promise<void> {
  try {
    await api.write.delete(Routes.channelMessage(channel, ref));
  } catch (error) {
    if (codeOf(error) !== Code.UnknownMessage) trace.warn("discord.old-post-stays", { channel, ref, error: messageOf(error) });
  }
}

/**
 * What became of a send. Histories do not show nonces: rows of buttons carry a mark of it, and other messages are known
 * by their words once Discord no longer knows the nonce. Throws ChatError.
 */
export async function find(out: Out, thread: string, { nonce, since, chunk, last }: Sought): Promise<Found> {
  const { channel } = parseDiscordThread(thread);
  const self = out.self();
  // A process that has just begun: who wrote what is not known yet.
  if (self === undefined) throw new ChatError({ kind: "later", code: "not_started", retryAfterMs: START_WAIT_MS });
  const page = await historySince(out, channel, last === undefined ? idAt(since - SKEW_MS) : String(BigInt(last) - 1n));
  const own = page.filter(({ author, id }) => author.id === self && id !== last);
  const mark = markOf(out.ids.digest(nonce));
  const marked = own.find(({ components }) => components?.[0]?.id === mark);
  if (marked) return { ref: marked.id };
  // Sent again within this time, it comes back as the same message.
  if (!chunk || out.clock.now() - since < NONCE_MS) return "absent";
  const same = own.find((message) => isShown(message, shownBy(chunk, false)));
  if (same) return { ref: same.id };
  // Another message of ours may be it, as it read then. To who may not read a history, Discord shows an empty one.
  const sees = page.length < PAGE && (last === undefined || page.some(({ id }) => id === last));
  return sees && own.length === 0 ? "absent" : "unknown";
}

async function historySince({ api }: Out, channel: string, after: string): Promise<APIMessage[]> {
  const query = new URLSearchParams({ after, limit: String(PAGE) });
  try {
    return (await api.read.get(Routes.channelMessages(channel), { query })) as APIMessage[];
  } catch (error) {
    throw chatError(error);
  }
}

/** A line of ours outside of any conversation's posts. Never rejects. */
export async function say({ api, trace }: Pick<Out, "api" | "trace">, channel: string, words: string, replyTo?: string): Promise<void> {
  const reference = replyTo && { message_reference: { message_id: replyTo, fail_if_not_exists: false } };
  try {
    await api.write.post(Routes.channelMessages(channel), { body: { ...QUIET, content: encodeShort(words, TEXT_MAX), ...reference } });
  } catch (error) {
    trace.warn("discord.not-said", { channel, error: messageOf(error) });
    // To answer a message takes the right to read the history.
    if (replyTo && codeOf(error) === Code.CannotReplyWithoutPermissionToReadMessageHistory) await say({ api, trace }, channel, words);
  }
}

/** Discord counts sends and edits of one channel together; files are nothing else. */
export function buckets(thread: string, act: ChatAct, wanted: Lane): Bucket[] {
  const { channel } = parseDiscordThread(thread);
  // A new status is no edit that could wait.
  const lane = act === "send" && wanted === "status" ? "output" : wanted;
  const keep = LIMITS.laneKeep[lane];
  const posts = { name: `discord:post:${channel}`, burst: LIMITS.discordPostBurst, perSecond: LIMITS.discordPostPerSecond, keep };
  const all = { name: "discord:all", burst: LIMITS.discordAllBurst, perSecond: LIMITS.discordAllPerSecond, keep };
  if (lane === "approval" || lane === "answer") return [posts, all];
  const leave = lane === "status" ? 1 : 0;
  const [burst, perSecond] = [LIMITS.discordQuietBurst, LIMITS.discordQuietPerSecond];
  return [posts, { name: `discord:quiet:${channel}`, burst, perSecond, keep: leave }, all];
}

function showWork({ typing }: Out, channel: string, { body }: Chunk): void {
  const { working } = body as DiscordBody;
  if (working !== undefined) typing.set(channel, working);
}

function shownBy(chunk: Chunk, isWithoutFile: boolean): Shown {
  const { content, components } = chunk.body as DiscordBody;
  if (!chunk.file || !isWithoutFile) return { content, components };
  return { content: `${content}\n-# ${encode(chunk.file.name)} is no longer kept, or is empty.`, components };
}

function isShown(message: APIMessage, { content, components }: Shown): boolean {
  const idsOf = (rows: unknown): string =>
    JSON.stringify(rows)
      .match(/"custom_id":"[^"]*"/g)
      ?.join() ?? "";
  return message.content === content.trim() && idsOf(message.components ?? []) === idsOf(components);
}

/** Discord takes no empty file, and a whole output is kept for a while only. */
function filesOf({ file, body }: Chunk, data: Uint8Array | undefined): RawFile[] {
  const { attached } = body as DiscordBody;
  const text = { contentType: "text/plain; charset=utf-8" };
  if (attached) return [{ ...text, name: attached.name, data: attached.text }];
  return file && data && data.length > 0 ? [{ ...text, name: file.name, data: Buffer.from(data) }] : [];
}

/** Component ids are numbers of 31 bits above 0. */
function markOf(digest: string): number {
  return Number.parseInt(digest.slice(0, 7), 16) + 1;
}
