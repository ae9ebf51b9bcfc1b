import { afterEach, describe, expect, it } from "vitest";
import { type ChatAct, ChatError, type Chunk } from "../../../src/core/ports.ts";
import type { Lane } from "../../../src/core/post.ts";
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
    const ref = await room.chat.send(key, say("0"), "n0");
    const outcomes: string[] = [];
    for (let n = 1; n < 6; n++) outcomes.push(await outcome(room.chat.send(key, say(`${n}`), `n${n}`)));
    // The first edit of all.
    outcomes.push(await outcome(room.chat.edit(key, ref, say("edited"))));
    expect(outcomes).toEqual([...Array.from({ length: 4 }, () => "sent"), "later ratelimited", "later ratelimited"]);
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

  it("for all calls closes everything, and one of edits alone no sends", async () => {
    room = await openRoom();
    const { key } = await openThread(room);
    const ref = await room.chat.send(key, say("one"), "n1");
    const busy = { status: 429, body: { message: "limited", retry_after: 1, global: false } };
    room.twin.fault({ route: "PATCH /channels/*/messages/*", ...busy, headers: { "retry-after": "1" } });
    const ofEdits = (await room.chat.edit(key, ref, say("two")).catch((thrown: unknown) => thrown)) as ChatError;
    expect(ofEdits.refusal).toMatchObject({ kind: "later", code: "ratelimited" });
    expect(ofEdits.refusal.limit).toBeUndefined();
    room.twin.fault({ route: "POST /channels/*/messages", ...busy, headers: { "retry-after": "1", "x-ratelimit-global": "true" } });
    const ofAll = (await room.chat.send(key, say("two"), "n2").catch((thrown: unknown) => thrown)) as ChatError;
    expect(ofAll.refusal).toMatchObject({ kind: "later", limit: "everywhere" });
  });

  it("is shared by sends and edits; each lane leaves more to those before it, and what is not urgent has less of it", async () => {
    room = await openRoom();
    const key = keyOf(room, "1");
    const budgets = (lane: Lane, act: ChatAct = "send") => room.chat.buckets(key, act, lane);
    expect(budgets("approval", "edit")).toEqual(budgets("approval"));
    const names = (lane: Lane) => budgets(lane).map(({ name }) => name.split(":")[1]);
    expect([names("approval"), names("output")]).toEqual([
      ["post", "all"],
      ["post", "quiet", "all"],
    ]);
    const lanes: Lane[] = ["approval", "answer", "output", "status"];
    expect(lanes.map((lane) => budgets(lane, "edit")[0]?.keep)).toEqual([0, 1, 2, 3]);
    expect(budgets("status")).toEqual(budgets("output"));
    expect(room.chat.buckets(keyOf(room, "2"), "send", "approval")[0]).not.toEqual(budgets("approval")[0]);
  });
});
