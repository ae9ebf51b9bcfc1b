import { afterEach, describe, expect, it } from "vitest";
import type { Post } from "../../../src/core/post.ts";
import { ADA, BOB, keyOf, openRoom, openThread, OPS_ROLE, post, type Room } from "./kit.ts";

let room: Room;
afterEach(() => room.close());

function card(approval: string): Post {
  return post([
    { kind: "text", text: "May I?" },
    {
      kind: "buttons",
      buttons: [
        { action: "approve", label: "Approve", style: "primary", value: approval },
        { action: "deny", label: "Deny", style: "danger", value: approval },
      ],
    },
  ]);
}

async function cardIn(thread: string, approval = "a-1"): Promise<string> {
  return await room.chat.send(keyOf(room, thread), room.chat.layout(card(approval))[0] as never, approval);
}

describe("a press", () => {
  it("is kept, then acknowledged, and its answer is for the person alone", async () => {
    room = await openRoom();
    room.twin.setRoles(BOB, [OPS_ROLE]);
    const { id, key } = await openThread(room);
    const messageId = await cardIn(id);
    room.onArrive(async () => ({ whisper: "Approved. It runs now, once." }));
    const outcome = await room.twin.press({ messageId, customId: "dh:approve:a-1", user: BOB });
    expect(outcome).toMatchObject({ acked: true, ephemeral: "Approved. It runs now, once." });
    expect(await room.heard("press")).toMatchObject({
      thread: { key },
      by: { key: `discord:${BOB}`, name: "Bob", kind: "member", roles: [`discord:role:${OPS_ROLE}`] },
      action: "approve",
      approval: "a-1",
    });
  });

  it("twice is two presses, each with an id of its own", async () => {
    room = await openRoom();
    const { id } = await openThread(room);
    const messageId = await cardIn(id);
    for (let n = 0; n < 2; n++) await room.twin.press({ messageId, customId: "dh:deny:a-1", user: ADA });
    await room.heard("press", 2);
    expect(new Set(room.arrived.filter(({ kind }) => kind === "press").map(({ event }) => event)).size).toBe(2);
  });

  it("on a card of before the restart, and on one that has changed since, still comes", async () => {
    room = await openRoom();
    const { id, key } = await openThread(room);
    const messageId = await cardIn(id);
    await room.chat.stop();
    const again = await openRoom({ reuse: room.twin, log: room.log });
    await room.twin.press({ messageId, customId: "dh:approve:a-1", user: ADA });
    expect(await again.heard("press")).toMatchObject({ approval: "a-1", thread: { key } });
    await again.chat.edit(key, messageId, again.chat.layout(post([{ kind: "text", text: "Approved by Ada" }]))[0] as never);
    again.onArrive(async () => ({ whisper: "This was already approved by Ada." }));
    const outcome = await room.twin.press({ messageId, customId: "dh:deny:a-1", user: BOB, stale: true });
    expect(outcome.ephemeral).toBe("This was already approved by Ada.");
    await again.close();
  });

  it("that takes long to keep is acknowledged in time, and answered after it", async () => {
    room = await openRoom();
    const { id } = await openThread(room);
    const messageId = await cardIn(id);
    const gate = Promise.withResolvers<void>();
    room.onArrive(async () => {
      await gate.promise;
      return { whisper: "Denied. It will not run." };
    });
    const outcome = await room.twin.press({ messageId, customId: "dh:deny:a-1", user: ADA });
    expect(outcome).toMatchObject({ acked: true, deferred: true });
    gate.resolve();
    const told = await room.twin.waitFor(() => room.twin.ephemerals()[0]);
    expect(told).toMatchObject({ user: ADA, content: "Denied. It will not run." });
  });

  it("that could not be kept says so", async () => {
    room = await openRoom();
    const { id } = await openThread(room);
    const messageId = await cardIn(id);
    room.onArrive(async () => await Promise.reject(new Error("Redis is down")));
    const outcome = await room.twin.press({ messageId, customId: "dh:deny:a-1", user: ADA });
    expect(outcome.ephemeral).toBe("That did not reach me. Please try it once more.");
  });

  it("is kept even when Discord does not take the answer", async () => {
    room = await openRoom({ twin: { ackMs: 500 } });
    const { id } = await openThread(room);
    const messageId = await cardIn(id);
    room.twin.fault({ route: "POST /interactions/**", delayMs: 1_000 });
    expect(await room.twin.press({ messageId, customId: "dh:approve:a-1", user: ADA })).toMatchObject({ acked: false });
    await room.heard("press");
    await room.told("discord.press-unanswered");
  });

  it("on Stop ends the conversation of its thread", async () => {
    room = await openRoom();
    const { id, key } = await openThread(room);
    const status = post([
      { kind: "text", text: "On it." },
      { kind: "buttons", buttons: [{ action: "stop", label: "Stop", value: key }] },
    ]);
    const messageId = await room.chat.send(key, room.chat.layout(status)[0] as never, "status");
    await room.twin.press({ messageId, customId: `dh:stop:${key}`, user: BOB });
    expect(await room.heard("stop")).toMatchObject({ thread: { key }, by: { key: `discord:${BOB}` } });
    expect(id).not.toBe("");
  });
});
