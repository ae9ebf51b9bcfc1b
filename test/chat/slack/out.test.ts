import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SlackBody } from "../../../src/chat/slack/blocks.ts";
import { type ChatAct, ChatError, type ChatRefusal, type Chunk, type Found } from "../../../src/core/ports.ts";
import type { Lane, Post } from "../../../src/core/post.ts";
import { type Room, openRoom, threadKey } from "./kit.ts";

let room: Room;
let root: string;
let thread: string;
beforeEach(async () => {
  room = await openRoom();
  ({ ts: root } = await room.twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> go" }));
  thread = threadKey("C1", root);
});
afterEach(async () => room.close());

const post: Post = {
  key: "final:9",
  lane: "answer",
  blocks: [
    { kind: "markdown", text: "# Done\n`a && b` <!channel> https://x.example" },
    { kind: "code", text: "out" },
  ],
};
const chunkOf = (from: Post = post): Chunk => room.chat.layout(from)[0] as Chunk;
const replies = (): { ts: string; text: string; blocks?: unknown[] | undefined }[] => room.twin.thread("C1", root).slice(1);

const find = (nonce: string, since: number): Promise<Found> => room.chat.find(thread, { nonce, since, chunk: chunkOf() });

async function refusal(act: Promise<unknown>): Promise<ChatRefusal> {
  const thrown = await act.then(
    () => new Error("nothing was refused"),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ChatError);
  return (thrown as ChatError).refusal;
}

describe("sending", () => {
  it("posts the blocks into the thread, quietly, under the nonce", async () => {
    const ref = await room.chat.send(thread, chunkOf(), "n/1");
    expect(replies()).toMatchObject([{ ts: ref, thread_ts: root, blocks: [{ type: "markdown" }, { type: "rich_text" }] }]);
    const [call] = room.twin.calls("chat.postMessage");
    expect(call?.args).toMatchObject({ thread_ts: root, metadata: { event_type: "deckhand_post", event_payload: { nonce: "n/1" } } });
    const { parse, link_names, unfurl_links, unfurl_media } = call?.args ?? {};
    expect([parse, link_names, unfurl_links, unfurl_media].map(String)).toEqual(["none", "false", "false", "false"]);
  });

  it("finds what was sent by its nonce, and nothing else", async () => {
    await room.chat.send(thread, chunkOf(), "n/1");
    const ref = await room.chat.send(thread, chunkOf(), "n/2");
    expect(await find("n/2", Date.now() - 1_000)).toEqual({ ref: ref });
    expect(await find("n/3", Date.now() - 1_000)).toBe("absent");
  });

  it("finds a post whose answer was lost, which the SDK does not send twice", async () => {
    room.twin.fault({ method: "chat.postMessage", reset: "after" });
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toMatchObject({ kind: "doubtful" });
    expect(replies()).toHaveLength(1);
    expect(await find("n/1", Date.now() - 1_000)).toEqual({ ref: replies()[0]?.ts });
  });

  it("finds nothing when the connection was lost before Slack had the post", async () => {
    room.twin.fault({ method: "chat.postMessage", reset: "before" });
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toMatchObject({ kind: "doubtful" });
    expect(await find("n/1", Date.now() - 1_000)).toBe("absent");
  });

  it("looks through all pages of a long thread", async () => {
    await room.chat.send(thread, chunkOf(), "n/1");
    for (let index = 0; index < 230; index++) await room.twin.say({ channel: "C1", user: "U1", text: `line ${index}`, thread: root });
    room.twin.fault({ method: "chat.postMessage", reset: "after" });
    await refusal(room.chat.send(thread, chunkOf(), "n/2"));
    expect(await find("n/2", Date.now() - 600_000)).not.toBe("absent");
  });
});

describe("editing", () => {
  it("shows the new blocks in the same message and leaves the nonce", async () => {
    const ref = await room.chat.send(thread, chunkOf(), "n/1");
    await room.chat.edit(thread, ref, chunkOf({ ...post, blocks: [{ kind: "text", text: "Approved by Ada" }] }));
    expect(replies()).toMatchObject([{ ts: ref, text: "Approved by Ada", blocks: [{ type: "section" }] }]);
    expect(String(room.twin.calls("chat.update")[0]?.args["parse"])).toBe("none");
    expect(await find("n/1", Date.now() - 1_000)).toEqual({ ref: ref });
  });

  it("is refused, without harm to the thread, when somebody has deleted the message", async () => {
    const ref = await room.chat.send(thread, chunkOf(), "n/1");
    await room.twin.deleteMessage({ channel: "C1", ts: ref });
    expect(await refusal(room.chat.edit(thread, ref, chunkOf()))).toEqual({ kind: "refused", code: "message_not_found" });
  });
});

describe("files", () => {
  const withFile: Post = { ...post, file: { name: "output.txt", blob: "b1" } };
  const fileChunk = (): Chunk => room.chat.layout(withFile).at(-1) as Chunk;
  const bytes = new TextEncoder().encode("all of the output\n".repeat(1_000));

  it("go into the thread whole", async () => {
    const ref = await room.chat.send(thread, fileChunk(), "n/1", bytes);
    expect(room.twin.file(ref)?.content.toString()).toBe("all of the output\n".repeat(1_000));
    expect(replies()).toMatchObject([{ files: [{ id: ref, name: "output.txt" }] }]);
  });

  it("are found again after a lost answer", async () => {
    room.twin.fault({ method: "files.completeUploadExternal", reset: "after" });
    expect(await refusal(room.chat.send(thread, fileChunk(), "n/1", bytes))).toMatchObject({ kind: "doubtful" });
    expect(await find("n/1", Date.now() - 1_000)).toEqual({ ref: replies()[0]?.ts });
  });

  it("are replaced by a line when they are empty or no longer kept", async () => {
    await room.chat.send(thread, fileChunk(), "n/1", new Uint8Array());
    await room.chat.send(thread, fileChunk(), "n/2");
    expect(replies().map((reply) => reply.text)).toEqual(["output.txt is empty.", "output.txt is no longer kept."]);
    expect(room.twin.calls("files.getUploadURLExternal")).toEqual([]);
  });

  it("stay as they are when their post is edited", async () => {
    const ref = await room.chat.send(thread, fileChunk(), "n/1", bytes);
    await room.chat.edit(thread, ref, fileChunk());
    expect(await refusal(room.chat.edit(thread, ref, chunkOf()))).toMatchObject({ kind: "refused" });
    expect(room.twin.calls("chat.update")).toEqual([]);
  });
});

describe("what Slack says no to", () => {
  it("is `later` for a 429, with the time, after a single call", async () => {
    room.twin.fault({ method: "chat.postMessage", status: 429, headers: { "retry-after": "7" } });
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toEqual({
      kind: "later",
      code: "ratelimited",
      retryAfterMs: 7_000,
      limit: "here",
    });
    expect(room.twin.calls("chat.postMessage")).toHaveLength(1);
    expect(replies()).toEqual([]);
  });

  it("does not hold up other calls while one is limited", async () => {
    room.twin.fault({ method: "chat.update", status: 429, headers: { "retry-after": "30" } });
    await refusal(room.chat.edit(thread, root, chunkOf()));
    await room.chat.send(thread, chunkOf(), "n/1");
    expect(replies()).toHaveLength(1);
  });

  it.each<[string, ChatRefusal["kind"]]>([
    ["ratelimited", "later"],
    ["token_revoked", "later"],
    ["invalid_blocks", "refused"],
    ["msg_too_long", "refused"],
    ["msg_blocks_too_long", "refused"],
    ["missing_scope", "refused"],
    ["is_archived", "gone"],
    ["channel_not_found", "gone"],
    ["not_in_channel", "gone"],
    ["account_inactive", "gone"],
    ["restricted_action_thread_locked", "gone"],
    ["thread_not_found", "gone"],
    ["internal_error", "doubtful"],
  ])("takes %s for %s", async (code, kind) => {
    room.twin.fault({ method: "chat.postMessage", error: code });
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toMatchObject({ kind, code });
  });

  it("is `doubtful` for a 5xx and for a page that is no JSON, `later` for a proxy's 4xx", async () => {
    room.twin.fault({ method: "chat.postMessage", status: 503 });
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toEqual({ kind: "doubtful", code: "http_503" });
    room.twin.fault({ method: "chat.postMessage", status: 200 });
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toEqual({ kind: "doubtful", code: "not_json" });
    room.twin.fault({ method: "chat.postMessage", status: 403 });
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toMatchObject({ kind: "later", code: "http_403" });
  });

  it("is `gone` for a real archived channel and for a deleted root, `refused` for a form that Slack does not take", async () => {
    const broken: Chunk = { plain: "x", body: { text: "x", blocks: [{ type: "markdown", text: "x".repeat(12_001) }] } satisfies SlackBody };
    expect(await refusal(room.chat.send(thread, broken, "n/1"))).toMatchObject({ kind: "refused", code: "invalid_blocks" });
    await room.twin.deleteMessage({ channel: "C1", ts: root });
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toEqual({ kind: "gone", code: "thread_not_found" });
    room.twin.archive("C1");
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toEqual({ kind: "gone", code: "is_archived" });
  });

  it("is `later` when nothing listens at the address: nothing was sent", async () => {
    await room.close();
    expect(await refusal(room.chat.send(thread, chunkOf(), "n/1"))).toMatchObject({ kind: "later", code: "ECONNREFUSED" });
    room = await openRoom();
  });
});

describe("budgets", () => {
  it("are a channel's for posts and the workspace's for edits and files; each lane leaves more to those before it", () => {
    const names = (act: ChatAct) => room.chat.buckets(thread, act, "output").map(({ name }) => name);
    expect([names("send"), names("edit"), names("file")]).toEqual([
      ["slack:post:C1"],
      ["slack:edit:T1"],
      ["slack:file:T1", "slack:post:C1"],
    ]);
    const lanes: Lane[] = ["approval", "answer", "output", "status"];
    expect(lanes.map((lane) => room.chat.buckets(thread, "edit", lane)[0]?.keep)).toEqual([0, 1, 2, 3]);
    // That somebody was heard is as urgent as an answer.
    expect(room.chat.buckets(thread, "send", "status")).toEqual(room.chat.buckets(thread, "send", "answer"));
  });
});
