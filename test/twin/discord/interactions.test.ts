import { expect, test } from "vitest";
import type { DiscordTwin, DiscordTwinOptions } from "../../../src/twin/discord/twin.ts";
import type { Answer, Args, PlainSocket } from "./harness.ts";
import { ANA, BEN, botThread, button, call, callback, card, heard, openSession, OPS, post, row, startTwin } from "./harness.ts";

/** Presses and modals: what the app hears, what it may answer and until when. */

const MINUTE = 60_000;
const modalOf = (title: string): Args => ({
  type: 9,
  data: { title, custom_id: "v1:why:1", components: [{ type: 1, components: [{ type: 4, custom_id: "why", label: "Why?", style: 2 }] }] },
});

interface Pressed {
  twin: DiscordTwin;
  socket: PlainSocket;
  message: string;
  outcome: ReturnType<DiscordTwin["press"]>;
  interaction: Args;
  /** The callback. */
  answer: (body: Args, query?: string) => Promise<Answer>;
  /** The webhook of the interaction. */
  hook: (method: string, path?: string, body?: Args) => Promise<Answer>;
}

async function pressed(options: DiscordTwinOptions = {}): Promise<Pressed> {
  const twin = await startTwin(options);
  const socket = await openSession(twin);
  const message = await post(twin, { components: card });
  const outcome = twin.press({ channel: OPS, messageId: message, customId: "v1:approve:1", user: ANA });
  const interaction = await twin.waitFor(() => heard(socket, "INTERACTION_CREATE")[0]);
  return {
    twin,
    socket,
    message,
    outcome,
    interaction,
    answer: (body, query) => callback(twin, interaction, body, query),
    hook: (method, path = "", body) =>
      call(twin, `${method} /webhooks/${twin.applicationId}/${String(interaction.token)}${path}`, body, null),
  };
}

test("a press comes as an interaction with the message, the person and the place", async () => {
  const { twin, interaction, message } = await pressed();
  expect(interaction).toMatchObject({
    type: 3,
    version: 1,
    application_id: twin.applicationId,
    guild_id: twin.guildId,
    channel_id: OPS,
    channel: { id: OPS },
    member: { user: { id: ANA, username: "ana" }, roles: [] },
    message: { id: message, content: "hello", components: [{ components: [{ custom_id: "v1:approve:1" }, {}] }] },
    data: { component_type: 2, custom_id: "v1:approve:1" },
    attachment_size_limit: 10 * 1024 * 1024,
    context: 0,
  });
});

test("deferred, the person sees nothing, and the message can be changed by the webhook", async () => {
  const { twin, outcome, answer, hook, message } = await pressed();
  const done = await answer({ type: 6 });
  expect([done.status, done.headers.get("content-type")]).toEqual([204, null]);
  expect(await outcome).toEqual({ acked: true, type: 6, deferred: true });
  expect(await hook("PATCH", "/messages/%40original", { content: "done", components: [] })).toMatchObject({ id: message, content: "done" });
  expect(await hook("GET", "/messages/@original")).toMatchObject({ id: message });
  expect(twin.messages(OPS)).toMatchObject([{ content: "done", components: [] }]);
});

test("an update changes the message at once", async () => {
  const { twin, outcome, answer } = await pressed();
  await answer({ type: 7, data: { content: "approved", components: [] } });
  expect(await outcome).toMatchObject({ acked: true, type: 7, deferred: false });
  expect(twin.messages(OPS)).toMatchObject([{ content: "approved", components: [] }]);
});

test("a reply with flag 64 is for the person alone", async () => {
  const { twin, outcome, answer, hook } = await pressed();
  await answer({ type: 4, data: { content: "you may not", flags: 64 } });
  expect(await outcome).toMatchObject({ acked: true, type: 4, ephemeral: "you may not" });
  expect(await hook("POST", "", { content: "ask ben", flags: 64 })).toMatchObject({ status: 200, flags: 64 });
  expect(twin.ephemerals()).toMatchObject([
    { user: ANA, channel: OPS, content: "you may not" },
    { user: ANA, content: "ask ben" },
  ]);
  expect(twin.messages(OPS)).toHaveLength(1);
  await hook("PATCH", "/messages/@original", { content: "really not" });
  await hook("DELETE", `/messages/${twin.ephemerals()[1]?.id}`);
  expect(twin.ephemerals()).toMatchObject([{ content: "really not" }]);
});

test("a deferred reply stands empty until it is filled", async () => {
  const { twin, answer, hook } = await pressed();
  await answer({ type: 5 });
  expect(twin.messages(OPS)[1]).toMatchObject({ content: "", flags: 128 });
  await hook("PATCH", "/messages/@original", { content: "here" });
  expect(twin.messages(OPS)[1]).toMatchObject({ content: "here", flags: 0 });
});

test("asked for it, the callback tells what it made", async () => {
  const { answer, interaction } = await pressed();
  expect(await answer({ type: 4, data: { content: "hi" } }, "?with_response=true")).toMatchObject({
    status: 200,
    interaction: { id: interaction.id, type: 3, response_message_ephemeral: false },
    resource: { type: 4, message: { content: "hi" } },
  });
});

test("a second first answer is refused", async () => {
  const { answer } = await pressed();
  await answer({ type: 6 });
  expect(await answer({ type: 6 })).toMatchObject({ status: 400, code: 40060 });
});

test("after three seconds the first answer is too late, and the press has failed", async () => {
  const { twin, answer, outcome } = await pressed();
  twin.advance(3_001);
  expect(await answer({ type: 6 })).toMatchObject({ status: 404, code: 10062, message: "Unknown interaction" });
  expect(await outcome).toEqual({ acked: false, deferred: false });
});

test("an interaction that never was, or another's token, is unknown", async () => {
  const { twin, interaction } = await pressed();
  for (const other of [{ token: "x" }, { id: "1" }])
    expect(await callback(twin, { ...interaction, ...other }, { type: 6 })).toMatchObject({ code: 10062 });
});

test("before the first answer there is no webhook; after fifteen minutes its token is void", async () => {
  const { twin, answer, hook, message } = await pressed();
  expect(await hook("POST", "", { content: "early" })).toMatchObject({ status: 404, code: 10015 });
  await answer({ type: 6 });
  twin.advance(14 * MINUTE);
  expect(await hook("PATCH", "/messages/@original", { content: "in time" })).toMatchObject({ status: 200 });
  twin.advance(MINUTE + 1000);
  expect(await hook("PATCH", "/messages/@original", { content: "late" })).toMatchObject({ status: 401, code: 50027 });
  expect(await hook("POST", "", { content: "late" })).toMatchObject({ status: 401, code: 50027 });
  expect(await call(twin, `PATCH /channels/${OPS}/messages/${message}`, { content: "by the bot" })).toMatchObject({ status: 200 });
});

test("through a webhook nobody but people is pinged by default", async () => {
  const { twin, answer } = await pressed();
  await answer({ type: 4, data: { content: `@everyone <@${BEN}>` } });
  expect(twin.messages(OPS)[1]).toMatchObject({ mentions: [BEN], mention_everyone: false });
});

test("what an answer may be is checked like any message", async () => {
  const { answer } = await pressed();
  expect(await answer({ type: 4, data: { content: "x".repeat(2001) } })).toMatchObject({ code: 50035 });
  expect(await answer({ type: 4, data: {} })).toMatchObject({ code: 50006 });
  expect(await answer({ type: 2 })).toMatchObject({ code: 50035, errors: { type: {} } });
  expect(await answer({ type: 6 })).toMatchObject({ status: 204 });
});

test("in an archived thread the message cannot be changed by an answer", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  const thread = await botThread(twin);
  const messageId = await post(twin, { components: card }, thread);
  twin.archiveThread(thread);
  const outcome = twin.press({ messageId, customId: "v1:deny:1", user: ANA });
  const interaction = await twin.waitFor(() => heard(socket, "INTERACTION_CREATE")[0]);
  const answer = (body: Args): Promise<Answer> => callback(twin, interaction, body);
  expect(await answer({ type: 7, data: { content: "x" } })).toMatchObject({ code: 50083 });
  expect(await answer({ type: 6 })).toMatchObject({ status: 204 });
  expect(await outcome).toMatchObject({ acked: true });
});

test("a modal opens, is checked, and comes back with what was typed", async () => {
  const { twin, socket, answer, outcome, message } = await pressed();
  expect(await answer(modalOf("x".repeat(46)))).toMatchObject({ code: 50035, errors: { data: { title: {} } } });
  expect(await answer(modalOf("Why not?"))).toMatchObject({ status: 204 });
  const { modal } = await outcome;
  expect(twin.modals()).toMatchObject({ [String(modal)]: { title: "Why not?" } });
  const sent = twin.submitModal({ modal: String(modal), user: ANA, values: { why: "too risky" } });
  const submitted = await twin.waitFor(() => heard(socket, "INTERACTION_CREATE")[1]);
  expect(submitted).toMatchObject({
    type: 5,
    message: { id: message },
    data: { custom_id: "v1:why:1", components: [{ components: [{ custom_id: "why", value: "too risky" }] }] },
  });
  await callback(twin, submitted, { type: 6 });
  expect(await sent).toMatchObject({ acked: true });
  expect(twin.modals()).toEqual({});
});

test("only a button that the message shows, or showed on an old screen, can be pressed", async () => {
  const twin = await startTwin();
  const messageId = await post(twin, { components: card });
  const press = (customId: string, extra = {}): Promise<unknown> => twin.press({ messageId, customId, user: ANA, ...extra });
  await expect(press("v1:none:1")).rejects.toThrow("no button v1:none:1");
  await call(twin, `PATCH /channels/${OPS}/messages/${messageId}`, { components: [row(button({ disabled: true }))] });
  await expect(press("v1:approve:1")).rejects.toThrow("no button");
  expect(await press("v1:deny:1", { stale: true })).toEqual({ acked: false, deferred: false });
});
