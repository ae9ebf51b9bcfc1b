import { ErrorCode, WebClient } from "@slack/web-api";
import { expect, test } from "vitest";
import { Limits } from "../../../src/twin/slack/limits.ts";
import { call, post, rawCall, startTwin } from "./harness.ts";

/** Rate limits and planned misfortunes. */

test("chat.update: the 51st edit of a minute is 429 with Retry-After in whole seconds", async () => {
  const twin = await startTwin();
  const ts = await post(twin);
  for (let edit = 1; edit <= 50; edit++)
    expect(await call(twin, "chat.update", { channel: "C1", ts, text: `edit ${edit}` })).toMatchObject({ ok: true });
  const refused = await rawCall(twin, "chat.update", { channel: "C1", ts, text: "one too many" });
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d?$/);
  expect(await refused.json()).toEqual({ ok: false, error: "ratelimited" });
  expect(twin.thread("C1", ts)[0]?.text).toBe("edit 50");
  expect(twin.calls("chat.update").at(-1)).toMatchObject({ status: 429, error: "ratelimited" });
  expect(await call(twin, "auth.test")).toMatchObject({ ok: true });
});

test("chat.postMessage: a burst in one channel is stopped, another channel goes on", async () => {
  const twin = await startTwin();
  const burst = await Promise.all(Array.from({ length: 20 }, () => rawCall(twin, "chat.postMessage", { channel: "C1", text: "x" })));
  const refused = burst.find(({ status }) => status === 429);
  expect(refused?.headers.get("retry-after")).toBe("1");
  expect(await call(twin, "chat.postMessage", { channel: "G1", text: "x" })).toMatchObject({ ok: true });
});

test.each([
  [20, "reactions.remove"],
  [50, "chat.update"],
  [100, "users.info"],
] as const)("any minute lets %i calls of a method of that tier through", (tier, method) => {
  const limits = new Limits();
  for (let index = 0; index < tier; index++) expect(limits.take(method, tier, "", index * 100)).toBe(0);
  const last = tier * 100;
  expect(limits.take(method, tier, "", last)).toBe(Math.ceil((60_000 - last) / 1000));
  expect(limits.take("other.method", tier, "", last)).toBe(0);
  expect(limits.take(method, tier, "", 60_001)).toBe(0);
});

test("posts of one channel refill at one a second", () => {
  const limits = new Limits();
  while (limits.take("chat.postMessage", "post", "C1", 0) === 0);
  expect(limits.take("chat.postMessage", "post", "C1", 980)).toBe(1);
  expect(limits.take("chat.postMessage", "post", "C1", 1_980)).toBe(0);
  expect(limits.take("chat.postMessage", "post", "C1", 1_990)).toBe(1);
});

test("limits can be switched off", async () => {
  const twin = await startTwin({ limits: false });
  for (let index = 0; index < 60; index++) await post(twin);
  expect(twin.messages("C1")).toHaveLength(60);
});

test("the SDK sees a 429 as one, with its seconds", async () => {
  const twin = await startTwin();
  twin.fault({ method: "chat.postMessage", status: 429, headers: { "retry-after": "7" } });
  const web = new WebClient(twin.botToken, { slackApiUrl: twin.apiUrl, rejectRateLimitedCalls: true });
  await expect(web.chat.postMessage({ channel: "C1", text: "a" })).rejects.toMatchObject({
    code: ErrorCode.RateLimitedError,
    retryAfter: 7,
  });
});

test("faults come as often as they were planned: an error, a status, a pause", async () => {
  const twin = await startTwin();
  twin.fault({ method: "auth.test", error: "internal_error", times: 2 });
  twin.fault({ method: "*", status: 503 });
  twin.fault({ method: "auth.test", delayMs: 60 });
  expect(await call(twin, "auth.test")).toMatchObject({ ok: false, error: "internal_error" });
  expect(await call(twin, "auth.test")).toMatchObject({ ok: false, error: "internal_error" });
  expect((await rawCall(twin, "auth.test")).status).toBe(503);
  const before = Date.now();
  expect(await call(twin, "auth.test")).toMatchObject({ ok: true });
  expect(Date.now() - before).toBeGreaterThanOrEqual(55);
});

test("a connection cut before the call leaves nothing, one cut after it leaves the message", async () => {
  const twin = await startTwin();
  twin.fault({ method: "chat.postMessage", reset: "before" });
  await expect(rawCall(twin, "chat.postMessage", { channel: "C1", text: "never" })).rejects.toThrow();
  expect(twin.messages("C1")).toEqual([]);
  twin.fault({ method: "chat.postMessage", reset: "after" });
  await expect(rawCall(twin, "chat.postMessage", { channel: "C1", text: "unheard" })).rejects.toThrow();
  expect(twin.messages("C1")).toMatchObject([{ text: "unheard" }]);
});
