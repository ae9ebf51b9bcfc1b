import { expect, test } from "vitest";
import type { SlackTwin } from "../../../src/twin/slack/twin.ts";
import type { Args } from "./harness.ts";
import { approveCard, call, openSocket, startTwin } from "./harness.ts";

/** The control doors for other processes. */

async function control(
  twin: SlackTwin,
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
  const say = { channel: "C1", user: "U1", text: "hi" };
  for (const token of [null, "", "open-sesamE", twin.botToken])
    expect(await control(twin, "say", say, token)).toMatchObject({ status: 401 });
  expect(twin.messages("C1")).toEqual([]);
  expect(await control(twin, "say", say)).toMatchObject({ status: 200 });
  expect(twin.messages("C1")).toHaveLength(1);
});

test("each twin has its own token when none is given", async () => {
  const [one, two] = [await startTwin(), await startTwin()];
  expect(one.controlToken).toHaveLength(32);
  expect(await control(one, "events", {}, two.controlToken)).toMatchObject({ status: 401 });
});

test("an act that cannot be done says why, an unknown one is not found", async () => {
  const twin = await startTwin();
  expect(await control(twin, "say", { channel: "C99", user: "U1", text: "hi" })).toEqual({ status: 400, error: "no channel C99" });
  expect(await control(twin, "toString")).toMatchObject({ status: 404 });
});

test("another process can people a workspace, talk, press, read and break things", async () => {
  const twin = await startTwin();
  const socket = await openSocket(twin, (envelope, self) => self.ack(envelope));
  await control(twin, "addUser", { id: "U7", name: "eve" });
  await control(twin, "addChannel", { id: "C7", name: "new" });
  const { ts } = (await control(twin, "say", { channel: "C7", user: "U7", text: "hello" })).result as { ts: string };
  await control(twin, "edit", { channel: "C7", ts, text: "hello all" });
  const card = (await call(twin, "chat.postMessage", { channel: "C7", text: "?", thread_ts: ts, blocks: approveCard })).ts;
  expect(await control(twin, "press", { channel: "C7", ts: card, actionId: "approve", user: "U7" })).toMatchObject({
    result: { acked: true },
  });
  await call(twin, "chat.postEphemeral", { channel: "C7", user: "U7", text: "psst" });
  expect(await control(twin, "ephemerals")).toMatchObject({ result: [{ user: "U7", text: "psst" }] });
  expect(await control(twin, "thread", { channel: "C7", ts })).toMatchObject({ result: [{ text: "hello all" }, { text: "?" }] });
  expect(await control(twin, "calls", { method: "chat.postMessage" })).toMatchObject({ result: [{ status: 200, args: { text: "?" } }] });
  expect(await control(twin, "events")).toMatchObject({
    result: expect.arrayContaining([expect.objectContaining({ type: "message", acked: true })]),
  });
  await control(twin, "fault", { method: "auth.test", error: "fatal_error" });
  expect(await call(twin, "auth.test")).toMatchObject({ error: "fatal_error" });
  await control(twin, "delete", { channel: "C7", ts: card });
  await control(twin, "archive", { channel: "C7" });
  expect(await call(twin, "chat.postMessage", { channel: "C7", text: "late" })).toMatchObject({ error: "is_archived" });
  await control(twin, "drop");
  await socket.closed;
  expect(await control(twin, "sockets")).toMatchObject({ result: 0 });
});
