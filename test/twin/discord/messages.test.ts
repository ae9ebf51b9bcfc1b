import { expect, test } from "vitest";
import type { DiscordTwin } from "../../../src/twin/discord/twin.ts";
import type { Args } from "./harness.ts";
import { ANA, BEN, botThread, call, FORUM, HIDDEN, OPS, post, QUIET, startTwin } from "./harness.ts";

/** Messages over plain HTTP: what is stored, what comes back, what is refused. */

test("without the right token every route of the bot says 401, in Discord's words", async () => {
  const twin = await startTwin();
  for (const token of [null, "", "wrong"])
    expect(await call(twin, "GET /users/@me", undefined, token)).toMatchObject({ status: 401, code: 0, message: "401: Unauthorized" });
  twin.revokeToken();
  expect(await call(twin, "GET /users/@me", undefined, twin.token)).toMatchObject({ status: 401 });
  expect(twin.invalidRequests()).toBe(4);
});

test("what does not exist says which thing it is", async () => {
  const twin = await startTwin();
  expect(await call(twin, "GET /no/such")).toMatchObject({ status: 404, code: 0 });
  expect(await call(twin, "GET /channels/9")).toMatchObject({ status: 404, code: 10003 });
  expect(await call(twin, `GET /channels/${OPS}/messages/9`)).toMatchObject({ status: 404, code: 10008 });
  expect(await call(twin, "GET /guilds/9")).toMatchObject({ status: 404, code: 10004 });
  expect(await call(twin, `GET /guilds/${twin.guildId}/members/9`)).toMatchObject({ status: 404, code: 10013 });
  expect(await call(twin, "GET /users/9")).toMatchObject({ status: 404, code: 10013 });
});

test("a channel that the bot may not see is closed to it, one that it may not write to says so", async () => {
  const twin = await startTwin();
  expect(await call(twin, `GET /channels/${HIDDEN}`)).toMatchObject({ status: 403, code: 50001 });
  expect(await call(twin, `POST /channels/${HIDDEN}/messages`, { content: "x" })).toMatchObject({ status: 403, code: 50001 });
  expect(await call(twin, `POST /channels/${QUIET}/messages`, { content: "x" })).toMatchObject({ status: 403, code: 50013 });
  expect(await call(twin, `POST /channels/${QUIET}/typing`)).toMatchObject({ status: 403, code: 50013 });
  expect(await call(twin, `POST /channels/${FORUM}/messages`, { content: "x" })).toMatchObject({ status: 400, code: 50008 });
  expect(await call(twin, `GET /channels/${QUIET}`)).toMatchObject({ status: 200, name: "quiet" });
});

test("a bot without a right in the whole server has it nowhere", async () => {
  const twin = await startTwin({ permissions: ["ViewChannel", "SendMessages"] });
  const { id } = await twin.say({ channel: OPS, user: ANA, text: "hi" });
  expect(await call(twin, `GET /channels/${OPS}/messages`)).toMatchObject({ status: 200, list: [] });
  expect(await call(twin, `GET /channels/${OPS}/messages/${id}`)).toMatchObject({ code: 50013 });
  const reply = { content: "x", message_reference: { message_id: id } };
  expect(await call(twin, `POST /channels/${OPS}/messages`, reply)).toMatchObject({ code: 160002 });
  expect(await call(twin, `POST /channels/${OPS}/messages/${id}/threads`, { name: "x" })).toMatchObject({ code: 50013 });
});

test("the list is the newest first; `after` goes on from a message, at most 100 at a time", async () => {
  const twin = await startTwin();
  const ids: string[] = [];
  for (let n = 0; n < 120; n += 1) ids.push((await twin.say({ channel: OPS, user: ANA, text: `${n}` })).id);
  const read = async (query: string): Promise<string[]> => {
    const { list } = await call(twin, `GET /channels/${OPS}/messages?${query}`);
    return (list as Args[]).map(({ content }) => String(content));
  };
  expect(await read("limit=3")).toEqual(["119", "118", "117"]);
  expect(await read("")).toHaveLength(50);
  expect(await read(`after=${ids[9]}&limit=3`)).toEqual(["12", "11", "10"]);
  expect(await read(`before=${ids[9]}&limit=3`)).toEqual(["8", "7", "6"]);
  expect(await read(`after=${ids[119]}`)).toEqual([]);
  expect(await read("after=0&limit=2")).toEqual(["1", "0"]);
  expect(await call(twin, `GET /channels/${OPS}/messages?limit=101`)).toMatchObject({ code: 50035 });
  expect(await call(twin, `GET /channels/${OPS}/messages?after=x`)).toMatchObject({ code: 50035 });
});

test("an enforced nonce gives the first message again for a few minutes, in its channel, and only then a second one", async () => {
  const twin = await startTwin();
  const send = (extra: Args = {}): Promise<string> => post(twin, { nonce: "job-1", enforce_nonce: true, ...extra });
  const first = await send();
  expect(await send({ content: "other words" })).toBe(first);
  expect(await send({ enforce_nonce: false })).not.toBe(first);
  expect(await post(twin, { nonce: "job-1", enforce_nonce: true }, await botThread(twin))).not.toBe(first);
  twin.advance(5 * 60_000);
  expect(await send()).not.toBe(first);
});

test("the nonce comes back with the answer of the post, not with what is read later", async () => {
  const twin = await startTwin();
  const made = await call(twin, `POST /channels/${OPS}/messages`, { content: "x", nonce: "n" });
  expect(made.nonce).toBe("n");
  expect(await call(twin, `GET /channels/${OPS}/messages/${made.id}`)).not.toHaveProperty("nonce");
});

test("only its own messages can be edited or deleted by the bot", async () => {
  const twin = await startTwin();
  const { id } = await twin.say({ channel: OPS, user: ANA, text: "mine" });
  expect(await call(twin, `PATCH /channels/${OPS}/messages/${id}`, { content: "x" })).toMatchObject({ status: 403, code: 50005 });
  expect(await call(twin, `DELETE /channels/${OPS}/messages/${id}`)).toMatchObject({ status: 403, code: 50013 });
  const own = await post(twin);
  expect(await call(twin, `PATCH /channels/${OPS}/messages/${own}`, { content: "new" })).toMatchObject({ content: "new" });
  expect(twin.messages(OPS)[1]?.edited_timestamp).not.toBeNull();
  expect(await call(twin, `DELETE /channels/${OPS}/messages/${own}`)).toMatchObject({ status: 204 });
  expect(await call(twin, `DELETE /channels/${OPS}/messages/${own}`)).toMatchObject({ status: 404, code: 10008 });
});

test("an answer without a body has no content type", async () => {
  const twin = await startTwin();
  const { headers, status } = await call(twin, `POST /channels/${OPS}/typing`);
  expect([status, headers.get("content-type")]).toEqual([204, null]);
  expect(twin.typing()).toEqual([OPS]);
});

/** body without the words, and whom it pings. */
const PINGS: [string, Args, Args][] = [
  ["by default everybody", {}, { mentions: [BEN], mention_roles: ["3001"], mention_everyone: true }],
  ["with parse none nobody", { allowed_mentions: { parse: [] } }, { mentions: [], mention_roles: [], mention_everyone: false }],
  ["with parse users people", { allowed_mentions: { parse: ["users"] } }, { mentions: [BEN], mention_roles: [], mention_everyone: false }],
  ["with a list those", { allowed_mentions: { roles: ["3001"] } }, { mentions: [], mention_roles: ["3001"], mention_everyone: false }],
];

test.for(PINGS)("a post pings: %s", async ([, body, pinged]) => {
  const twin = await startTwin();
  twin.addRole({ id: "3001", name: "crew" });
  await post(twin, { content: `@everyone <@${BEN}> <@&3001> <@999>`, ...body });
  expect(twin.messages(OPS)[0]).toMatchObject(pinged);
});

test("an edit decides anew whom it pings, by default everybody", async () => {
  const twin = await startTwin();
  const id = await post(twin, { content: "@everyone", allowed_mentions: { parse: [] } });
  const edit = (body: Args): Promise<unknown> => call(twin, `PATCH /channels/${OPS}/messages/${id}`, body);
  await edit({ embeds: [] });
  expect(twin.messages(OPS)[0]?.mention_everyone).toBe(false);
  await edit({ content: "@everyone again" });
  expect(twin.messages(OPS)[0]?.mention_everyone).toBe(true);
});

test("a reply pings the author unless it says that it does not", async () => {
  const twin = await startTwin();
  const { id } = await twin.say({ channel: OPS, user: ANA, text: "hi" });
  const message_reference = { message_id: id };
  await post(twin, { message_reference });
  await post(twin, { message_reference, allowed_mentions: { parse: [] } });
  expect(twin.messages(OPS).map(({ type, mentions }) => [type, mentions])).toEqual([
    [0, []],
    [19, [ANA]],
    [19, []],
  ]);
});

test("reactions are the bot's own, and are emoji", async () => {
  const twin = await startTwin({ limits: false });
  const { id } = await twin.say({ channel: OPS, user: ANA, text: "hi" });
  const path = `/channels/${OPS}/messages/${id}/reactions/${encodeURIComponent("👀")}/@me`;
  expect(await call(twin, `PUT ${path}`)).toMatchObject({ status: 204 });
  expect(twin.reactions()).toEqual([`${OPS}:${id}:👀`]);
  expect(await call(twin, `PUT /channels/${OPS}/messages/${id}/reactions/eyes/@me`)).toMatchObject({ code: 10014 });
});

test("a direct channel is opened once", async () => {
  const twin = await startTwin();
  const open = (recipient_id: string): Promise<Args> => call(twin, "POST /users/@me/channels", { recipient_id });
  const { id } = await open(ANA);
  expect(await open(ANA)).toMatchObject({ status: 200, id, type: 1, recipients: [{ id: ANA, username: "ana" }] });
  expect(await open("9")).toMatchObject({ status: 400, code: 50035 });
  expect(await post(twin, {}, String(id))).toMatch(/^\d+$/);
});

async function contentOf(twin: DiscordTwin, text: string): Promise<unknown> {
  const { id } = await twin.say({ channel: OPS, user: ANA, text });
  return (await call(twin, `GET /channels/${OPS}/messages/${id}`)).content;
}

test("without the Message Content intent what people write is empty over HTTP too, but for mentions of the bot", async () => {
  const twin = await startTwin({ intents: [] });
  expect(await contentOf(twin, "secret")).toBe("");
  expect(await contentOf(twin, `<@${twin.botUserId}> open`)).toBe(`<@${twin.botUserId}> open`);
  expect((await call(twin, "GET /applications/@me")).flags).toBe(0);
});

test("the application shows which privileged intents it has", async () => {
  const twin = await startTwin({ intents: ["MessageContent"] });
  expect(await call(twin, "GET /applications/@me")).toMatchObject({ id: twin.applicationId, flags: 1 << 19, bot: { id: twin.botUserId } });
  expect(await contentOf(twin, "secret")).toBe("secret");
});
