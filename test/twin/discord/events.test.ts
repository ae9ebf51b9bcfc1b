import { expect, test } from "vitest";
import type { DiscordTwin } from "../../../src/twin/discord/twin.ts";
import type { Args, PlainSocket } from "./harness.ts";
import { ANA, BEN, botThread, call, DIRECT_MESSAGES, GUILD_MESSAGES, heard, openSession, OPS, post, startTwin } from "./harness.ts";

/** What people do, as the app hears it. */

const NO_CONTENT = GUILD_MESSAGES | DIRECT_MESSAGES;

async function hear(twin: DiscordTwin, socket: PlainSocket, t: string, count = 1): Promise<Args> {
  return twin.waitFor(() => heard(socket, t)[count - 1]);
}

test("a post carries its author, member, mentions and place", async () => {
  const twin = await startTwin();
  twin.addRole({ id: "3001", name: "crew" });
  twin.setRoles(ANA, ["3001"]);
  const socket = await openSession(twin);
  const { id } = await twin.say({ channel: OPS, user: ANA, text: `<@${twin.botUserId}> and <@&3001>, go` });
  expect(await hear(twin, socket, "MESSAGE_CREATE")).toMatchObject({
    id,
    type: 0,
    channel_id: OPS,
    guild_id: twin.guildId,
    author: { id: ANA, username: "ana", bot: false },
    member: { roles: ["3001"] },
    mentions: [{ id: twin.botUserId }],
    mention_roles: ["3001"],
    mention_everyone: false,
  });
});

test("replies, posts to everyone, other bots and webhooks can be told apart", async () => {
  const twin = await startTwin();
  twin.addUser({ id: "1009", name: "robot", bot: true });
  const socket = await openSession(twin);
  const own = await post(twin);
  await twin.say({ channel: OPS, user: ANA, text: "yes", replyTo: own });
  await twin.say({ channel: OPS, user: ANA, text: "yes", replyTo: own, ping: false });
  await twin.say({ channel: OPS, user: ANA, text: "@everyone", mentionEveryone: true });
  await twin.say({ channel: OPS, user: "1009", text: "beep" });
  await twin.say({ channel: OPS, user: ANA, text: "hook", webhook: true });
  await hear(twin, socket, "MESSAGE_CREATE", 6);
  const [, reply, quiet, all, bot, hook] = heard(socket, "MESSAGE_CREATE");
  expect(reply).toMatchObject({ type: 19, mentions: [{ id: twin.botUserId }], referenced_message: { id: own } });
  expect(quiet).toMatchObject({ type: 19, mentions: [] });
  expect(all).toMatchObject({ mention_everyone: true, mentions: [] });
  expect(bot).toMatchObject({ author: { bot: true } });
  expect(hook).toHaveProperty("webhook_id");
  expect(hook).not.toHaveProperty("member");
});

test("edits and deletions of people are told", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  const { id } = await twin.say({ channel: OPS, user: ANA, text: "one" });
  await twin.editMessage({ channel: OPS, id, text: `two <@${BEN}>` });
  await twin.deleteMessage({ channel: OPS, id });
  expect(await hear(twin, socket, "MESSAGE_DELETE")).toEqual({ id, channel_id: OPS, guild_id: twin.guildId });
  expect(heard(socket, "MESSAGE_UPDATE")).toMatchObject([
    { id, content: `two <@${BEN}>`, mentions: [{ id: BEN }], edited_timestamp: expect.any(String) },
  ]);
});

test("a post that is delivered again is the same post", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  const { id } = await twin.say({ channel: OPS, user: ANA, text: "once" });
  twin.redeliver({ channel: OPS, id });
  await hear(twin, socket, "MESSAGE_CREATE", 2);
  const [one, two] = heard(socket, "MESSAGE_CREATE");
  expect(one).toEqual(two);
});

test("the bot's own posts are told with their nonce", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  await post(twin, { nonce: "n1" });
  expect(await hear(twin, socket, "MESSAGE_CREATE")).toMatchObject({ author: { id: twin.botUserId, bot: true }, nonce: "n1" });
});

test("without the Message Content intent content, files and components are empty, but for mentions, direct and own messages", async () => {
  const twin = await startTwin();
  twin.addChannel({ id: "2009", name: "", type: "dm", user: ANA });
  const socket = await openSession(twin, { intents: NO_CONTENT });
  await twin.say({ channel: OPS, user: ANA, text: "secret", files: [{ name: "a.txt", content: "x" }] });
  await twin.say({ channel: OPS, user: ANA, text: `<@${twin.botUserId}> open` });
  await twin.say({ channel: OPS, user: ANA, text: "@everyone open?", mentionEveryone: true });
  await twin.say({ channel: "2009", user: ANA, text: "direct" });
  const own = await post(twin, { content: "own" });
  await twin.say({ channel: OPS, user: ANA, text: "reply", replyTo: own });
  await hear(twin, socket, "MESSAGE_CREATE", 6);
  const shown = heard(socket, "MESSAGE_CREATE").map(({ content }) => content);
  expect(shown).toEqual(["", `<@${twin.botUserId}> open`, "", "direct", "own", "reply"]);
  expect(heard(socket, "MESSAGE_CREATE")[0]).toMatchObject({ attachments: [], components: [], embeds: [] });
});

test("a direct message has no server, and needs its own intent", async () => {
  const twin = await startTwin();
  twin.addChannel({ id: "2009", name: "", type: "dm", user: ANA });
  const [socket, deaf] = [await openSession(twin), await openSession(twin, { intents: GUILD_MESSAGES })];
  await twin.say({ channel: "2009", user: ANA, text: "psst" });
  const event = await hear(twin, socket, "MESSAGE_CREATE");
  expect(event).toMatchObject({ content: "psst", channel_id: "2009", channel_type: 1 });
  expect(event).not.toHaveProperty("guild_id");
  expect(event).not.toHaveProperty("member");
  await twin.say({ channel: OPS, user: ANA, text: "loud" });
  await hear(twin, deaf, "MESSAGE_CREATE");
  expect(heard(deaf, "MESSAGE_CREATE")).toMatchObject([{ channel_id: OPS }]);
});

test("a thread's beginning, its first line, its archiving and its end are told", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  const id = await botThread(twin);
  twin.archiveThread(id);
  await twin.say({ channel: OPS, thread: id, user: ANA, text: "back" });
  twin.deleteChannel(id);
  await hear(twin, socket, "THREAD_DELETE");
  expect(heard(socket, "THREAD_CREATE")).toMatchObject([{ id, newly_created: true, parent_id: OPS, owner_id: twin.botUserId }]);
  expect(heard(socket, "THREAD_MEMBERS_UPDATE")).toMatchObject([{ id, added_members: [{ user_id: twin.botUserId }] }]);
  expect(heard(socket, "MESSAGE_UPDATE")).toMatchObject([{ id, flags: 32, thread: { id }, edited_timestamp: null }]);
  expect(heard(socket, "MESSAGE_CREATE").map(({ type, channel_id }) => [type, channel_id])).toEqual([
    [0, OPS],
    [21, id],
    [0, id],
  ]);
  expect(heard(socket, "THREAD_UPDATE").map(({ thread_metadata }) => (thread_metadata as Args).archived)).toEqual([true, false]);
});

test("a bot that speaks in a thread of others, or is mentioned there, joins it", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  const one = twin.addThread({ channel: OPS, name: "one", user: ANA });
  const two = twin.addThread({ channel: OPS, name: "two", user: ANA });
  await post(twin, {}, one.id);
  await twin.say({ channel: two.id, user: ANA, text: `<@${twin.botUserId}>` });
  await hear(twin, socket, "THREAD_MEMBERS_UPDATE", 2);
  expect(heard(socket, "THREAD_MEMBERS_UPDATE").map(({ id }) => id)).toEqual([one.id, two.id]);
});

test("people's mistakes are the test's mistakes, and say so", async () => {
  const twin = await startTwin();
  const locked = twin.addThread({ channel: OPS, name: "x", user: ANA }).id;
  twin.lockThread(locked);
  await expect(twin.say({ channel: "9", user: ANA, text: "x" })).rejects.toThrow("no channel 9");
  await expect(twin.say({ channel: OPS, user: "9", text: "x" })).rejects.toThrow("no user 9");
  await expect(twin.say({ channel: locked, user: ANA, text: "x" })).rejects.toThrow("is locked");
  expect(() => twin.addUser({ id: "U1", name: "x" })).toThrow("an id is a row of digits");
  expect(() => twin.setLacks(OPS, ["Fly" as never])).toThrow("no permission Fly");
  expect((await call(twin, `GET /guilds/${twin.guildId}/roles`)).list).toHaveLength(2);
});
