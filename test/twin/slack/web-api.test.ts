import { WebClient } from "@slack/web-api";
import { expect, test } from "vitest";
import { approveCard, call, post, rawCall, startTwin } from "./harness.ts";

/** Tokens, scopes, channels, ownership, reading back: what the Web API answers. */

test("auth.test says who the bot is, and the scopes come in a header", async () => {
  const twin = await startTwin({ appScopes: ["chat:write", "users:read"] });
  const response = await rawCall(twin, "auth.test");
  expect(response.status).toBe(200);
  expect(response.headers.get("x-oauth-scopes")).toBe("chat:write,users:read");
  expect(await response.json()).toMatchObject({ ok: true, team_id: twin.teamId, user_id: twin.botUserId, bot_id: twin.botId });
});

test("refusals are HTTP 200 with a code: no token, a wrong one, the wrong kind, an unknown method", async () => {
  const twin = await startTwin();
  const none = await rawCall(twin, "auth.test", {}, null);
  expect(none.status).toBe(200);
  expect(await none.json()).toMatchObject({ ok: false, error: "not_authed" });
  expect(await call(twin, "auth.test", {}, "xoxb-other")).toMatchObject({ error: "invalid_auth" });
  expect(await call(twin, "auth.test", {}, twin.appToken)).toMatchObject({ error: "not_allowed_token_type" });
  expect(await call(twin, "apps.connections.open")).toMatchObject({ error: "not_allowed_token_type" });
  expect(await call(twin, "apps.connections.open", { token: twin.appToken }, null)).toMatchObject({ error: "not_authed" });
  expect(await call(twin, "chat.shout")).toMatchObject({ error: "unknown_method" });
  twin.revokeTokens();
  expect(await call(twin, "auth.test")).toMatchObject({ error: "token_revoked" });
});

test.each([
  ["chat.postMessage", { channel: "C1", text: "a" }, "chat:write"],
  ["reactions.add", { channel: "C1", timestamp: "1.2", name: "eyes" }, "reactions:write"],
  ["users.info", { user: "U1" }, "users:read"],
  ["conversations.info", { channel: "C1" }, "channels:read"],
  ["conversations.history", { channel: "C1" }, "channels:history"],
  ["conversations.replies", { channel: "G1", ts: "1.2" }, "groups:history"],
  ["conversations.list", { types: "public_channel,private_channel" }, "channels:read,groups:read"],
  ["conversations.join", { channel: "C2" }, "channels:join"],
  ["conversations.open", { users: "U1" }, "im:write"],
  ["files.getUploadURLExternal", { filename: "a", length: 1 }, "files:write"],
  ["files.info", { file: "F1" }, "files:read"],
])("%s without its scope names what it needs and what there is", async (method, args, needed) => {
  const twin = await startTwin({ appScopes: ["app_mentions:read"] });
  expect(await call(twin, method, args)).toMatchObject({ ok: false, error: "missing_scope", needed, provided: "app_mentions:read" });
});

test("form-encoded arguments with nested JSON do the same as a JSON body", async () => {
  const twin = await startTwin();
  const body = new URLSearchParams({ token: twin.botToken, channel: "C1", text: "form", blocks: JSON.stringify(approveCard) });
  const response = await fetch(`${twin.apiUrl}chat.postMessage`, { method: "POST", body });
  expect(await response.json()).toMatchObject({ ok: true, message: { text: "form", blocks: approveCard } });
});

test("a post goes only to an open channel that the bot is in, and to the root of a thread", async () => {
  const twin = await startTwin();
  const root = await post(twin);
  const reply = await post(twin, { thread_ts: root });
  expect(twin.thread("C1", root).map(({ ts }) => ts)).toEqual([root, reply]);
  const refusal = async (args: Record<string, unknown>): Promise<string | undefined> =>
    (await call(twin, "chat.postMessage", { text: "a", ...args })).error;
  expect(await refusal({ channel: "C99" })).toBe("channel_not_found");
  expect(await refusal({ channel: "C2" })).toBe("not_in_channel");
  expect(await refusal({ channel: "C1", thread_ts: "1.000001" })).toBe("thread_not_found");
  expect(await refusal({ channel: "C1", thread_ts: reply })).toBe("cannot_reply_to_message");
  expect(await refusal({})).toBe("invalid_arguments");
  twin.archive("C1");
  expect(await refusal({ channel: "C1" })).toBe("is_archived");
});

test("only the bot's own messages can be changed or removed", async () => {
  const twin = await startTwin();
  const { ts: persons } = await twin.say({ channel: "C1", user: "U1", text: "mine" });
  const own = await post(twin, { blocks: approveCard, metadata: { event_type: "t", event_payload: { nonce: "n1" } } });
  expect(await call(twin, "chat.update", { channel: "C1", ts: persons, text: "x" })).toMatchObject({ error: "cant_update_message" });
  expect(await call(twin, "chat.delete", { channel: "C1", ts: persons })).toMatchObject({ error: "cant_delete_message" });
  expect(await call(twin, "chat.update", { channel: "C1", ts: "1.000001", text: "x" })).toMatchObject({ error: "message_not_found" });
  await call(twin, "chat.update", { channel: "C1", ts: own, text: "new" });
  expect(twin.thread("C1", own)[0]).toMatchObject({
    text: "new",
    blocks: approveCard,
    metadata: { event_type: "t" },
    edited: { user: twin.botUserId },
  });
  await call(twin, "chat.update", { channel: "C1", ts: own, text: "newer", blocks: [] });
  expect(twin.thread("C1", own)[0]?.blocks).toBeUndefined();
  expect(await call(twin, "chat.delete", { channel: "C1", ts: own })).toMatchObject({ ok: true });
  expect(twin.thread("C1", own)).toEqual([]);
});

test("a message of rich text alone cannot become one without, and an archived channel takes no edit", async () => {
  const twin = await startTwin();
  const ts = await post(twin, {
    blocks: [{ type: "rich_text", elements: [{ type: "rich_text_section", elements: [{ type: "text", text: "a" }] }] }],
  });
  expect(await call(twin, "chat.update", { channel: "C1", ts, blocks: [{ type: "divider" }] })).toMatchObject({ error: "block_mismatch" });
  twin.archive("C1");
  expect(await call(twin, "chat.update", { channel: "C1", ts, text: "a" })).toMatchObject({ error: "is_inactive" });
});

test("replies come in order after the root, in pages, between bounds, with metadata only on request", async () => {
  const twin = await startTwin();
  const { ts } = await twin.say({ channel: "C1", user: "U1", text: "root" });
  const replies: string[] = [];
  for (const text of ["one", "two", "three"])
    replies.push(await post(twin, { text, thread_ts: ts, metadata: { event_type: "t", event_payload: { text } } }));
  const read = async (args: Record<string, unknown>): Promise<{ texts: string[]; cursor: string; first: unknown }> => {
    const answer = await call(twin, "conversations.replies", { channel: "C1", ts, ...args });
    const messages = answer.messages as { text: string; metadata?: unknown }[];
    return { texts: messages.map(({ text }) => text), cursor: answer.response_metadata?.next_cursor ?? "", first: messages[1]?.metadata };
  };
  const page = await read({ limit: 2 });
  expect(page).toMatchObject({ texts: ["root", "one", "two"], first: undefined });
  expect(await read({ limit: 2, cursor: page.cursor })).toMatchObject({ texts: ["root", "three"], cursor: "" });
  expect((await read({ oldest: replies[0] })).texts).toEqual(["root", "two", "three"]);
  expect((await read({ oldest: replies[0], latest: replies[1], inclusive: true })).texts).toEqual(["root", "one", "two"]);
  expect((await read({ include_all_metadata: true })).first).toEqual({ event_type: "t", event_payload: { text: "one" } });
  expect(await call(twin, "conversations.replies", { channel: "C1", ts: "1.000001" })).toMatchObject({ error: "thread_not_found" });
  expect(await call(twin, "conversations.replies", { channel: "C2", ts })).toMatchObject({ error: "not_in_channel" });
});

test("history shows roots only, the newest first, with their threads' figures", async () => {
  const twin = await startTwin();
  const first = await post(twin, { text: "first" });
  await post(twin, { text: "reply", thread_ts: first });
  await twin.say({ channel: "C1", user: "U1", text: "second" });
  const all = await call(twin, "conversations.history", { channel: "C1" });
  expect(all.messages).toMatchObject([{ text: "second" }, { text: "first", reply_count: 1 }]);
  expect(await call(twin, "conversations.history", { channel: "C1", oldest: first })).toMatchObject({ messages: [{ text: "second" }] });
  const page = await call(twin, "conversations.history", { channel: "C1", limit: 1 });
  const next = await call(twin, "conversations.history", { channel: "C1", limit: 1, cursor: page.response_metadata?.next_cursor });
  expect([page, next]).toMatchObject([
    { has_more: true, messages: [{ text: "second" }] },
    { has_more: false, messages: [{ text: "first" }] },
  ]);
  expect(await call(twin, "conversations.history", { channel: "C1", cursor: "x" })).toMatchObject({ error: "invalid_cursor" });
  expect(await call(twin, "conversations.history", { channel: "C1", oldest: "yesterday" })).toMatchObject({ error: "invalid_ts_oldest" });
});

test("users.info tells members, guests and strangers apart", async () => {
  const twin = await startTwin();
  expect(await call(twin, "users.info", { user: "U1" })).toMatchObject({
    user: { name: "ana", is_restricted: false, is_bot: false, team_id: twin.teamId },
  });
  expect(await call(twin, "users.info", { user: "U2" })).toMatchObject({ user: { is_restricted: true } });
  expect(await call(twin, "users.info", { user: "U3" })).toMatchObject({ user: { is_stranger: true, team_id: "T9" } });
  expect(await call(twin, "users.info", { user: twin.botUserId })).toMatchObject({ user: { is_bot: true } });
  expect(await call(twin, "users.info", { user: "U99" })).toMatchObject({ error: "user_not_found" });
});

test("channels are described, listed in pages, joined and opened", async () => {
  const twin = await startTwin({ appScopes: ["channels:read", "groups:read", "channels:join", "im:write"] });
  expect(await call(twin, "conversations.info", { channel: "G1" })).toMatchObject({
    channel: { name: "secret", is_private: true, is_member: true },
  });
  const list = await call(twin, "conversations.list", { limit: 1 });
  expect(list).toMatchObject({ channels: [{ id: "C1" }] });
  expect(await call(twin, "conversations.list", { limit: 1, cursor: list.response_metadata?.next_cursor })).toMatchObject({
    channels: [{ id: "C2" }],
  });
  expect(await call(twin, "conversations.join", { channel: "C2" })).toMatchObject({ channel: { is_member: true } });
  expect(twin.messages("C2")).toMatchObject([{ subtype: "channel_join", user: twin.botUserId }]);
  expect(await call(twin, "conversations.join", { channel: "G1" })).toMatchObject({ error: "method_not_supported_for_channel_type" });
  expect(await call(twin, "conversations.open", { users: "U1" })).toMatchObject({ channel: { id: "D1", is_im: true } });
});

test("reactions are added once and removed once", async () => {
  const twin = await startTwin();
  const args = { channel: "C1", timestamp: await post(twin), name: "eyes" };
  expect(await call(twin, "reactions.add", args)).toMatchObject({ ok: true });
  expect(twin.reactions()).toEqual([`C1:${args.timestamp}:eyes`]);
  expect(await call(twin, "reactions.add", args)).toMatchObject({ error: "already_reacted" });
  expect(await call(twin, "reactions.remove", args)).toMatchObject({ ok: true });
  expect(await call(twin, "reactions.remove", args)).toMatchObject({ error: "no_reaction" });
});

test("a permalink leads to a message that is there", async () => {
  const twin = await startTwin();
  const ts = await post(twin);
  expect(await call(twin, "chat.getPermalink", { channel: "C1", message_ts: ts })).toMatchObject({
    permalink: `${twin.url}/archives/C1/p${ts.replace(".", "")}`,
  });
  expect(await call(twin, "chat.getPermalink", { channel: "C1", message_ts: "1.000001" })).toMatchObject({ error: "message_not_found" });
});

test("an ephemeral is seen by its reader and is not a message", async () => {
  const twin = await startTwin();
  const root = await post(twin);
  await call(twin, "chat.postEphemeral", { channel: "C1", user: "U1", text: "only <you> & me", thread_ts: root });
  expect(twin.ephemerals()).toEqual([{ channel: "C1", user: "U1", text: "only &lt;you&gt; &amp; me", thread_ts: root }]);
  expect(twin.messages("C1")).toHaveLength(1);
});

test("the SDK uploads a file into a thread and gets it back with the token", async () => {
  const twin = await startTwin();
  const root = await post(twin);
  const web = new WebClient(twin.botToken, { slackApiUrl: twin.apiUrl });
  await web.filesUploadV2({ channel_id: "C1", thread_ts: root, filename: "out.txt", content: "höhe", initial_comment: "all of it" });
  const message = twin.thread("C1", root)[1];
  expect(message).toMatchObject({ subtype: "file_share", text: "all of it", bot_id: twin.botId, files: [{ name: "out.txt", size: 5 }] });
  const [file] = message?.files ?? [];
  const { id, url_private_download: url } = (file ?? {}) as { id: string; url_private_download: string };
  expect(twin.file(id)).toEqual({ name: "out.txt", content: Buffer.from("höhe") });
  const download = await fetch(url, { headers: { authorization: `Bearer ${twin.botToken}` } });
  expect([download.headers.get("content-type"), await download.text()]).toEqual(["text/plain", "höhe"]);
  const without = await fetch(url);
  expect([without.status, without.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
});

test("an upload is refused when its bytes are missing, too many, or the channel is closed to the bot", async () => {
  const twin = await startTwin();
  const ticket = async (): Promise<{ upload_url: string; file_id: string }> =>
    (await call(twin, "files.getUploadURLExternal", { filename: "a", length: 2 })) as never;
  const complete = (id: string, channel_id: string): Promise<unknown> =>
    call(twin, "files.completeUploadExternal", { files: [{ id }], channel_id });
  const empty = await ticket();
  expect(await complete(empty.file_id, "C1")).toMatchObject({ error: "file_not_found" });
  expect((await fetch(empty.upload_url, { method: "POST", body: "abc" })).status).toBe(400);
  expect((await fetch(empty.upload_url, { method: "POST", body: "ab" })).status).toBe(200);
  expect(await complete(empty.file_id, "C2")).toMatchObject({ error: "not_in_channel" });
  expect(await call(twin, "files.info", { file: empty.file_id })).toMatchObject({ file: { size: 2 } });
});

test("a bot that was sent away is told so: not_in_channel in a public channel, channel_not_found in a private one", async () => {
  const twin = await startTwin();
  twin.kickBot("C1");
  twin.kickBot("G1");
  expect(await call(twin, "chat.postMessage", { channel: "C1", text: "a" })).toMatchObject({ error: "not_in_channel" });
  expect(await call(twin, "chat.postMessage", { channel: "G1", text: "a" })).toMatchObject({ error: "channel_not_found" });
});
