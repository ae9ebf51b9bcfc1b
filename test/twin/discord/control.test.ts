import { expect, test } from "vitest";
import type { DiscordTwin } from "../../../src/twin/discord/twin.ts";
import type { Args } from "./harness.ts";
import { ANA, call, callback, card, heard, openSession, post, startTwin } from "./harness.ts";

/** The control doors for other processes. */

async function control(
  twin: DiscordTwin,
  name: string,
  args: Args = {},
  token: string | null = twin.controlToken,
): Promise<{ status: number; result?: unknown; error?: string }> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${twin.url}/control/${name}`, { method: "POST", headers, body: JSON.stringify(args) });
  return { status: response.status, ...((await response.json()) as { result?: unknown; error?: string }) };
}

test("without the token, or with a wrong one, nothing happens", async () => {
  const twin = await startTwin({ controlToken: "open-sesame" });
  for (const token of [null, "", "open-sesamE", twin.token])
    expect(await control(twin, "addUser", { id: "7", name: "eve" }, token)).toMatchObject({ status: 401 });
  await expect(twin.say({ channel: "2001", user: "7", text: "x" })).rejects.toThrow("no user 7");
});

test("an act that cannot be done says why, an unknown one is not found", async () => {
  const twin = await startTwin();
  expect(await control(twin, "say", { channel: "9", user: ANA, text: "hi" })).toEqual({ status: 400, error: "no channel 9" });
  expect(await control(twin, "toString")).toMatchObject({ status: 404 });
});

test("another process can people a server, talk, press, read and break things", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  expect((await control(twin, "about")).result).toMatchObject({ token: twin.token, guildId: twin.guildId });
  await control(twin, "addUser", { id: "1007", name: "eve" });
  await control(twin, "addChannel", { id: "2007", name: "new" });
  const { id } = (await control(twin, "say", { channel: "2007", user: "1007", text: "hello" })).result as { id: string };
  await control(twin, "edit", { channel: "2007", id, text: "hello all" });
  await control(twin, "addThread", { channel: "2007", name: "work", user: "1007", messageId: id });
  const messageId = await post(twin, { content: "?", components: card }, id);
  const pressed = control(twin, "press", { messageId, customId: "v1:approve:1", user: "1007" });
  const interaction = await twin.waitFor(() => heard(socket, "INTERACTION_CREATE")[0]);
  const data = { content: "psst", flags: 64 };
  await callback(twin, interaction, { type: 4, data });
  expect(await pressed).toMatchObject({ result: { acked: true, type: 4 } });
  expect(await control(twin, "ephemerals")).toMatchObject({ result: [{ user: "1007", content: "psst" }] });
  expect(await control(twin, "thread", { id })).toMatchObject({ result: [{ content: "hello all" }, { content: "?" }] });
  expect(await control(twin, "calls", { route: "POST /channels/*/messages" })).toMatchObject({ result: [{ status: 200 }] });
  expect(await control(twin, "events")).toMatchObject({
    result: expect.arrayContaining([expect.objectContaining({ t: "THREAD_CREATE" })]),
  });
  await control(twin, "fault", { route: "GET /users/@me", status: 500 });
  expect(await call(twin, "GET /users/@me")).toMatchObject({ status: 500 });
  await control(twin, "archiveThread", { id });
  expect(await call(twin, `PATCH /channels/${id}/messages/${messageId}`, { content: "late" })).toMatchObject({ code: 50083 });
  await control(twin, "drop");
  await socket.closed;
  expect(await control(twin, "sockets")).toMatchObject({ result: 0 });
});

test("what never comes is told with what there is instead", async () => {
  const twin = await startTwin();
  await twin.say({ channel: "2001", user: ANA, text: "only this" });
  await expect(twin.waitFor(() => false, 100)).rejects.toThrow(
    /nothing came within 100 ms; the threads show:\n2001 \d+ type 0 ana: only this/,
  );
});
