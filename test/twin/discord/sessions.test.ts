import type { Client, Message } from "discord.js";
import { Events } from "discord.js";
import { expect, test } from "vitest";
import type { DiscordTwin } from "../../../src/twin/discord/twin.ts";
import { ANA, login, makeClient, OPS, startTwin } from "./harness.ts";

/** The connections of the unmodified discord.js: cut, resumed, refused. */

const say = (twin: DiscordTwin, text: string): Promise<{ id: string }> => twin.say({ channel: OPS, user: ANA, text });

function hearing(client: Client): string[] {
  const heard: string[] = [];
  client.on(Events.MessageCreate, (message: Message) => heard.push(message.content));
  return heard;
}

/** How to disturb a connection; after each the client resumes and misses nothing. */
const DISTURBANCES: [string, (twin: DiscordTwin) => void][] = [
  ["an abrupt end", (twin) => twin.drop()],
  ["op 7", (twin) => twin.reconnect()],
  ["a close with 4000", (twin) => twin.closeWith(4000)],
  ["op 9 that can be resumed", (twin) => twin.invalidateSession(true)],
];

test.for(DISTURBANCES)("after %s the client resumes and has heard everything", async ([, disturb]) => {
  const twin = await startTwin();
  const client = await login(twin);
  const heard = hearing(client);
  const resumed = new Promise((resolve) => client.once(Events.ShardResume, resolve));
  const [session] = twin.sessions();
  disturb(twin);
  await say(twin, "meanwhile");
  await resumed;
  await say(twin, "after");
  await twin.waitFor(() => heard.length === 2);
  expect(heard).toEqual(["meanwhile", "after"]);
  expect(twin.sessions()).toMatchObject([{ id: session?.id, connected: true }]);
});

test("without an answer to its heartbeats the client comes again", async () => {
  const twin = await startTwin({ heartbeatMs: 300 });
  const client = await login(twin);
  const resumed = new Promise((resolve) => client.once(Events.ShardResume, resolve));
  twin.muteHeartbeats(true);
  await twin.waitFor(() => twin.sockets() === 0);
  twin.muteHeartbeats(false);
  await resumed;
  expect(twin.sockets()).toBe(1);
});

test("when the session is void the client begins a new one, and what was said meanwhile must be read", async () => {
  const twin = await startTwin();
  const client = await login(twin);
  const heard = hearing(client);
  const { id } = await say(twin, "before");
  await twin.waitFor(() => heard.length === 1);
  const ready = new Promise((resolve) => client.once(Events.ShardReady, resolve));
  twin.invalidateSession(false);
  await say(twin, "meanwhile");
  await ready;
  await say(twin, "after");
  await twin.waitFor(() => heard.length === 2);
  expect(heard).toEqual(["before", "after"]);
  const channel = client.channels.cache.get(OPS);
  if (!channel?.isTextBased()) throw new Error("not text");
  const missed = await channel.messages.fetch({ after: id });
  expect(missed.map(({ content }) => content)).toEqual(["after", "meanwhile"]);
});

test("an intent that is not switched on ends the login", async () => {
  const twin = await startTwin({ intents: [] });
  await expect(makeClient(twin).login(twin.token)).rejects.toThrow("Used disallowed intents");
});

test("a wrong token ends the login", async () => {
  const twin = await startTwin();
  await expect(makeClient(twin).login("wrong")).rejects.toThrow("An invalid token was provided.");
});

test("a token that is revoked closes the client for good", async () => {
  const twin = await startTwin();
  const client = await login(twin);
  const gone = new Promise((resolve) => client.once(Events.ShardDisconnect, ({ code }) => resolve(code)));
  twin.revokeToken();
  expect(await gone).toBe(4004);
  await expect(client.users.fetch(ANA, { force: true })).rejects.toMatchObject({ status: 401 });
});

test("two clients of one token both hear each message", async () => {
  const twin = await startTwin();
  const both = [hearing(await login(twin)), hearing(await login(twin))];
  await say(twin, "hello");
  await twin.waitFor(() => both.every((heard) => heard.length === 1));
});
