import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Clock } from "../../../src/core/ports.ts";
import { LIMITS } from "../../../src/limits.ts";
import { memoryLog } from "../../../src/memory.ts";
import { realClock } from "../slack/kit.ts";
import { ADA, ask, eventOf, GENERAL, openRoom, openThread, type Room } from "./kit.ts";

let room: Room;
afterEach(() => room.close());

describe("a session", () => {
  it("that is cut off is resumed: what was said meanwhile comes, once", async () => {
    room = await openRoom();
    await openThread(room);
    room.twin.drop();
    const id = await ask(room, "while away");
    await room.heard("mention", 2);
    expect(await room.told("discord.connected", 2)).toEqual({ resumed: true });
    expect(room.arrived.filter(({ event }) => event === eventOf(GENERAL, id))).toHaveLength(1);
  });

  it("that Discord asks to renew is renewed", async () => {
    room = await openRoom();
    room.twin.reconnect();
    await room.told("discord.connected", 2);
    await openThread(room);
  });

  it("that cannot be resumed is begun anew, and what was said meanwhile is looked for", async () => {
    room = await openRoom();
    await room.told("discord.backfilled");
    room.twin.invalidateSession(false);
    const id = await ask(room, "in between");
    expect(await room.heard("mention")).toMatchObject({ event: eventOf(GENERAL, id), by: { name: "Ada", kind: "member" } });
    expect(await room.told("discord.connected", 2)).toEqual({ resumed: false });
  });

  it("whose heartbeats stay unanswered is replaced", async () => {
    room = await openRoom({ twin: { heartbeatMs: 300 } });
    room.twin.muteHeartbeats(true);
    await room.twin.waitFor(() => room.twin.sockets() === 0);
    room.twin.muteHeartbeats(false);
    await room.told("discord.connected", 2);
  });

  it("that the SDK does not notice to be dead is replaced", async () => {
    let ahead = 0;
    const clock: Clock = { ...realClock, now: () => Date.now() + ahead };
    room = await openRoom({ clock });
    ahead = 200_000;
    expect(await room.told("discord.down")).toMatchObject({ why: "no heartbeat" });
    await room.told("discord.connected", 2);
  });
});

describe("without the Message Content intent", () => {
  it("mentions are heard, and what is missing is said once in the thread and to the operator", async () => {
    room = await openRoom({ twin: { intents: [] } });
    expect(String((await room.told("discord.no-content"))["problem"])).toContain("DISCORD_INTENTS");
    const { id } = await openThread(room, "run the tests");
    expect(await room.heard("mention")).toMatchObject({ text: "run the tests" });
    const ours = (): string[] =>
      room.twin.messages(id).flatMap((each) => (each.author === room.twin.botUserId && each.type === 0 ? [each.content] : []));
    await room.twin.waitFor(() => ours()[0]?.includes("mention me in each one"));
    await room.twin.say({ channel: id, user: ADA, text: "not readable" });
    await room.twin.say({ channel: id, user: ADA, text: `<@${room.twin.botUserId}> and this` });
    expect(await room.heard("mention", 2)).toMatchObject({ text: "and this" });
    await openThread(room, "another");
    expect(ours()).toHaveLength(1);
    expect(room.arrived.some(({ kind }) => kind === "reply")).toBe(false);
  });
});

describe("when Discord refuses", () => {
  it("the token at the start, starting fails and says what to do", async () => {
    room = await openRoom({ started: false, token: "wrong" });
    await expect(room.start()).rejects.toMatchObject({ code: "DISCORD_AUTH" });
  });

  it.each([
    [4004, "DISCORD_AUTH"],
    [4011, "DISCORD_DOWN"],
    [4013, "DISCORD_INTENTS"],
  ])("the first session with %i, starting fails with %s", async (close, code) => {
    room = await openRoom({ started: false });
    const closing = room.twin.waitFor(() => {
      room.twin.closeWith(close);
      return room.trace.told.some(({ event }) => event === "discord.refused");
    });
    await expect(room.start()).rejects.toMatchObject({ code });
    await closing;
  });

  it("the token later, it says so, goes on trying, and is back when the token is good again", async () => {
    room = await openRoom();
    room.twin.fault({ route: "GET /gateway/bot", status: 401, times: 2, body: { message: "401: Unauthorized", code: 0 } });
    room.twin.closeWith(4004);
    expect(String((await room.told("discord.refused", 2))["problem"])).toContain("DISCORD_AUTH");
    await room.told("discord.connected", 2);
    await openThread(room);
  });
});

describe("while Discord is down", () => {
  it("starting waits for it", async () => {
    room = await openRoom({ started: false });
    room.twin.fault({ route: "GET /users/@me", reset: "before" });
    room.twin.fault({ route: "GET /gateway/bot", status: 503 });
    await room.start();
    await openThread(room);
    expect(room.trace.told.filter(({ event }) => event === "discord.down")).toHaveLength(2);
  });

  it("stopping ends at once, and nothing goes on connecting", async () => {
    room = await openRoom();
    await room.twin.close();
    await room.told("discord.disconnected");
    await room.chat.stop();
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await once(server.listen(Number(new URL(room.twin.url).port), "127.0.0.1"), "listening");
    await realClock.sleep(1_500);
    expect(connections).toBe(0);
    server.close();
    room.close = async () => {};
  });
});

describe("of two processes with one token", () => {
  it("one hears, both post, and the other takes over when the first stops", async () => {
    room = await openRoom();
    const other = await openRoom({ reuse: room.twin, log: room.log });
    expect(room.twin.sockets()).toBe(1);
    const { id, key } = await openThread(room);
    await other.chat.send(
      key,
      other.chat.layout({ key: "k", lane: "output", blocks: [{ kind: "text", text: "from the other" }] })[0] as never,
      "n",
    );
    expect(room.twin.thread(id).at(-1)?.content).toBe("from the other");
    await room.chat.stop();
    await other.told("discord.connected");
    await openThread(other);
    expect(room.arrived.filter(({ kind }) => kind === "mention")).toHaveLength(1);
    await other.close();
  });

  it("one whose lease ran out falls silent before the other is heard twice", async () => {
    const log = memoryLog(realClock);
    room = await openRoom({ log });
    let isLost = true;
    const lease = log.lease;
    log.lease = async (name, holder, ttl) => (isLost ? false : await lease(name, holder, ttl));
    await room.twin.waitFor(() => room.twin.sockets() === 0);
    isLost = false;
    await room.told("discord.connected", 2);
    expect(LIMITS.lease).toBeLessThanOrEqual(10_000);
  });
});
