import { App } from "@slack/bolt";
import { LogLevel, SocketModeClient } from "@slack/socket-mode";
import { WebClient } from "@slack/web-api";
import { expect, test } from "vitest";
import type { SlackTwin } from "../../../src/twin/slack/twin.ts";
import { approveCard, atEnd, post, startTwin } from "./harness.ts";

/** What Slack does over the socket, seen with the unmodified SDK. */

interface Heard {
  type: string;
  body: { event_id?: string; event?: Record<string, unknown> } & Record<string, unknown>;
  retry_num?: number;
  retry_reason?: string;
}

/** The SDK's socket client; `answer` decides whether what it hears is acknowledged. */
async function listen(twin: SlackTwin, answer: (heard: Heard) => boolean = () => true): Promise<Heard[]> {
  const clientOptions = { slackApiUrl: twin.apiUrl };
  const client = new SocketModeClient({ appToken: twin.appToken, clientPingTimeout: 200, logLevel: LogLevel.ERROR, clientOptions });
  const heard: Heard[] = [];
  client.on("slack_event", async (each: Heard & { ack: () => Promise<void> }) => {
    heard.push(each);
    if (answer(each)) await each.ack();
  });
  await client.start();
  atEnd(() => client.disconnect());
  return heard;
}

const mention = (twin: SlackTwin, text = "hi"): Promise<{ ts: string }> =>
  twin.say({ channel: "C1", user: "U1", text: `<@${twin.botUserId}> ${text}` });
const allAcked = (twin: SlackTwin, count: number): boolean => twin.events().length === count && twin.events().every(({ acked }) => acked);

test("a Bolt app hears a mention, answers in the thread with a button, and hears its press", async () => {
  const twin = await startTwin();
  const app = new App({
    token: twin.botToken,
    appToken: twin.appToken,
    socketMode: true,
    logLevel: LogLevel.ERROR,
    clientOptions: { slackApiUrl: twin.apiUrl },
  });
  app.event("app_mention", async ({ event, say }) => {
    await say({ text: "allow it?", thread_ts: event.ts, blocks: approveCard as never });
  });
  const pressed: unknown[] = [];
  app.action("approve", async ({ ack, body, respond, action }) => {
    await ack();
    pressed.push([body.user.id, (action as { value?: string }).value]);
    await respond({ text: "approved", replace_original: true, blocks: [] });
  });
  await app.start();
  atEnd(() => app.stop());
  const { ts } = await mention(twin);
  const card = await twin.waitFor(() => twin.thread("C1", ts)[1]);
  expect(card).toMatchObject({ text: "allow it?", bot_id: twin.botId, thread_ts: ts });
  expect(await twin.press({ channel: "C1", ts: card.ts, actionId: "approve", user: "U1" })).toEqual({ acked: true });
  await twin.waitFor(() => twin.thread("C1", ts)[1]?.text === "approved");
  expect(pressed).toEqual([["U1", "a1"]]);
});

test("a mention arrives twice, as message and as app_mention, with one ts and two event ids", async () => {
  const twin = await startTwin();
  const heard = await listen(twin);
  const { ts } = await mention(twin, "a && b > c");
  await twin.waitFor(() => allAcked(twin, 2));
  expect(heard.map(({ body }) => [body.event?.type, body.event?.ts])).toEqual([
    ["message", ts],
    ["app_mention", ts],
  ]);
  expect(heard[0]?.body).toMatchObject({
    team_id: twin.teamId,
    api_app_id: twin.appId,
    type: "event_callback",
    is_ext_shared_channel: false,
    authorizations: [{ team_id: twin.teamId, user_id: twin.botUserId, is_bot: true }],
    event: { channel: "C1", channel_type: "channel", user: "U1", text: `<@${twin.botUserId}> a &amp;&amp; b &gt; c` },
  });
  expect(new Set(heard.map(({ body }) => body.event_id)).size).toBe(2);
});

test("a duplicate has the same event id", async () => {
  const twin = await startTwin();
  const heard = await listen(twin);
  await twin.say({ channel: "C1", user: "U1", text: "once" });
  await twin.waitFor(() => allAcked(twin, 1));
  twin.redeliver(twin.events()[0]?.event_id as string);
  await twin.waitFor(() => allAcked(twin, 2));
  expect(heard[1]?.body).toEqual(heard[0]?.body);
});

test("what is not acknowledged comes again, with its number and reason", async () => {
  const twin = await startTwin({ ackTimeoutMs: 500, retryDelaysMs: [0, 50] });
  const heard = await listen(twin, ({ retry_num }) => retry_num === 2);
  await twin.say({ channel: "C1", user: "U1", text: "again" });
  await twin.waitFor(() => allAcked(twin, 1));
  expect(heard.map(({ retry_num, retry_reason }) => [retry_num, retry_reason])).toEqual([
    [0, ""],
    [1, "timeout"],
    [2, "timeout"],
  ]);
  expect(new Set(heard.map(({ body }) => body.event_id)).size).toBe(1);
  expect(twin.events()).toMatchObject([{ attempts: 3, acked: true, lost: false }]);
});

test("what was said while no socket was there comes with a later retry", async () => {
  const twin = await startTwin({ retryDelaysMs: [0, 100, 300, 1_000, 3_000] });
  await twin.say({ channel: "C1", user: "U1", text: "anybody?" });
  await twin.waitFor(() => (twin.events()[0]?.attempts ?? 0) >= 2);
  const heard = await listen(twin);
  await twin.waitFor(() => allAcked(twin, 1));
  expect(heard).toMatchObject([{ retry_reason: "connection_failed", body: { event: { text: "anybody?" } } }]);
});

test("after the last retry an event is lost for ever, and can only be read back", async () => {
  const twin = await startTwin({ retryDelaysMs: [0, 20] });
  const { ts } = await twin.say({ channel: "C1", user: "U1", text: "gone" });
  await twin.waitFor(() => twin.events()[0]?.lost);
  const heard = await listen(twin);
  await twin.say({ channel: "C1", user: "U1", text: "here" });
  await twin.waitFor(() => heard.length > 0);
  expect(heard.map(({ body }) => body.event?.text)).toEqual(["here"]);
  const web = new WebClient(twin.botToken, { slackApiUrl: twin.apiUrl });
  expect(await web.conversations.history({ channel: "C1" })).toMatchObject({ messages: [{ text: "here" }, { ts, text: "gone" }] });
});

test("told to refresh, the client comes back on a new socket", async () => {
  const twin = await startTwin();
  const heard = await listen(twin);
  twin.disconnect("refresh_requested");
  await twin.waitFor(() => twin.sockets() === 0);
  await twin.waitFor(() => twin.sockets() === 1);
  await twin.say({ channel: "C1", user: "U1", text: "after" });
  await twin.waitFor(() => heard.length === 1);
  expect(twin.calls("apps.connections.open")).toHaveLength(2);
});

test("cut off without a word, the client comes back and gets what it had not acknowledged", async () => {
  const twin = await startTwin({ retryDelaysMs: [0, 500, 1_000, 3_000] });
  const heard = await listen(twin, ({ retry_num }) => (retry_num ?? 0) > 0);
  await twin.say({ channel: "C1", user: "U1", text: "cut" });
  await twin.waitFor(() => heard.length === 1);
  twin.dropSockets();
  await twin.waitFor(() => allAcked(twin, 1));
  expect(heard).toHaveLength(2);
});

test("a press is not acknowledged, and never comes, when no socket is there", async () => {
  const twin = await startTwin({ retryDelaysMs: [0, 50] });
  const ts = await post(twin, { blocks: approveCard });
  expect(await twin.press({ channel: "C1", ts, actionId: "approve", user: "U1" })).toEqual({ acked: false });
  const heard = await listen(twin);
  await twin.say({ channel: "C1", user: "U1", text: "later" });
  await twin.waitFor(() => heard.length > 0);
  // Under load it may come again before it is acknowledged.
  expect([...new Set(heard.map(({ type }) => type))]).toEqual(["events_api"]);
});
