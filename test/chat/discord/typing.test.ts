import { afterEach, describe, expect, it } from "vitest";
import type { Chunk, Clock } from "../../../src/core/ports.ts";
import { realClock } from "../slack/kit.ts";
import { openRoom, openThread, post, type Room } from "./kit.ts";

let room: Room;
afterEach(() => room.close());

/** Eight seconds pass in a moment. */
const fast: Clock = { ...realClock, sleep: (ms, signal) => realClock.sleep(ms === 8_000 ? 20 : ms, signal) };

function status(text: string, working: boolean): Chunk {
  return room.chat.layout(post([{ kind: "text", text }], { lane: "status", working }))[0] as Chunk;
}

describe("while somebody is at work", () => {
  it("the thread shows it again and again, until the status says otherwise", async () => {
    room = await openRoom({ clock: fast, twin: { limits: false } });
    const { id, key } = await openThread(room);
    const ref = await room.chat.send(key, status("On it.", true), "n");
    await room.twin.waitFor(() => room.twin.typing().length >= 3);
    expect(new Set(room.twin.typing())).toEqual(new Set([id]));
    await room.chat.edit(key, ref, status("Waiting for a decision.", false));
    await realClock.sleep(100);
    const count = room.twin.typing().length;
    await realClock.sleep(200);
    expect(room.twin.typing()).toHaveLength(count);
    await room.chat.edit(key, ref, status("Running.", true));
    await room.twin.waitFor(() => room.twin.typing().length > count);
  });

  it("other posts do not show it", async () => {
    room = await openRoom({ clock: fast });
    const { key } = await openThread(room);
    await room.chat.send(key, room.chat.layout(post([{ kind: "text", text: "hello" }]))[0] as Chunk, "n");
    await realClock.sleep(100);
    expect(room.twin.typing()).toEqual([]);
  });

  it("a thread that will not have it is left alone", async () => {
    room = await openRoom({ clock: fast, twin: { limits: false } });
    const { id, key } = await openThread(room);
    room.twin.fault({ route: `POST /channels/${id}/typing`, status: 403, times: 9, body: { code: 50013, message: "Missing Permissions" } });
    await room.chat.send(key, status("On it.", true), "n");
    await realClock.sleep(300);
    expect(room.twin.calls(`POST /channels/${id}/typing`)).toHaveLength(1);
  });
});
