import { expect, test } from "vitest";
import { limitHeaders, Limits, RULES } from "../../../src/twin/discord/limits.ts";
import type { DiscordTwin } from "../../../src/twin/discord/twin.ts";
import type { Answer } from "./harness.ts";
import { ANA, botThread, call, OPS, post, startTwin } from "./harness.ts";

/** Rate limits: what the headers say, what is refused, how a refusal looks. */

const HOUR = 60 * 60_000;

const send = (twin: DiscordTwin, channel = OPS): Promise<Answer> => call(twin, `POST /channels/${channel}/messages`, { content: "x" });

test("a channel takes five posts and edits in five seconds; the headers count them down", async () => {
  const twin = await startTwin();
  const first = await send(twin);
  const left = [first];
  for (let n = 0; n < 2; n += 1) left.push(await send(twin));
  for (let n = 0; n < 2; n += 1) left.push(await call(twin, `PATCH /channels/${OPS}/messages/${first.id}`, { content: `${n}` }));
  expect(left.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual(["4", "3", "2", "1", "0"]);
  expect(new Set(left.map(({ headers }) => headers.get("x-ratelimit-bucket"))).size).toBe(1);
  expect(first.headers.get("x-ratelimit-limit")).toBe("5");
  expect(Number(first.headers.get("x-ratelimit-reset"))).toBeGreaterThan(Date.now() / 1000 - 1);
  const refused = await send(twin);
  expect(refused).toMatchObject({ status: 429, message: "You are being rate limited.", global: false, retry_after: expect.any(Number) });
  expect(refused.retry_after).toBeLessThanOrEqual(5);
  expect(refused.headers.get("retry-after")).toMatch(/^[1-5]$/);
  expect(refused.headers.get("x-ratelimit-scope")).toBe("user");
  expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
  expect(twin.messages(OPS)).toHaveLength(3);
  expect(twin.invalidRequests()).toBe(1);
});

test("another channel, and a thread of the same one, have limits of their own", async () => {
  const twin = await startTwin();
  const thread = await botThread(twin);
  for (let n = 0; n < 6; n += 1) await send(twin);
  expect(await send(twin)).toMatchObject({ status: 429 });
  expect(await send(twin, thread)).toMatchObject({ status: 200 });
});

test("a window ends, and then the channel takes five again", () => {
  const limits = new Limits();
  const take = (now: number): boolean => limits.take(RULES.messages, "1", now).ok;
  for (let n = 0; n < 5; n += 1) expect(take(1000 + n)).toBe(true);
  expect(take(5_999)).toBe(false);
  expect(limitHeaders(RULES.messages, limits.take(RULES.messages, "1", 5_000), 5_000)).toMatchObject({
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset-after": "1.000",
    "x-ratelimit-reset": "6.000",
  });
  expect(take(6_000)).toBe(true);
});

test("all routes together take fifty calls in a second", async () => {
  const twin = await startTwin();
  const calls = await Promise.all(Array.from({ length: 200 }, () => call(twin, "GET /users/@me")));
  const refused = calls.find(({ status }) => status === 429);
  expect(refused).toMatchObject({ global: true });
  expect(refused?.headers.get("x-ratelimit-global")).toBe("true");
  expect(refused?.headers.get("x-ratelimit-scope")).toBe("global");
});

test("without limits nothing is counted", async () => {
  const twin = await startTwin({ limits: false });
  for (let n = 0; n < 60; n += 1) expect(await send(twin)).toMatchObject({ status: 200 });
});

test("messages older than an hour take three edits in six seconds and channel, then 30046", async () => {
  const twin = await startTwin({ limits: false });
  const [old, other] = [await post(twin), await post(twin)];
  twin.advance(HOUR + 1000);
  const young = await post(twin);
  const edit = (id: string): Promise<Answer> => call(twin, `PATCH /channels/${OPS}/messages/${id}`, { content: "new" });
  for (const id of [old, old, other]) expect(await edit(id)).toMatchObject({ status: 200 });
  const refused = await edit(old);
  expect(refused).toMatchObject({ status: 429, code: 30046, retry_after: expect.any(Number) });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await edit(young)).toMatchObject({ status: 200 });
});

test("a thread takes two new names in ten minutes; the same name is none", async () => {
  const twin = await startTwin({ limits: false });
  const thread = await botThread(twin);
  const rename = (name: string): Promise<Answer> => call(twin, `PATCH /channels/${thread}`, { name });
  for (const name of ["a", "a", "b", "b"]) expect(await rename(name)).toMatchObject({ status: 200 });
  expect(await rename("c")).toMatchObject({ status: 429, retry_after: expect.any(Number) });
  expect(await call(twin, `PATCH /channels/${thread}`, { archived: true })).toMatchObject({ status: 200 });
});

test("answers of 401, 403 and 429 are counted, a 404 is not", async () => {
  const twin = await startTwin();
  const { id } = await twin.say({ channel: OPS, user: ANA, text: "mine" });
  await call(twin, "GET /users/@me", undefined, "wrong");
  await call(twin, `PATCH /channels/${OPS}/messages/${id}`, { content: "x" });
  await call(twin, "GET /channels/9");
  twin.fault({ route: "GET /users/@me", status: 429, headers: { "retry-after": "1" } });
  await call(twin, "GET /users/@me");
  expect(twin.invalidRequests()).toBe(3);
});
