import { afterEach, describe, expect, it } from "vitest";
import type { Clock } from "../../../src/core/ports.ts";
import { idAt, timeOf } from "../../../src/chat/discord/snowflake.ts";
import { realClock } from "../slack/kit.ts";
import { ADA, ask, BOB, DIRECT, eventOf, FORUM, GENERAL, keyOf, openIt, openRoom, openThread, type Room } from "./kit.ts";

let first: Room;
let back: Room | undefined;
afterEach(async () => {
  await back?.close();
  back = undefined;
  await first.close();
});

/** The first gateway has been there, and is gone. */
async function leave(options: Parameters<typeof openRoom>[0] = {}): Promise<void> {
  first = await openRoom(options);
  await first.told("discord.backfilled");
  await first.chat.stop();
}

async function comeBack(options: Parameters<typeof openRoom>[0] = {}): Promise<Room> {
  back = await openRoom({ reuse: first.twin, log: first.log, ...options });
  await back.told("discord.backfilled");
  return back;
}

/** Makes the thread one of the log's open conversations. */
async function keepOpen(key: string, channel = `discord:${GENERAL}`): Promise<void> {
  const by = { key: `discord:${ADA}`, name: "Ada", kind: "member" as const, roles: [] };
  await first.log.ingest({
    conversation: key,
    event: `kept:${key}`,
    at: Date.now(),
    opened: { type: "opened", platform: "discord", thread: key, channel, workspace: "w" },
    entry: { type: "message", event: `kept:${key}`, by, text: "hello", to: "bot" },
    wakes: false,
  });
}

describe("after an absence", () => {
  it("a mark that lies ahead, because our clock was wrong, hides nothing", async () => {
    await leave();
    await first.log.mark("discord:seen", idAt(Date.now() + 3_600_000));
    const id = await ask(first, "missed");
    const room = await comeBack();
    expect(room.arrived).toMatchObject([{ kind: "mention", event: eventOf(GENERAL, id) }]);
    expect(timeOf((await first.log.marked("discord:seen")) ?? "")).toBeLessThan(Date.now() + 60_000);
  });

  it("a mention in a watched channel is heard under the id that it always had, with the roles of who wrote it", async () => {
    await leave();
    first.twin.addRole({ id: "500000000000000032", name: "devs" });
    first.twin.setRoles(ADA, ["500000000000000032"]);
    const id = await ask(first, "missed");
    await first.twin.say({ channel: GENERAL, user: ADA, text: "just talk" });
    const room = await comeBack();
    expect(room.arrived).toMatchObject([
      {
        kind: "mention",
        event: eventOf(GENERAL, id),
        thread: { key: keyOf(room, id) },
        by: { roles: ["discord:role:500000000000000032"] },
      },
    ]);
    expect(room.twin.threads(GENERAL)).toHaveLength(1);
  });

  it("replies in open conversations are heard in order, in direct channels and in channels that are not watched too", async () => {
    first = await openRoom({ watch: [] });
    await first.told("discord.backfilled");
    const { id, key } = await openThread(first);
    await keepOpen(key);
    await keepOpen(`discord:dm:${DIRECT}`, `discord:${DIRECT}`);
    await first.chat.stop();
    await first.twin.say({ channel: id, user: ADA, text: "one" });
    await first.twin.say({ channel: DIRECT, user: ADA, text: "two" });
    await first.twin.say({ channel: id, user: BOB, text: "three" });
    const room = await comeBack({ watch: [] });
    const words = room.arrived.map((each) => ("text" in each ? each.text : ""));
    expect(words.filter((text) => text !== "hello")).toEqual(["one", "two", "three"]);
  });

  it("mentions in threads and forum posts under a watched channel are heard, with what follows them", async () => {
    await leave();
    const { twin } = first;
    const at = `<@${twin.botUserId}>`;
    const thread = twin.addThread({ channel: GENERAL, name: "talk", user: BOB });
    await twin.say({ channel: thread.id, user: BOB, text: `${at} in a thread` });
    await twin.say({ channel: thread.id, user: BOB, text: "and more" });
    const question = twin.addThread({ channel: FORUM, name: "why", user: ADA, text: `${at} in a forum` });
    const room = await comeBack();
    expect(room.arrived).toMatchObject([
      { kind: "mention", text: "in a thread", thread: { key: keyOf(room, thread.id), channel: `discord:${GENERAL}` } },
      { kind: "reply", text: "and more" },
      { kind: "mention", text: "in a forum", thread: { key: keyOf(room, question.id), channel: `discord:${FORUM}` } },
    ]);
  });

  it("a message whose thread began before a crash is heard with its replies", async () => {
    await leave();
    const id = await ask(first, "hello");
    first.twin.addThread({ channel: GENERAL, name: "hello", user: ADA, messageId: id });
    await first.twin.say({ channel: id, user: ADA, text: "are you there?" });
    const room = await comeBack();
    expect(room.arrived).toMatchObject([{ kind: "mention" }, { kind: "reply", text: "are you there?", thread: { key: keyOf(room, id) } }]);
  });

  it("all pages of a busy channel are read", async () => {
    await leave();
    for (let n = 0; n < 230; n++)
      await first.twin.say({ channel: GENERAL, user: ADA, text: n % 50 === 49 ? `<@${first.twin.botUserId}> ${n}` : "x" });
    const room = await comeBack();
    expect(room.arrived.map((each) => ("text" in each ? each.text : ""))).toEqual(["49", "99", "149", "199"]);
  });

  it("who has left the server is no member", async () => {
    await leave();
    await ask(first, "bye");
    first.twin.fault({ route: "GET /guilds/*/members/*", status: 404, body: { code: 10007, message: "Unknown Member" } });
    const room = await comeBack();
    expect(room.arrived).toMatchObject([{ by: { kind: "external", roles: [] } }]);
  });
});

describe("the mark", () => {
  it("is set by the first start of all, which looks at nothing older", async () => {
    first = await openRoom({ started: false });
    await ask(first, "before our time");
    await first.start();
    await first.told("discord.backfilled");
    expect(first.arrived).toEqual([]);
    expect(await first.log.marked("discord:seen")).toMatch(/^\d+$/);
  });

  it("does not move before everything missed was kept; the look is repeated until then", async () => {
    await leave();
    const mark = await first.log.marked("discord:seen");
    await ask(first, "missed");
    let fails = 2;
    back = await openRoom({ reuse: first.twin, log: first.log, started: false });
    back.onArrive(async (inbound) => {
      if (fails-- > 0) throw new Error("Redis is down");
      expect(await first.log.marked("discord:seen")).toBe(mark);
      return await openIt(inbound);
    });
    await back.start();
    await back.told("discord.backfill-failed", 2);
    await back.told("discord.backfilled");
    expect(back.arrived).toHaveLength(1);
    expect(await first.log.marked("discord:seen")).not.toBe(mark);
  });

  it("moves with live messages, so that little is read again", async () => {
    let ahead = 0;
    const clock: Clock = { ...realClock, now: () => Date.now() + ahead };
    first = await openRoom({ clock });
    await first.told("discord.backfilled");
    const mark = await first.log.marked("discord:seen");
    ahead = 60_000;
    first.twin.advance(60_000);
    await openThread(first);
    await first.twin.waitFor(() => first.trace.told.length > 0);
    await expect.poll(() => first.log.marked("discord:seen")).not.toBe(mark);
  });

  it("a channel that is gone keeps nobody else from being read", async () => {
    await leave({ watch: [`discord:${GENERAL}`, "discord:499999999999999999"] });
    await ask(first, "missed");
    const room = await comeBack({ watch: ["discord:499999999999999999", `discord:${GENERAL}`] });
    expect(room.arrived).toHaveLength(1);
  });
});

it("the mark stays where it is while a live message waits to be kept, whatever is kept after it", async () => {
  let ahead = 0;
  first = await openRoom({ clock: { ...realClock, now: () => Date.now() + ahead } });
  await first.told("discord.backfilled");
  const mark = await first.log.marked("discord:seen");
  ahead = 60_000;
  first.twin.advance(60_000);
  let fails = 1;
  first.onArrive(async (inbound) => (fails-- > 0 ? await Promise.reject(new Error("Redis is down")) : await openIt(inbound)));
  const lost = await ask(first, "one");
  await first.told("discord.not-kept");
  await openThread(first, "two");
  expect(await first.log.marked("discord:seen")).toBe(mark);
  await first.told("discord.backfilled", 2);
  expect(first.events()).toContain(eventOf(GENERAL, lost));
  expect(await first.log.marked("discord:seen")).not.toBe(mark);
});

it("a live message that was not kept is looked for soon, and comes in its place", async () => {
  first = await openRoom();
  await first.told("discord.backfilled");
  const { id } = await openThread(first);
  await keepOpen(keyOf(first, id));
  let fails = 1;
  first.onArrive(async () => {
    if (fails-- > 0) throw new Error("Redis is down");
    return {};
  });
  const said = await first.twin.say({ channel: id, user: ADA, text: "one" });
  await first.told("discord.not-kept");
  expect(await first.heard("reply")).toMatchObject({ event: eventOf(id, said.id) });
});
