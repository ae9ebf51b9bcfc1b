import { expect, test } from "vitest";
import type { DiscordTwin, DiscordTwinOptions } from "../../../src/twin/discord/twin.ts";
import type { Args, PlainSocket } from "./harness.ts";
import {
  ANA,
  GUILDS,
  GUILD_MESSAGES,
  heard,
  HIDDEN,
  identify,
  MESSAGE_CONTENT,
  openSession,
  openSocket,
  OPS,
  startTwin,
} from "./harness.ts";

/** The Gateway over a plain socket: the handshake, its refusals, resuming. */

test("the address of the Gateway comes with the limit of starts", async () => {
  const twin = await startTwin();
  await openSession(twin);
  const headers = { authorization: `Bot ${twin.token}` };
  const answer = (await (await fetch(`${twin.apiUrl}/v10/gateway/bot`, { headers })).json()) as Args;
  expect(answer).toMatchObject({ shards: 1, session_start_limit: { total: 1000, remaining: 999, max_concurrency: 1 } });
  expect(answer.url).toBe(`${twin.url.replace("http:", "ws:")}/gateway`);
});

test("after HELLO and IDENTIFY come READY and the server with its channels, threads, roles and the bot", async () => {
  const twin = await startTwin({ heartbeatMs: 30_000 });
  const { id } = twin.addThread({ channel: OPS, name: "open", user: ANA });
  twin.archiveThread(twin.addThread({ channel: OPS, name: "over", user: ANA }).id);
  const socket = await openSession(twin);
  await twin.waitFor(() => heard(socket, "GUILD_CREATE").length > 0);
  expect(socket.frames.map(({ op, t, s }) => [op, t ?? null, s ?? null])).toEqual([
    [10, null, null],
    [0, "READY", 1],
    [0, "GUILD_CREATE", 2],
  ]);
  expect(socket.frames[0]?.d.heartbeat_interval).toBe(30_000);
  expect(heard(socket, "READY")[0]).toMatchObject({
    v: 10,
    user: { id: twin.botUserId, bot: true },
    guilds: [{ id: twin.guildId, unavailable: true }],
    shard: [0, 1],
    application: { id: twin.applicationId },
    resume_gateway_url: expect.stringContaining("ws://127.0.0.1:"),
  });
  const guild = heard(socket, "GUILD_CREATE")[0] as Record<string, Args[]>;
  expect(guild.threads).toMatchObject([{ id, name: "open", thread_metadata: { archived: false } }]);
  expect(guild.channels?.map(({ name }) => name)).toEqual(["ops", "questions", "quiet", "hidden"]);
  expect(guild.roles).toMatchObject([{ id: twin.guildId }, { id: twin.botRoleId, managed: true }]);
  expect(guild.members).toMatchObject([{ user: { id: twin.botUserId } }]);
});

/** What is said after HELLO, and the code of the close that follows. */
const CLOSES: [string, number, (twin: DiscordTwin) => unknown[], DiscordTwinOptions?, string?][] = [
  ["a wrong token", 4004, (twin) => [identify(twin, { token: "wrong" })]],
  ["a wrong token when resuming", 4004, () => [{ op: 6, d: { token: "wrong", session_id: "x", seq: 1 } }]],
  ["no intents", 4013, (twin) => [identify(twin, { intents: undefined })]],
  ["intents that do not exist", 4013, (twin) => [identify(twin, { intents: 1 << 30 })]],
  ["an intent that is not switched on", 4014, (twin) => [identify(twin)], { intents: ["GuildMembers"] }],
  ["a shard that does not exist", 4010, (twin) => [identify(twin, { shard: [1, 1] })]],
  ["no properties", 4002, (twin) => [identify(twin, { properties: undefined })]],
  ["a second IDENTIFY", 4005, (twin) => [identify(twin), identify(twin)]],
  ["something before IDENTIFY", 4003, () => [{ op: 3, d: {} }]],
  ["an unknown opcode", 4001, (twin) => [identify(twin), { op: 99, d: {} }]],
  ["what is no JSON", 4002, () => ["{"]],
  ["4097 bytes", 4002, () => [JSON.stringify({ op: 1, d: "x".repeat(4097 - 15) })]],
  ["121 sends in a minute", 4008, () => Array.from({ length: 121 }, () => ({ op: 1, d: null }))],
  ["an older version", 4012, () => [], {}, "v=9&encoding=json"],
];

test.for(CLOSES)("%s closes the connection with %i", async ([, code, said, options, query]) => {
  const twin = await startTwin(options);
  const socket = await openSocket(twin, query);
  for (const frame of said(twin)) socket.send(frame);
  expect(await socket.closed).toBe(code);
});

test("120 sends in a minute and 4096 bytes pass, each heartbeat is answered", async () => {
  const twin = await startTwin();
  const socket = await openSocket(twin);
  socket.send(JSON.stringify({ op: 1, d: "x".repeat(4096 - 15) }));
  for (let n = 0; n < 119; n += 1) socket.send({ op: 1, d: null });
  await twin.waitFor(() => socket.frames.filter(({ op }) => op === 11).length === 120);
});

test("muted, heartbeats stay unanswered", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  twin.muteHeartbeats(true);
  socket.send({ op: 1, d: 1 });
  socket.send({ op: 99 });
  expect(await socket.closed).toBe(4001);
  expect(socket.frames.map(({ op }) => op)).not.toContain(11);
});

function say(twin: DiscordTwin, text: string): Promise<{ id: string }> {
  return twin.say({ channel: OPS, user: ANA, text });
}

async function resume(twin: DiscordTwin, before: PlainSocket, seq: number): Promise<PlainSocket> {
  const socket = await openSocket(twin);
  socket.send({ op: 6, d: { token: twin.token, session_id: heard(before, "READY")[0]?.session_id, seq } });
  return socket;
}

const contents = (socket: PlainSocket): unknown[] => heard(socket, "MESSAGE_CREATE").map(({ content }) => content);

test("what came while a session had no socket is sent when it resumes, in order, and what it had is not", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  await say(twin, "one");
  await twin.waitFor(() => contents(socket).length === 1);
  socket.cut();
  await twin.waitFor(() => twin.sockets() === 0);
  await say(twin, "two");
  await say(twin, "three");
  const again = await resume(twin, socket, socket.frames.at(-1)?.s ?? 0);
  await twin.waitFor(() => heard(again, "RESUMED").length > 0);
  expect(contents(again)).toEqual(["two", "three"]);
  expect(again.frames.map(({ t }) => t ?? null)).toEqual([null, "MESSAGE_CREATE", "MESSAGE_CREATE", "RESUMED"]);
  await say(twin, "four");
  await twin.waitFor(() => contents(again).length === 3);
  expect(twin.events().map(({ t, sessions }) => [t, sessions])).toEqual([
    ["MESSAGE_CREATE", 1],
    ["MESSAGE_CREATE", 0],
    ["MESSAGE_CREATE", 0],
    ["MESSAGE_CREATE", 1],
  ]);
});

test("a session cannot be resumed when it was left with 1000, after minutes, or with a number ahead of it", async () => {
  const twin = await startTwin();
  const invalid = async (socket: PlainSocket): Promise<void> => {
    const again = await resume(twin, socket, 1);
    await twin.waitFor(() => again.frames.some(({ op, d }) => op === 9 && (d as unknown) === false));
  };
  const left = await openSession(twin);
  left.close(1000);
  await twin.waitFor(() => twin.sockets() === 0);
  await invalid(left);
  const late = await openSession(twin);
  late.cut();
  await twin.waitFor(() => twin.sockets() === 0);
  twin.advance(10 * 60_000);
  await invalid(late);
  const ahead = await openSession(twin);
  ahead.cut();
  await twin.waitFor(() => twin.sockets() === 0);
  expect(await (await resume(twin, ahead, 99)).closed).toBe(4007);
});

test("told to reconnect, or that the session is invalid, a client hears so", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  twin.reconnect();
  twin.invalidateSession(true);
  await twin.waitFor(() => socket.frames.some(({ op }) => op === 9));
  expect(socket.frames.filter(({ op }) => op !== 0).map(({ op, d }) => [op, d])).toEqual([
    [10, expect.anything()],
    [7, null],
    [9, true],
  ]);
  expect(twin.sessions()).toHaveLength(1);
  twin.invalidateSession(false);
  expect(twin.sessions()).toEqual([]);
  twin.closeWith(4000, "go");
  expect(await socket.closed).toBe(4000);
});

test("a session hears what its intents ask for, and nothing of channels that the bot may not see", async () => {
  const twin = await startTwin();
  const [none, guilds, messages] = [
    await openSession(twin, { intents: 0 }),
    await openSession(twin, { intents: GUILDS }),
    await openSession(twin, { intents: GUILD_MESSAGES | MESSAGE_CONTENT }),
  ];
  await twin.say({ channel: HIDDEN, user: ANA, text: "whisper" });
  const { id } = await say(twin, "hello");
  twin.addThread({ channel: OPS, name: "work", user: ANA, messageId: id });
  await twin.waitFor(() => heard(messages, "MESSAGE_CREATE").length === 2);
  const names = (socket: PlainSocket): unknown[] => socket.frames.slice(2).map(({ t }) => t);
  expect(names(none)).toEqual([]);
  expect(names(guilds)).toEqual(["GUILD_CREATE", "THREAD_CREATE"]);
  expect(names(messages)).toEqual(["MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_CREATE"]);
  expect(contents(messages)).toEqual(["hello", ""]);
});

test("two connections of one token both hear everything", async () => {
  const twin = await startTwin();
  const both = [await openSession(twin), await openSession(twin)];
  await say(twin, "hello");
  await twin.waitFor(() => both.every((socket) => contents(socket).length === 1));
  expect(twin.sockets()).toBe(2);
});
