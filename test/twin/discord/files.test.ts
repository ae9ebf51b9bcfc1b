import { expect, test } from "vitest";
import { readable } from "../../../src/twin/discord/transcript.ts";
import type { TwinMessage } from "../../../src/twin/discord/twin.ts";
import type { Args } from "./harness.ts";
import { ANA, call, card, openSession, heard, OPS, post, QUIET, startTwin } from "./harness.ts";

/** Uploads, the CDN, faults, and what a person sees. */

const MIB = 1024 * 1024;
const send = `POST /channels/${OPS}/messages`;

function form(payload: Args, files: [string, string | Uint8Array<ArrayBuffer>][]): FormData {
  const body = new FormData();
  body.append("payload_json", JSON.stringify(payload));
  for (const [index, [name, content]] of files.entries()) body.append(`files[${index}]`, new Blob([content]), name);
  return body;
}

const urlOf = (message: Args): string => String((message.attachments as Args[])[0]?.url);

test("a file comes with its message and can be fetched for a day", async () => {
  const twin = await startTwin();
  const attachments = [{ id: 0, filename: "out put.txt", description: "all of it" }];
  const made = await call(twin, send, form({ content: "see", attachments }, [["x.txt", "line\n"]]));
  expect(made).toMatchObject({ status: 200, attachments: [{ filename: "out_put.txt", size: 5, description: "all of it" }] });
  expect(urlOf(made)).toContain(`${twin.cdnUrl}/attachments/${OPS}/`);
  expect(await (await fetch(urlOf(made))).text()).toBe("line\n");
  expect((await fetch(urlOf(made).replace(/\?.*/, ""))).status).toBe(404);
  twin.advance(25 * 60 * 60_000);
  expect((await fetch(urlOf(made))).status).toBe(404);
  const fresh = await call(twin, `GET /channels/${OPS}/messages/${made.id}`);
  expect((await fetch(urlOf(fresh))).status).toBe(200);
  expect(twin.file(twin.messages(OPS)[0]?.attachments[0]?.id ?? "")?.content.toString()).toBe("line\n");
});

test("a file alone is a message", async () => {
  const twin = await startTwin();
  expect(await call(twin, send, form({}, [["a.txt", "x"]]))).toMatchObject({ status: 200, content: "" });
});

test("a file has 10 MiB, a request 25, a message ten files, and a channel may forbid them", async () => {
  const twin = await startTwin({ limits: false });
  twin.setLacks(QUIET, ["AttachFiles"]);
  const big = (size: number): [string, Uint8Array<ArrayBuffer>] => ["big.bin", new Uint8Array(size)];
  const many = (count: number): [string, string][] => Array.from({ length: count }, (_, n) => [`${n}.txt`, "x"]);
  expect(await call(twin, send, form({}, [big(10 * MIB)]))).toMatchObject({ status: 200 });
  expect(await call(twin, send, form({}, [big(10 * MIB + 1)]))).toMatchObject({ status: 413, code: 40005 });
  expect(await call(twin, send, form({}, [big(9 * MIB), big(9 * MIB), big(9 * MIB)]))).toMatchObject({ status: 413, code: 40005 });
  expect(await call(twin, send, form({}, many(10)))).toMatchObject({ status: 200 });
  expect(await call(twin, send, form({}, many(11)))).toMatchObject({ status: 400, code: 30015 });
  expect(await call(twin, `POST /channels/${QUIET}/messages`, form({}, many(1)))).toMatchObject({ status: 403, code: 50013 });
  const unknown = form({ attachments: [{ id: 7 }] }, many(1));
  expect(await call(twin, send, unknown)).toMatchObject({ code: 50035, errors: { attachments: { 0: {} } } });
});

test("an edit keeps the files that it lists, all when it lists none, and adds new ones", async () => {
  const twin = await startTwin();
  const made = await call(twin, send, form({ content: "x" }, [["a.txt", "a"]]));
  const path = `PATCH /channels/${OPS}/messages/${made.id}`;
  const names = (): unknown => twin.messages(OPS)[0]?.attachments.map(({ filename }) => filename);
  await call(twin, path, form({}, [["b.txt", "b"]]));
  expect(names()).toEqual(["a.txt", "b.txt"]);
  await call(twin, path, { attachments: [{ id: twin.messages(OPS)[0]?.attachments[1]?.id }] });
  expect(names()).toEqual(["b.txt"]);
  await call(twin, path, { attachments: [] });
  expect(names()).toEqual([]);
});

test("a person's file reaches the app with its address", async () => {
  const twin = await startTwin();
  const socket = await openSession(twin);
  await twin.say({ channel: OPS, user: ANA, text: "", files: [{ name: "notes.txt", content: "hello" }] });
  const event = await twin.waitFor(() => heard(socket, "MESSAGE_CREATE")[0]);
  expect(await (await fetch(urlOf(event))).text()).toBe("hello");
  twin.fault({ route: "GET /cdn/**", status: 503 });
  expect((await fetch(urlOf(event))).status).toBe(503);
});

test("a message reads as a person sees it", async () => {
  const twin = await startTwin();
  await call(twin, send, form({ content: "May I?", components: card }, [["out.txt", "x"]]));
  expect(twin.messages(OPS).map(readable)).toEqual(["May I?\n[ Approve ]  [ Deny ]\n(file: out.txt)"]);
  const components = [{ type: 17, components: [{ type: 10, content: "in a box" }, { type: 14 }, card[0]] }];
  await call(twin, send, { flags: 1 << 15, components });
  expect(readable(twin.messages(OPS)[1] as TwinMessage)).toBe("in a box\n---\n[ Approve ]  [ Deny ]");
});

test("a fault meets the calls of its route, as often as it says", async () => {
  const twin = await startTwin();
  twin.fault({ route: "POST /channels/*/messages", times: 2, status: 502, body: "bad gateway" });
  const headers = { authorization: `Bot ${twin.token}`, "content-type": "application/json" };
  const raw = (): Promise<Response> =>
    fetch(`${twin.apiUrl}/v10/channels/${OPS}/messages`, { method: "POST", headers, body: '{"content":"x"}' });
  expect(await call(twin, "GET /users/@me")).toMatchObject({ status: 200 });
  expect([(await raw()).status, (await raw()).status, (await raw()).status]).toEqual([502, 502, 200]);
  expect(twin.calls("POST /channels/*/messages").map(({ status }) => status)).toEqual([502, 502, 200]);
  twin.fault({ route: "*", status: 400, body: { code: 1, message: "planned" } });
  expect(await call(twin, "GET /users/@me")).toMatchObject({ status: 400, code: 1, message: "planned" });
});

test("a cut connection leaves the post undone, or done and unanswered", async () => {
  const twin = await startTwin();
  twin.fault({ route: "POST /channels/*/messages", reset: "before" });
  await expect(post(twin)).rejects.toThrow("fetch failed");
  expect(twin.messages(OPS)).toEqual([]);
  twin.fault({ route: "POST /channels/*/messages", reset: "after" });
  await expect(post(twin)).rejects.toThrow("fetch failed");
  expect(twin.messages(OPS)).toHaveLength(1);
});

test("a slow answer is right all the same", async () => {
  const twin = await startTwin();
  twin.fault({ route: "POST /channels/*/messages", delayMs: 100 });
  const before = performance.now();
  await post(twin);
  expect(performance.now() - before).toBeGreaterThan(90);
});

test("the log of calls has what was sent and what was refused", async () => {
  const twin = await startTwin();
  await call(twin, send, form({ content: "x" }, [["a.txt", "x"]]));
  await call(twin, `${send}?x=1`, {});
  expect(twin.calls()).toMatchObject([
    { route: send, body: { content: "x" }, files: ["a.txt"], status: 200 },
    { route: send, query: { x: "1" }, status: 400, code: 50006 },
  ]);
});
