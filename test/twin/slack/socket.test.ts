import { expect, test } from "vitest";
import { WebSocket } from "ws";
import type { SlackTwin } from "../../../src/twin/slack/twin.ts";
import type { PlainSocket } from "./harness.ts";
import { approveCard, call, envelopes, openSocket, post, startTwin } from "./harness.ts";

/** The socket's protocol itself, and the events that the workspace makes. */

const acking = (twin: SlackTwin): Promise<PlainSocket> => openSocket(twin, (envelope, self) => self.ack(envelope));

test("a socket is greeted with the number of connections and the app's id", async () => {
  const twin = await startTwin();
  await openSocket(twin);
  const second = await openSocket(twin);
  expect(second.heard[0]).toMatchObject({
    type: "hello",
    num_connections: 2,
    connection_info: { app_id: twin.appId },
    debug_info: { approximate_connection_time: 18060 },
  });
});

test("a ticket opens one socket", async () => {
  const twin = await startTwin();
  const { url } = await call(twin, "apps.connections.open", {}, twin.appToken);
  const outcome = (): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(url as string);
      socket.once("open", () => resolve("open"));
      socket.once("error", (error) => resolve(error.message));
    });
  expect(await outcome()).toBe("open");
  expect(await outcome()).toMatch("401");
});

test("the eleventh socket is sent away", async () => {
  const twin = await startTwin();
  for (let index = 0; index < 10; index++) await openSocket(twin);
  const eleventh = await openSocket(twin);
  expect(eleventh.heard).toMatchObject([{ type: "disconnect", reason: "too_many_websockets" }]);
  await eleventh.closed;
  expect(twin.sockets()).toBe(10);
});

test("each envelope goes to one socket, in turn", async () => {
  const twin = await startTwin();
  const sockets = [await acking(twin), await acking(twin)];
  for (let index = 0; index < 6; index++) await twin.say({ channel: "C1", user: "U1", text: `${index}` });
  await twin.waitFor(() => twin.events().every(({ acked }) => acked));
  expect(sockets.map((socket) => envelopes(socket).length)).toEqual([3, 3]);
});

test("a socket that was told to go gets nothing more and is closed", async () => {
  const twin = await startTwin();
  const old = await acking(twin);
  const young = await acking(twin);
  twin.disconnect("refresh_requested", 1);
  await twin.say({ channel: "C1", user: "U1", text: "on" });
  await old.closed;
  expect(old.heard.at(-1)).toMatchObject({ type: "disconnect", reason: "refresh_requested" });
  expect(envelopes(old)).toEqual([]);
  await twin.waitFor(() => envelopes(young).length === 1);
});

test("an unacknowledged envelope moves to another socket when its own breaks", async () => {
  const twin = await startTwin();
  const mute = await openSocket(twin);
  await twin.say({ channel: "C1", user: "U1", text: "on" });
  const other = await acking(twin);
  mute.close();
  await twin.waitFor(() => twin.events()[0]?.acked);
  expect(envelopes(other)).toMatchObject([{ retry_attempt: 1, retry_reason: "connection_failed" }]);
});

test("app_rate_limited comes without an inner event", async () => {
  const twin = await startTwin();
  const socket = await acking(twin);
  expect(await twin.rateLimitEvents()).toMatchObject({ acked: true });
  expect(envelopes(socket)[0]).toMatchObject({ type: "events_api", payload: { type: "app_rate_limited", api_app_id: twin.appId } });
  expect(envelopes(socket)[0]?.payload).not.toHaveProperty("event");
});

/** Runs `act` with a socket that hears all; gives the inner events. */
async function eventsOf(twin: SlackTwin, count: number, act: () => Promise<unknown>): Promise<unknown[]> {
  const socket = await acking(twin);
  await act();
  await twin.waitFor(() => envelopes(socket).length >= count);
  return envelopes(socket).map(({ payload }) => payload.event);
}

test("the bot hears its own posts and edits, marked with its bot id", async () => {
  const twin = await startTwin();
  const events = await eventsOf(twin, 2, async () => {
    const ts = await post(twin, { metadata: { event_type: "t", event_payload: {} } });
    await call(twin, "chat.update", { channel: "C1", ts, text: "new" });
  });
  expect(events).toMatchObject([
    { type: "message", bot_id: twin.botId, user: twin.botUserId, text: "hello" },
    {
      type: "message",
      subtype: "message_changed",
      hidden: true,
      message: { bot_id: twin.botId, text: "new" },
      previous_message: { text: "hello" },
    },
  ]);
  expect(events[0]).not.toHaveProperty("metadata");
});

test("edits, deletions, joins, other bots and files come with their subtypes", async () => {
  const twin = await startTwin();
  const events = await eventsOf(twin, 6, async () => {
    const { ts } = await twin.say({ channel: "C1", user: "U1", text: "a" });
    await twin.editMessage({ channel: "C1", ts, text: "b" });
    await twin.deleteMessage({ channel: "C1", ts });
    await twin.join("C1", "U2");
    await twin.botSay({ channel: "C1", text: "beep" });
    await twin.say({ channel: "C1", user: "U1", text: "see", files: [{ name: "a.txt", content: "abc" }] });
  });
  expect(events).toMatchObject([
    { text: "a" },
    { subtype: "message_changed", message: { text: "b", edited: { user: "U1" } }, previous_message: { text: "a" } },
    { subtype: "message_deleted", previous_message: { text: "b" } },
    { subtype: "channel_join", user: "U2" },
    { text: "beep", bot_id: "B9OTHER" },
    { subtype: "file_share", text: "see", files: [{ name: "a.txt", size: 3 }] },
  ]);
});

test("a root with replies leaves a tombstone", async () => {
  const twin = await startTwin();
  const { ts } = await twin.say({ channel: "C1", user: "U1", text: "root" });
  await twin.say({ channel: "C1", user: "U1", text: "reply", thread: ts });
  await twin.deleteMessage({ channel: "C1", ts });
  expect(twin.thread("C1", ts)).toMatchObject([{ subtype: "tombstone" }, { text: "reply" }]);
});

test("the bot hears nothing of a channel that it is not in, or that its scopes do not cover", async () => {
  const twin = await startTwin({ appScopes: ["app_mentions:read", "groups:history"] });
  const events = await eventsOf(twin, 1, async () => {
    await twin.say({ channel: "C2", user: "U1", text: `<@${twin.botUserId}> outside` });
    await twin.say({ channel: "C1", user: "U1", text: "no scope" });
    await twin.say({ channel: "G1", user: "U1", text: "heard" });
  });
  expect(events).toMatchObject([{ text: "heard", channel_type: "group" }]);
});

test("a visitor from another workspace is marked as one", async () => {
  const twin = await startTwin();
  const [event] = await eventsOf(twin, 1, () => twin.say({ channel: "C1", user: "U3", text: "hi" }));
  expect(event).toMatchObject({ user: "U3", team: "T9", user_team: "T9", source_team: "T9" });
});

test.each([
  ["see https://a.example/x?a=1&b=2, ok", "see <https://a.example/x?a=1&amp;b=2>, ok"],
  ["mail a@b.example", "mail <mailto:a@b.example|a@b.example>"],
  ["open github.com now", "open <http://github.com|github.com> now"],
  ["`curl https://a.example && b`", "`curl https://a.example &amp;&amp; b`"],
  ["<@U2> a < b", "<@U2> a &lt; b"],
  ["&amp;", "&amp;amp;"],
])("typed %s is kept as %s", async (typed, kept) => {
  const twin = await startTwin();
  const { ts } = await twin.say({ channel: "C1", user: "U1", text: typed });
  expect(twin.thread("C1", ts)[0]?.text).toBe(kept);
});

test("a press carries the button, the message and who pressed", async () => {
  const twin = await startTwin();
  const socket = await acking(twin);
  const ts = await post(twin, { blocks: approveCard });
  expect(await twin.press({ channel: "C1", ts, actionId: "approve", user: "U2" })).toEqual({ acked: true });
  expect(envelopes(socket).at(-1)).toMatchObject({
    type: "interactive",
    accepts_response_payload: false,
    payload: {
      type: "block_actions",
      user: { id: "U2", name: "guest", team_id: twin.teamId },
      channel: { id: "C1", name: "ops" },
      container: { type: "message", message_ts: ts, channel_id: "C1", is_ephemeral: false },
      message: { ts, bot_id: twin.botId, blocks: approveCard },
      actions: [{ type: "button", action_id: "approve", block_id: "b1", value: "a1" }],
      state: { values: {} },
    },
  });
});

test("only a button that is shown can be pressed, or was shown on a stale screen", async () => {
  const twin = await startTwin();
  await acking(twin);
  const ts = await post(twin, { blocks: approveCard });
  const press = { channel: "C1", ts, actionId: "approve", user: "U1" };
  await expect(twin.press({ ...press, actionId: "deny" })).rejects.toThrow("no button deny");
  await call(twin, "chat.update", { channel: "C1", ts, text: "done", blocks: [] });
  await expect(twin.press(press)).rejects.toThrow("no button approve");
  expect(await twin.press({ ...press, stale: true })).toEqual({ acked: true });
});

test("a response_url works five times", async () => {
  const twin = await startTwin();
  const socket = await acking(twin);
  const ts = await post(twin, { blocks: approveCard });
  await twin.press({ channel: "C1", ts, actionId: "approve", user: "U1" });
  const url = envelopes(socket).at(-1)?.payload.response_url as string;
  const respond = (body: unknown): Promise<Response> => fetch(url, { method: "POST", body: JSON.stringify(body) });
  for (let use = 1; use <= 4; use++) expect((await respond({ text: `only you ${use}` })).status).toBe(200);
  expect((await respond({ text: "done", replace_original: true, blocks: [] })).status).toBe(200);
  const sixth = await respond({ text: "no" });
  expect([sixth.status, await sixth.json()]).toMatchObject([404, { error: "used_url" }]);
  expect(twin.ephemerals()).toHaveLength(4);
  expect(twin.thread("C1", ts)).toMatchObject([{ text: "done" }]);
});

test("waiting in vain ends with what the threads show", async () => {
  const twin = await startTwin();
  await twin.say({ channel: "C1", user: "U1", text: "is anybody there" });
  await expect(twin.waitFor(() => twin.sockets() > 0, 50)).rejects.toThrow(/within 50 ms[\s\S]*U1: is anybody there/);
});

test("archiving, being sent away and revoked tokens come as events to an app that may read channels", async () => {
  const twin = await startTwin({ appScopes: ["channels:read"] });
  const events = await eventsOf(twin, 3, async () => {
    twin.archive("C1");
    twin.kickBot("C2");
    twin.archive("G1");
    twin.revokeTokens();
  });
  expect(events).toMatchObject([
    { type: "channel_archive", channel: "C1" },
    { type: "channel_left", channel: "C2" },
    { type: "tokens_revoked" },
  ]);
});
