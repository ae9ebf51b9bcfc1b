import { afterEach, describe, expect, it } from "vitest";
import { type Room, openRoom, threadKey } from "./kit.ts";

let room: Room;
afterEach(async () => room.close());

describe("who somebody is", () => {
  it.each([
    ["a member", {}, "member"],
    ["a multi-channel guest", { restricted: true }, "guest"],
    ["a single-channel guest", { ultraRestricted: true }, "guest"],
    ["a stranger of a shared channel", { stranger: true }, "external"],
    ["a person of another workspace", { teamId: "T9" }, "external"],
    ["a guest of another workspace", { teamId: "T9", restricted: true }, "external"],
    ["a bot user", { isBot: true }, "bot"],
  ] as const)("is told for %s", async (_, traits, kind) => {
    room = await openRoom();
    room.twin.addUser({ id: "U5", name: "Eve", ...traits });
    await room.twin.say({ channel: "C1", user: "U5", text: "<@U0BOT> go" });
    await room.twin.waitFor(() => room.arrived.length > 0);
    expect(room.arrived[0]?.by).toEqual({ key: "slack:U5", name: "Eve", kind, roles: [] });
  });

  it("is `external` for somebody whom Slack does not know", async () => {
    room = await openRoom();
    room.twin.fault({ method: "users.info", error: "user_not_found", times: 2 });
    await room.twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> go" });
    await room.twin.waitFor(() => room.arrived.length > 0);
    expect(room.arrived[0]?.by).toEqual({ key: "slack:U1", name: "U1", kind: "external", roles: [] });
  });

  it("must be known before anything is kept: when Slack does not say, the event comes again", async () => {
    room = await openRoom({ twin: { ackTimeoutMs: 500 } });
    room.twin.fault({ method: "users.info", error: "internal_error", times: 2 });
    const { ts } = await room.twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> go" });
    await room.twin.waitFor(() => room.events().includes(threadKey("C1", ts)));
    expect(room.trace.told.some((each) => each.event === "slack.not-kept")).toBe(true);
    expect(room.arrived.every((inbound) => inbound.by.kind === "member")).toBe(true);
  });

  it("is asked once for many messages", async () => {
    room = await openRoom();
    for (let index = 0; index < 5; index++) await room.twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> go" });
    await room.twin.waitFor(() => room.events().length === 5);
    expect(room.twin.calls("users.info")).toHaveLength(1);
  });

  it("does not keep a message away when only a mentioned name cannot be looked up", async () => {
    room = await openRoom();
    await room.twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> go" });
    await room.twin.waitFor(() => room.events().length === 1);
    room.twin.fault({ method: "users.info", error: "internal_error", times: 2 });
    await room.twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> ask <@U2>" });
    await room.twin.waitFor(() => room.events().length === 2);
    expect(room.arrived.at(-1)).toMatchObject({ text: "ask @U2" });
  });
});
