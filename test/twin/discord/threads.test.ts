import { expect, test } from "vitest";
import type { DiscordTwin } from "../../../src/twin/discord/twin.ts";
import type { Answer, Args } from "./harness.ts";
import { ANA, botThread, call, FORUM, OPS, post, QUIET, startTwin } from "./harness.ts";

/** Threads over plain HTTP. */

const start = (twin: DiscordTwin, channel: string, message: string, body: Args = { name: "work" }): Promise<Answer> =>
  call(twin, `POST /channels/${channel}/messages/${message}/threads`, body);

async function said(twin: DiscordTwin, channel = OPS): Promise<string> {
  return (await twin.say({ channel, user: ANA, text: "hi" })).id;
}

test("a thread at a message takes its id, and begins once", async () => {
  const twin = await startTwin();
  const id = await said(twin);
  const made = await start(twin, OPS, id, { name: "work", auto_archive_duration: 60 });
  expect(made).toMatchObject({ status: 201, id, type: 11, parent_id: OPS, name: "work", owner_id: twin.botUserId });
  expect(made.thread_metadata).toMatchObject({ archived: false, locked: false, auto_archive_duration: 60 });
  expect(await start(twin, OPS, id)).toMatchObject({ status: 400, code: 160004 });
  expect(await call(twin, `GET /channels/${OPS}/messages/${id}`)).toMatchObject({ flags: 32, thread: { id } });
  expect(twin.messages(id).map(({ type }) => type)).toEqual([21]);
  expect(twin.thread(id).map(({ content }) => content)).toEqual(["hi"]);
});

const SETTINGS: [string, Args, Args, string][] = [
  ["name 100", { name: "x".repeat(100) }, { name: "x".repeat(101) }, "name"],
  ["name not empty", { name: "x" }, { name: " " }, "name"],
  ["name needed", { name: "x" }, {}, "name"],
  ["auto_archive_duration", { name: "x", auto_archive_duration: 10080 }, { name: "x", auto_archive_duration: 61 }, "auto_archive_duration"],
];

test.for(SETTINGS)("a thread's settings: %s", async ([, good, bad, field]) => {
  const twin = await startTwin();
  const refused = await start(twin, OPS, await said(twin), bad);
  expect(refused).toMatchObject({ status: 400, code: 50035, errors: { [field]: { _errors: [expect.anything()] } } });
  expect(await start(twin, OPS, await said(twin), good)).toMatchObject({ status: 201 });
});

test("no thread begins in a thread, without the right, or at no message", async () => {
  const twin = await startTwin();
  const thread = await botThread(twin);
  expect(await start(twin, thread, await said(twin, thread))).toMatchObject({ status: 400, code: 50024 });
  expect(await start(twin, QUIET, await said(twin, QUIET))).toMatchObject({ status: 403, code: 50013 });
  expect(await start(twin, OPS, "9")).toMatchObject({ status: 404, code: 10008 });
});

test("a server has room for so many active threads", async () => {
  const twin = await startTwin({ maxActiveThreads: 1 });
  const thread = await botThread(twin);
  const id = await said(twin);
  expect(await start(twin, OPS, id)).toMatchObject({ status: 400, code: 160006 });
  twin.archiveThread(thread);
  expect(await start(twin, OPS, id)).toMatchObject({ status: 201 });
});

test("a thread without a message is private unless it says public", async () => {
  const twin = await startTwin();
  const begin = (extra: Args): Promise<Answer> => call(twin, `POST /channels/${OPS}/threads`, { name: "x", ...extra });
  expect(await begin({})).toMatchObject({ status: 201, type: 12 });
  expect(await begin({ type: 11 })).toMatchObject({ status: 201, type: 11 });
  expect(await begin({ type: 5 })).toMatchObject({ status: 400, code: 50035 });
  expect(await call(twin, `POST /channels/${QUIET}/threads`, { name: "x", type: 11 })).toMatchObject({ code: 50013 });
});

test("a private thread of others is closed to the bot until it is added", async () => {
  const twin = await startTwin();
  const { id } = twin.addThread({ channel: OPS, name: "secret", user: ANA, private: true });
  expect(await call(twin, `GET /channels/${id}`)).toMatchObject({ status: 403, code: 50001 });
  twin.addToThread(id, twin.botUserId);
  expect(await call(twin, `GET /channels/${id}`)).toMatchObject({ status: 200, name: "secret", member: { user_id: twin.botUserId } });
});

test("a post in a forum is a thread with its first message under one id", async () => {
  const twin = await startTwin();
  const made = await call(twin, `POST /channels/${FORUM}/threads`, { name: "help", message: { content: "first" } });
  expect(made).toMatchObject({ status: 201, parent_id: FORUM, message: { content: "first", id: made.id } });
  expect(await call(twin, `POST /channels/${FORUM}/threads`, { name: "help" })).toMatchObject({ code: 50035 });
  const byAna = twin.addThread({ channel: FORUM, name: "why", user: ANA, text: "because" });
  expect(twin.thread(byAna.id)).toMatchObject([{ id: byAna.id, content: "because", author: ANA }]);
});

test("in an archived thread nothing can be edited; a post brings it back", async () => {
  const twin = await startTwin();
  const thread = await botThread(twin);
  const id = await post(twin, {}, thread);
  const edit = (): Promise<Answer> => call(twin, `PATCH /channels/${thread}/messages/${id}`, { content: "new" });
  const react = (): Promise<Answer> => call(twin, `PUT /channels/${thread}/messages/${id}/reactions/${encodeURIComponent("👀")}/@me`);
  twin.archiveThread(thread);
  expect(await edit()).toMatchObject({ status: 400, code: 50083, message: "Thread is archived" });
  expect(await react()).toMatchObject({ code: 50083 });
  expect(await call(twin, `PATCH /channels/${thread}`, { name: "new" })).toMatchObject({ code: 50083 });
  expect(await call(twin, `PATCH /channels/${thread}`, { archived: false })).toMatchObject({ status: 200 });
  expect(await edit()).toMatchObject({ status: 200 });
  twin.archiveThread(thread);
  await post(twin, {}, thread);
  expect(twin.threads()).toMatchObject([{ id: thread, archived: false }]);
  expect(await call(twin, `DELETE /channels/${thread}/messages/${id}`)).toMatchObject({ status: 204 });
});

test("a locked thread takes no posts, edits or changes from a bot that may not manage threads", async () => {
  const twin = await startTwin();
  const thread = await botThread(twin);
  const id = await post(twin, {}, thread);
  twin.lockThread(thread);
  const send = (): Promise<Answer> => call(twin, `POST /channels/${thread}/messages`, { content: "x" });
  expect(await send()).toMatchObject({ status: 403, code: 160005 });
  expect(await call(twin, `PATCH /channels/${thread}`, { archived: false })).toMatchObject({ status: 403, code: 50013 });
  expect(await call(twin, `PATCH /channels/${thread}/messages/${id}`, { content: "x" })).toMatchObject({ code: 50083 });
  expect(await call(twin, `DELETE /channels/${thread}/messages/${id}`)).toMatchObject({ code: 50083 });
  twin.lockThread(thread, false);
  expect(await send()).toMatchObject({ status: 200 });
});

test("a bot that may manage threads writes to a locked one", async () => {
  const twin = await startTwin({ permissions: ["ViewChannel", "SendMessagesInThreads", "CreatePublicThreads", "ManageThreads"] });
  const thread = await botThread(twin);
  twin.lockThread(thread);
  expect(await call(twin, `POST /channels/${thread}/messages`, { content: "x" })).toMatchObject({ status: 200 });
  expect(await call(twin, `PATCH /channels/${thread}`, { locked: false })).toMatchObject({ status: 200 });
});

test("only the thread's owner renames or archives it", async () => {
  const twin = await startTwin();
  const { id } = twin.addThread({ channel: OPS, name: "ana's", user: ANA });
  for (const change of [{ name: "x" }, { archived: true }, { locked: true }])
    expect(await call(twin, `PATCH /channels/${id}`, change)).toMatchObject({ status: 403, code: 50013 });
  const own = await botThread(twin);
  expect(await call(twin, `PATCH /channels/${own}`, { name: "renamed", archived: true })).toMatchObject({ status: 200, name: "renamed" });
});

test("a quiet thread archives itself when its time is over", async () => {
  const twin = await startTwin();
  const id = await said(twin);
  await start(twin, OPS, id, { name: "x", auto_archive_duration: 60 });
  twin.advance(59 * 60_000);
  await post(twin, {}, id);
  twin.advance(59 * 60_000);
  expect(twin.threads()).toMatchObject([{ archived: false }]);
  twin.advance(61_000);
  expect(twin.threads()).toMatchObject([{ archived: true }]);
});

test("active and archived threads are listed where they belong", async () => {
  const twin = await startTwin();
  const [open, over] = [await botThread(twin), await botThread(twin)];
  twin.archiveThread(over);
  const { id: secret } = twin.addThread({ channel: OPS, name: "secret", user: ANA, private: true });
  const ids = (answer: Answer): unknown => (answer.threads as Args[]).map(({ id }) => id);
  expect(ids(await call(twin, `GET /guilds/${twin.guildId}/threads/active`))).toEqual([open]);
  expect(ids(await call(twin, `GET /channels/${OPS}/threads/archived/public`))).toEqual([over]);
  expect([open, over]).not.toContain(secret);
});

test("a channel that is gone takes its threads along", async () => {
  const twin = await startTwin();
  const thread = await botThread(twin);
  twin.deleteChannel(OPS);
  for (const id of [OPS, thread])
    expect(await call(twin, `POST /channels/${id}/messages`, { content: "x" })).toMatchObject({ status: 404, code: 10003 });
});

test("channels that are no threads are not the bot's to change", async () => {
  const twin = await startTwin();
  expect(await call(twin, `PATCH /channels/${OPS}`, { name: "x" })).toMatchObject({ status: 403, code: 50013 });
});

test("the bot joins a thread, and adds members of the server", async () => {
  const twin = await startTwin();
  const { id } = twin.addThread({ channel: OPS, name: "x", user: ANA });
  expect(await call(twin, `PUT /channels/${id}/thread-members/@me`)).toMatchObject({ status: 204 });
  expect(await call(twin, `GET /channels/${id}`)).toMatchObject({ member: { user_id: twin.botUserId }, member_count: 2 });
  expect(await call(twin, `PUT /channels/${id}/thread-members/9`)).toMatchObject({ code: 10013 });
  expect(await call(twin, `PUT /channels/${OPS}/thread-members/@me`)).toMatchObject({ code: 50024 });
});
