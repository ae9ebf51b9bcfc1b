import { afterEach, describe, expect, it } from "vitest";
import type { Chunk } from "../../../src/core/ports.ts";
import type { Post } from "../../../src/core/post.ts";
import { type Room, openRoom, threadKey } from "./kit.ts";

let room: Room;
afterEach(async () => room.close());

const card: Post = {
  key: "approval:7",
  lane: "approval",
  blocks: [
    { kind: "code", text: "rm -rf build" },
    {
      kind: "buttons",
      buttons: [
        { action: "approve", label: "Approve", value: "ap1" },
        { action: "deny", label: "Deny", value: "ap1" },
      ],
    },
  ],
};

async function showCard(): Promise<{ root: string; ref: string }> {
  const { ts: root } = await room.twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> clean up" });
  const [chunk] = room.chat.layout(card);
  return { root, ref: await room.chat.send(threadKey("C1", root), chunk as Chunk, "n1") };
}

const pressed = (): unknown[] => room.arrived.filter((inbound) => inbound.kind === "press");

describe("a press", () => {
  it("becomes an arrival with the approval's id, is acknowledged, and is answered in the thread", async () => {
    room = await openRoom();
    room.onArrive(async (inbound) => (inbound.kind === "press" ? { whisper: "Approved. It runs now, once." } : {}));
    const { root, ref } = await showCard();
    expect(await room.twin.press({ channel: "C1", ts: ref, actionId: "approve", user: "U2" })).toEqual({ acked: true });
    await room.twin.waitFor(() => room.twin.ephemerals().length === 1);
    expect(pressed()).toEqual([
      expect.objectContaining({
        action: "approve",
        approval: "ap1",
        by: { key: "slack:U2", name: "Bob", kind: "member", roles: [] },
        thread: expect.objectContaining({ key: threadKey("C1", root) }),
      }),
    ]);
    expect(room.twin.ephemerals()).toMatchObject([{ user: "U2", thread_ts: root, text: "Approved. It runs now, once." }]);
  });

  it("gives two clicks two ids, so that each is answered", async () => {
    room = await openRoom();
    room.onArrive(async (inbound) => (inbound.kind === "press" ? { whisper: "done" } : {}));
    const { ref } = await showCard();
    const click = (): Promise<{ acked: boolean }> => room.twin.press({ channel: "C1", ts: ref, actionId: "deny", user: "U2" });
    await Promise.all([click(), click()]);
    await room.twin.waitFor(() => room.twin.ephemerals().length === 2);
    expect(new Set(room.events().filter((event) => event.startsWith("slack:press:ap1:U2:"))).size).toBe(2);
  });

  it("is acknowledged within Slack's 3 s even when keeping it takes longer", async () => {
    room = await openRoom({ twin: { ackTimeoutMs: 10_000 } });
    const { ref } = await showCard();
    const gate = Promise.withResolvers<void>();
    room.onArrive(async () => {
      await gate.promise;
      return { whisper: "late, but done" };
    });
    expect(await room.twin.press({ channel: "C1", ts: ref, actionId: "approve", user: "U2" })).toEqual({ acked: true });
    expect(pressed()).toEqual([]);
    gate.resolve();
    await room.twin.waitFor(() => room.twin.ephemerals().some((line) => line.text === "late, but done"));
  });

  it("that cannot be kept is not acknowledged, and the person is told", async () => {
    room = await openRoom({ twin: { ackTimeoutMs: 1_000 } });
    const { ref } = await showCard();
    room.onArrive(async () => {
      throw new Error("redis is away");
    });
    expect(await room.twin.press({ channel: "C1", ts: ref, actionId: "approve", user: "U2" })).toEqual({ acked: false });
    await room.twin.waitFor(() => room.twin.ephemerals().some((line) => line.user === "U2" && /once more/.test(line.text)));
  });

  it("on Stop becomes a stop of the conversation", async () => {
    room = await openRoom();
    const { ts: root } = await room.twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> go" });
    const thread = threadKey("C1", root);
    const [chunk] = room.chat.layout({
      key: "status:1",
      lane: "status",
      blocks: [
        { kind: "text", text: "Working" },
        { kind: "buttons", buttons: [{ action: "stop", label: "Stop", value: thread }] },
      ],
    });
    const ref = await room.chat.send(thread, chunk as Chunk, "n1");
    await room.twin.press({ channel: "C1", ts: ref, actionId: "stop", user: "U1" });
    expect(room.arrived.find((inbound) => inbound.kind === "stop")).toMatchObject({ thread: { key: thread }, by: { key: "slack:U1" } });
  });
});
