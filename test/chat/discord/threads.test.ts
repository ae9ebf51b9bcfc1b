import { afterEach, describe, expect, it } from "vitest";
import { ask, eventOf, GENERAL, openRoom, openThread, type Room } from "./kit.ts";

let room: Room;
afterEach(() => room.close());

/** What stands under the question, and what the operator reads. */
async function refusal(): Promise<{ words: string; problem: string }> {
  const reply = await room.twin.waitFor(() => room.twin.messages(GENERAL).find((each) => each.author === room.twin.botUserId));
  const { problem } = await room.told("discord.no-thread");
  return { words: reply.content, problem: String(problem) };
}

describe("where no thread can begin, the person and the operator are told", () => {
  it("without the permission to make threads", async () => {
    room = await openRoom();
    room.twin.setLacks(GENERAL, ["CreatePublicThreads"]);
    await ask(room, "hello");
    const { words, problem } = await refusal();
    expect(words).toContain("I may not start a thread here");
    expect(problem).toMatch(/create public threads.*DISCORD_PERMISSION/);
    expect(room.arrived).toEqual([]);
  });

  it("with too many active threads in the server", async () => {
    room = await openRoom({ twin: { maxActiveThreads: 1 } });
    room.twin.addThread({ channel: GENERAL, name: "full", user: "100000000000000011" });
    await ask(room, "hello");
    expect((await refusal()).words).toContain("too many active threads");
  });

  it("in a kind of channel that has none", async () => {
    room = await openRoom();
    room.twin.fault({ route: `POST /channels/${GENERAL}/messages/*/threads`, status: 400, body: { code: 50024, message: "Cannot" } });
    await ask(room, "hello");
    expect((await refusal()).words).toContain("this kind of channel");
  });

  it("and once only, also when the history brings the question again", async () => {
    room = await openRoom();
    room.twin.setLacks(GENERAL, ["CreatePublicThreads"]);
    await ask(room, "hello");
    await refusal();
    room.twin.invalidateSession(false);
    await room.told("discord.no-thread", 2);
    await room.told("discord.backfilled", 2);
    expect(room.twin.messages(GENERAL)).toHaveLength(2);
  });
});

describe("a thread that is there already", () => {
  it("is used when it began at the message before we could", async () => {
    room = await openRoom();
    room.twin.fault({ route: "POST /channels/*/messages/*/threads", reset: "after" });
    const id = await ask(room, "hello");
    await room.told("discord.not-kept");
    expect(room.twin.threads(GENERAL)).toHaveLength(1);
    expect(await room.heard("mention")).toMatchObject({ event: eventOf(GENERAL, id) });
    expect(room.twin.threads(GENERAL)).toHaveLength(1);
  });

  it("may have a name that Discord refused: then it has a plain one", async () => {
    room = await openRoom();
    room.twin.fault({ route: "POST /channels/*/messages/*/threads", status: 400, body: { code: 200001, message: "Blocked" } });
    const { id } = await openThread(room, "words that a moderator forbids");
    expect(room.twin.threads(GENERAL)).toMatchObject([{ id, name: "Deckhand" }]);
  });

  it("has a name within Discord's limits, whatever was asked", async () => {
    room = await openRoom();
    await openThread(room, "😀".repeat(80));
    await openThread(room, "");
    await openThread(room, `\u200b${"x".repeat(400)}`);
    const names = room.twin.threads(GENERAL).map(({ name }) => name);
    expect(names).toHaveLength(3);
    expect(names[1]).toBe("Deckhand");
    for (const name of names) expect(name.length).toBeLessThanOrEqual(100);
  });
});
