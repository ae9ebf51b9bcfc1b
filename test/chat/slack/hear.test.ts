import { afterEach, describe, expect, it } from "vitest";
import { type Room, openRoom, realClock, threadKey } from "./kit.ts";

let room: Room;
afterEach(async () => room.close());

const ask = (text: string, thread?: string): Promise<{ ts: string }> =>
  room.twin.say({ channel: "C1", user: "U1", text, ...(thread && { thread }) });
const settled = (): Promise<boolean> => room.twin.waitFor(() => room.twin.events().every((event) => event.acked));

describe("hearing Slack", () => {
  it("counts a mention once, though Slack sends app_mention and message", async () => {
    room = await openRoom();
    const { ts } = await ask("<@U0BOT> run `a && b > c` on example.com");
    await settled();
    expect(room.twin.events()).toHaveLength(2);
    expect(room.events()).toEqual([threadKey("C1", ts)]);
    for (const arrived of room.arrived) expect(arrived).toEqual(room.arrived[0]);
    expect(room.arrived[0]).toMatchObject({
      kind: "mention",
      text: "run `a && b > c` on example.com",
      by: { key: "slack:U1", name: "Ada", kind: "member", roles: [] },
      thread: { key: threadKey("C1", ts), channel: "slack:C1" },
    });
  });

  it("acknowledges only what was kept: what was not comes again and is handled", async () => {
    room = await openRoom({ twin: { ackTimeoutMs: 1_000 } });
    let failures = 3;
    room.onArrive(async () => {
      failures -= 1;
      if (failures >= 0) throw new Error("redis is away");
      return {};
    });
    const { ts } = await ask("<@U0BOT> go");
    await settled();
    expect(room.events()).toEqual([threadKey("C1", ts)]);
    // What brings the same at the same time is kept, or not kept, together.
    const { length: notKept } = room.trace.told.filter((each) => each.event === "slack.not-kept");
    expect(notKept).toBeGreaterThanOrEqual(3);
    expect(room.twin.events().reduce((sum, event) => sum + event.attempts, 0)).toBeGreaterThanOrEqual(notKept + 2);
  });

  it("waits with the acknowledgement until the arrival is kept", async () => {
    room = await openRoom({ twin: { ackTimeoutMs: 60_000 } });
    const gate = Promise.withResolvers<void>();
    let waiting = 0;
    room.onArrive(async () => {
      waiting += 1;
      await gate.promise;
      return {};
    });
    await ask("<@U0BOT> go");
    await room.twin.waitFor(() => waiting > 0);
    await realClock.sleep(200);
    expect(room.twin.events().some((event) => event.acked)).toBe(false);
    gate.resolve();
    await settled();
  });

  it("gives the same id to an event that Slack delivers twice", async () => {
    room = await openRoom();
    const { ts } = await ask("<@U0BOT> go");
    await settled();
    const before = room.arrived.length;
    const [first] = room.twin.events();
    room.twin.redeliver(first?.event_id ?? "");
    await room.twin.waitFor(() => room.arrived.length === before + 1);
    expect(room.events()).toEqual([threadKey("C1", ts)]);
  });

  it("hears replies, edits and removals of the thread, and nothing of bots, joins or itself", async () => {
    room = await openRoom();
    const { ts } = await ask("<@U0BOT> go");
    await room.twin.botSay({ channel: "C1", text: "<@U0BOT> go", thread: ts });
    await room.twin.join("C1", "U2");
    await ask("lunch?");
    const own = await room.chat.send(
      threadKey("C1", ts),
      room.chat.layout({ key: "k", lane: "answer", blocks: [{ kind: "text", text: "hi" }] })[0] ?? raise(),
      "n1",
    );
    const reply = await ask("more <@U2>", ts);
    await room.twin.editMessage({ channel: "C1", ts: reply.ts, text: "more!" });
    await room.twin.deleteMessage({ channel: "C1", ts: reply.ts });
    await room.twin.waitFor(() => room.arrived.some((inbound) => inbound.kind === "remove"));
    await settled();
    const heard = room.arrived
      .filter((inbound) => inbound.kind !== "mention")
      .map(({ kind, ...rest }) => [kind, "text" in rest ? rest.text : null]);
    expect(heard).toEqual(
      expect.arrayContaining([
        ["reply", "more @Bob"],
        ["edit", "more!"],
        ["remove", null],
      ]),
    );
    expect(heard).toHaveLength(3);
    expect(room.events().some((event) => event.includes(own))).toBe(false);
  });

  it("takes a direct message for a mention", async () => {
    room = await openRoom();
    const { ts } = await room.twin.say({ channel: "D1", user: "U1", text: "go" });
    await room.twin.waitFor(() => room.arrived.length === 1);
    expect(room.arrived[0]).toMatchObject({ kind: "mention", event: threadKey("D1", ts), text: "go" });
  });

  it("whispers what the core answers, once, where the person wrote", async () => {
    room = await openRoom();
    room.onArrive(async (inbound) => ({ whisper: `no <${inbound.kind}>` }));
    const { ts } = await ask("<@U0BOT> go");
    await settled();
    await room.twin.waitFor(() => room.twin.ephemerals().length > 0);
    await ask("<@U0BOT> go", ts);
    await settled();
    await room.twin.waitFor(() => room.twin.ephemerals().length > 1);
    await room.chat.stop();
    expect(room.twin.ephemerals().map(({ user, text, thread_ts }) => [user, text, thread_ts])).toEqual([
      ["U1", "no &lt;mention&gt;", undefined],
      ["U1", "no &lt;mention&gt;", ts],
    ]);
  });

  it("traces a whisper that Slack refuses, and nothing else happens", async () => {
    room = await openRoom();
    room.twin.fault({ method: "chat.postEphemeral", error: "user_not_in_channel" });
    room.onArrive(async () => ({ whisper: "no" }));
    await ask("<@U0BOT> go");
    await room.twin.waitFor(() => room.trace.told.some((each) => each.event === "slack.after"));
    await settled();
  });
});

function raise(): never {
  throw new Error("a post gives at least one chunk");
}
