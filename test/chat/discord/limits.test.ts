import { afterEach, describe, expect, it } from "vitest";
import { ChatError, type Chunk } from "../../../src/core/ports.ts";
import { keyOf, openRoom, openThread, post, type Room } from "./kit.ts";

let room: Room;
afterEach(() => room.close());

const say = (text: string): Chunk => room.chat.layout(post([{ kind: "text", text }]))[0] as Chunk;

async function outcome(act: Promise<unknown>): Promise<string> {
  return await act.then(
    () => "sent",
    (error: unknown) => (error instanceof ChatError ? `${error.refusal.kind} ${error.refusal.code}` : String(error)),
  );
}

describe("Discord's limit on a channel", () => {
  it("is never run into: what is too much waits, and is told so without a call", async () => {
    room = await openRoom();
    const { id, key } = await openThread(room);
    const outcomes: string[] = [];
    for (let n = 0; n < 7; n++) outcomes.push(await outcome(room.chat.send(key, say(`${n}`), `n${n}`)));
    expect(outcomes).toEqual([...Array.from({ length: 5 }, () => "sent"), "later ratelimited", "later ratelimited"]);
    expect(room.twin.calls(`POST /channels/${id}/messages`)).toHaveLength(5);
    expect(room.twin.invalidRequests()).toBe(0);
  });

  it("holds up no other channel", async () => {
    room = await openRoom();
    const one = await openThread(room, "one");
    const two = await openThread(room, "two");
    for (let n = 0; n < 6; n++) await outcome(room.chat.send(one.key, say(`${n}`), `n${n}`));
    expect(await outcome(room.chat.send(two.key, say("free"), "m"))).toBe("sent");
  });

  it("that only Discord knew of says when to come again", async () => {
    room = await openRoom();
    const { key } = await openThread(room);
    const headers = { "retry-after": "3", "x-ratelimit-scope": "shared" };
    room.twin.fault({
      route: "POST /channels/*/messages",
      status: 429,
      headers,
      body: { message: "limited", retry_after: 3, global: false },
    });
    const error = await room.chat.send(key, say("hello"), "n").catch((thrown: unknown) => thrown);
    const { refusal } = error as ChatError;
    expect(refusal).toMatchObject({ kind: "later", code: "ratelimited" });
    expect(refusal.retryAfterMs).toBeGreaterThanOrEqual(3_000);
  });

  it("is shared by sends and edits; a status may take a smaller part of it", async () => {
    room = await openRoom();
    const key = keyOf(room, "1");
    const [posts] = room.chat.buckets(key, "send");
    expect(room.chat.buckets(key, "edit")).toEqual([posts]);
    const [first, second] = room.chat.buckets(key, "status");
    expect(first).toEqual(posts);
    expect(second?.perSecond).toBeLessThan(posts?.perSecond ?? 0);
    expect(room.chat.buckets(keyOf(room, "2"), "send")[0]?.name).not.toBe(posts?.name);
  });
});
