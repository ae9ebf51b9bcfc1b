import type { WebClient } from "@slack/web-api";
import { channelIds, parseSlackThread, slackThread } from "../../core/inbound.ts";
import { type Begun, type Bucket, type ChatAct, ChatError, type Chunk, type Found, type Sought } from "../../core/ports.ts";
import type { Lane } from "../../core/post.ts";
import { LIMITS } from "../../limits.ts";
import { slackTs } from "./backfill.ts";
import type { SlackBody } from "./blocks.ts";
import type { Clients } from "./clients.ts";
import type { Place } from "./inbound.ts";
import { chatError } from "./refusals.ts";
import { encodeShort } from "./text.ts";

const EVENT_TYPE = "deckhand_post";
/** chat.update takes 4,000, threads begin to refuse near it. */
const TEXT_MAX = 3_900;
/** Slack's clock and ours may differ by this much: ours may have been an hour wrong when it was sent. */
const SKEW_MS = 65 * 60_000;
const PAGE = 200;

/** No letter of ours is parsed, nothing is unfurled, nobody is called. */
const QUIET = { parse: "none", link_names: false } as const;

/** Sends one chunk into the thread. The id is the message's ts, or the file's id for a file. Throws ChatError. */
export async function send(clients: Clients, thread: string, chunk: Chunk, nonce: string, file?: Uint8Array): Promise<string> {
  const { channel, ts } = parseSlackThread(thread);
  try {
    if (chunk.file && file && file.length > 0) return await upload(clients.content, { channel, ts }, chunk, nonce, file);
    const shown = chunk.file ? { text: withoutFile(chunk, file) } : (chunk.body as SlackBody);
    return await post(clients.content, { channel, thread_ts: ts, ...shown }, nonce);
  } catch (error) {
    throw chatError(error, "send");
  }
}

/** Posts in the channel itself: on Slack every message can be a thread's first. Throws ChatError. */
export async function begin(clients: Clients, team: string, key: string, chunk: Chunk, nonce: string): Promise<Begun> {
  const [channel = ""] = channelIds("slack", [key]);
  try {
    const ref = await post(clients.content, { channel, ...(chunk.body as SlackBody) }, nonce);
    const thread = slackThread(team, channel, ref).key;
    return { thread, root: { thread, ref } };
  } catch (error) {
    throw chatError(error, "send");
  }
}

async function post(
  client: WebClient,
  message: { channel: string; text: string; blocks?: SlackBody["blocks"]; thread_ts?: string },
  nonce: string,
): Promise<string> {
  const metadata = { event_type: EVENT_TYPE, event_payload: { nonce } };
  const answer = await client.chat.postMessage({ ...message, ...QUIET, unfurl_links: false, unfurl_media: false, metadata });
  if (!answer.ts) throw new ChatError({ kind: "doubtful", code: "no_ts" });
  return answer.ts;
}

/** A file cannot carry metadata; the nonce is the id of the block that stands with it. */
async function upload(
  client: WebClient,
  at: { channel: string; ts: string },
  chunk: Chunk,
  nonce: string,
  file: Uint8Array,
): Promise<string> {
  const filename = chunk.file?.name ?? "output.txt";
  const { files } = await client.filesUploadV2({
    channel_id: at.channel,
    thread_ts: at.ts,
    file: Buffer.from(file),
    filename,
    title: filename,
    blocks: [
      {
        type: "rich_text",
        block_id: nonce,
        elements: [{ type: "rich_text_section", elements: [{ type: "text", text: chunk.plain }] }],
      },
    ],
  });
  const id = files[0]?.files?.[0]?.id;
  if (!id) throw new ChatError({ kind: "doubtful", code: "no_file_id" });
  return id;
}

/** Slack takes no empty file, and a whole output is kept for a while only. */
function withoutFile(chunk: Chunk, file: Uint8Array | undefined): string {
  return encodeShort(`${chunk.file?.name ?? "The file"} ${file ? "is empty." : "is no longer kept."}`, TEXT_MAX);
}

/** Makes a message show this chunk. What stands in a file does not change: editing one does nothing. Throws ChatError. */
export async function edit(clients: Clients, thread: string, ref: string, chunk: Chunk): Promise<void> {
  if (chunk.file) return;
  if (!/^\d+\.\d+$/.test(ref)) throw new ChatError({ kind: "refused", code: "cant_update_file" });
  const { channel } = parseSlackThread(thread);
  try {
    await clients.content.chat.update({ channel, ts: ref, ...(chunk.body as SlackBody), ...QUIET });
  } catch (error) {
    throw chatError(error, "edit");
  }
}

/** What became of a send: its message carries the nonce. Only `botUserId`'s count. Throws ChatError. */
export async function find(
  clients: Clients,
  botUserId: string | undefined,
  thread: string,
  { nonce, since }: Pick<Sought, "nonce" | "since">,
): Promise<Found> {
  const { channel, ts } = parseSlackThread(thread);
  const oldest = slackTs(since - SKEW_MS);
  let cursor: string | undefined;
  try {
    do {
      const page = await clients.lookup.conversations.replies({
        channel,
        ts,
        oldest,
        limit: PAGE,
        include_all_metadata: true,
        ...(cursor && { cursor }),
      });
      const found = (page.messages ?? []).find((message) => (!botUserId || message.user === botUserId) && carries(message, nonce));
      if (found?.ts) return { ref: found.ts };
      cursor = page.response_metadata?.next_cursor;
    } while (cursor);
    return "absent";
  } catch (error) {
    throw chatError(error, "find");
  }
}

function carries(message: { metadata?: unknown; blocks?: { block_id?: string }[] }, nonce: string): boolean {
  const metadata = message.metadata as { event_type?: string; event_payload?: { nonce?: unknown } } | undefined;
  if (metadata?.event_type === EVENT_TYPE && metadata.event_payload?.nonce === nonce) return true;
  return (message.blocks ?? []).some((block) => block.block_id === nonce);
}

/** A line for one person's eyes. Rejects with the SDK's errors. */
export async function whisper(clients: Clients, place: Place, text: string): Promise<void> {
  const { channel, user, thread } = place;
  await clients.control.chat.postEphemeral({
    channel,
    user,
    text: encodeShort(text, TEXT_MAX),
    ...(thread && { thread_ts: thread }),
    ...QUIET,
  });
}

/** Slack counts posts by channel, edits and files by workspace; a 429 closes the method that met it. */
export function buckets(thread: string, act: ChatAct, lane: Lane): Bucket[] {
  const { team, channel } = parseSlackThread(thread);
  // That somebody was heard is as urgent as an answer; what is told there later is not.
  const keep = LIMITS.laneKeep[act === "send" && lane === "status" ? "answer" : lane];
  if (act === "edit") return [{ name: `slack:edit:${team}`, burst: LIMITS.slackEditBurst, perSecond: LIMITS.slackEditPerSecond, keep }];
  const posts = { name: `slack:post:${channel}`, burst: LIMITS.slackPostBurst, perSecond: LIMITS.slackPostPerSecond, keep };
  if (act === "send") return [posts];
  return [{ name: `slack:file:${team}`, burst: LIMITS.slackFileBurst, perSecond: LIMITS.slackFilePerSecond, keep }, posts];
}
