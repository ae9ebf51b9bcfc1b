import { afterEach, describe, expect, it } from "vitest";
import { startSlackTwin } from "../../../src/twin/slack/twin.ts";
import { type Room, furnish, openRoom, realClock, threadKey } from "./kit.ts";

let room: Room;
afterEach(async () => room.close());

/** Mentions at a steady pace while `disturb` happens; resolves when all were heard. */
async function mentionsAcross(disturb: () => void): Promise<string[]> {
  const said: string[] = [];
  for (let index = 0; index < 40; index++) {
    if (index === 10) disturb();
    const { ts } = await room.twin.say({ channel: "C1", user: "U1", text: `<@U0BOT> number ${index}` });
    said.push(threadKey("C1", ts));
    await realClock.sleep(10);
  }
  await room.twin.waitFor(() => said.every((event) => room.events().includes(event)));
  return said;
}

const back = (): Promise<boolean> => room.twin.waitFor(() => room.twin.sockets() === 2);
const heardAfter = async (): Promise<void> => {
  const { ts } = await room.twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> still there?" });
  await room.twin.waitFor(() => room.events().includes(threadKey("C1", ts)));
};
const told = (event: string): boolean => room.trace.told.some((each) => each.event === event);

describe("two sockets", () => {
  it("lose nothing while Slack refreshes one", async () => {
    room = await openRoom();
    const said = await mentionsAcross(() => room.twin.disconnect("refresh_requested", 1));
    expect(room.events().toSorted()).toEqual(said.toSorted());
    await back();
  });

  it("lose nothing while one is cut without a word", async () => {
    room = await openRoom();
    const said = await mentionsAcross(() => room.twin.dropSockets(1));
    expect(room.events().toSorted()).toEqual(said.toSorted());
    await back();
  });

  it("come back when both are cut, and what was missed is heard", async () => {
    room = await openRoom();
    await mentionsAcross(() => room.twin.dropSockets());
    await back();
  });
});

describe("what ends a process with socket-mode alone", () => {
  it("survives an envelope without an event (app_rate_limited), and acknowledges it", async () => {
    room = await openRoom();
    expect(await room.twin.rateLimitEvents()).toMatchObject({ acked: true });
    expect(told("slack.events-left-out")).toBe(true);
    expect(room.twin.sockets()).toBe(2);
    await heardAfter();
  });

  it("survives invalid_auth at a reconnect", async () => {
    room = await openRoom();
    room.twin.fault({ method: "apps.connections.open", error: "invalid_auth", times: 3 });
    room.twin.dropSockets();
    await room.twin.waitFor(() => told("slack.socket-failed"));
    await back();
    await heardAfter();
  });

  it("survives HTTP 500 at a reconnect", async () => {
    room = await openRoom();
    room.twin.fault({ method: "apps.connections.open", status: 500, times: 3 });
    room.twin.dropSockets();
    await room.twin.waitFor(() => told("slack.socket-failed"));
    await back();
    await heardAfter();
  });

  it("waits out a 429 at a reconnect", async () => {
    room = await openRoom();
    room.twin.fault({ method: "apps.connections.open", status: 429, headers: { "retry-after": "1" }, times: 2 });
    room.twin.dropSockets();
    await room.twin.waitFor(() => told("slack.socket-failed"));
    await back();
    await heardAfter();
  });
});

describe("starting", () => {
  it("rejects with SLACK_AUTH when Slack refuses the bot token", async () => {
    room = await openRoom({ started: false });
    room.twin.fault({ method: "auth.test", error: "invalid_auth" });
    await expect(room.chat.start(async () => ({}))).rejects.toMatchObject({ code: "SLACK_AUTH" });
  });

  it("rejects with SLACK_AUTH when Slack refuses the app token", async () => {
    room = await openRoom({ started: false });
    room.twin.fault({ method: "apps.connections.open", error: "invalid_auth", times: 9 });
    await expect(room.chat.start(async () => ({}))).rejects.toMatchObject({ code: "SLACK_AUTH" });
    expect(room.twin.sockets()).toBe(0);
  });

  it("waits for a Slack that is down", async () => {
    room = await openRoom({ started: false });
    room.twin.fault({ method: "auth.test", status: 503 });
    room.twin.fault({ method: "apps.connections.open", status: 503, times: 2 });
    await room.chat.start(async () => ({}));
    expect(told("slack.down")).toBe(true);
    expect(room.twin.sockets()).toBeGreaterThan(0);
  });

  it("can be stopped while Slack is down", async () => {
    room = await openRoom({ started: false });
    room.twin.fault({ method: "auth.test", status: 503, times: 99 });
    const starting = room.chat.start(async () => ({}));
    await room.twin.waitFor(() => told("slack.down"));
    await room.chat.stop();
    await starting;
  });
});

describe("stopping", () => {
  it("finishes what is under way, tells Slack, and leaves no socket", async () => {
    const twin = await startSlackTwin({ retryDelaysMs: [50, 200, 500] });
    furnish(twin);
    try {
      room = await openRoom({ reuse: twin });
      const gate = Promise.withResolvers<void>();
      let waiting = 0;
      room.onArrive(async () => {
        waiting += 1;
        await gate.promise;
        return {};
      });
      await twin.say({ channel: "C1", user: "U1", text: "<@U0BOT> go" });
      await twin.waitFor(() => waiting > 0);
      // Slack sends the same twice: the other one has come by then.
      await realClock.sleep(300);
      const stopping = room.chat.stop();
      gate.resolve();
      await stopping;
      await twin.waitFor(() => twin.sockets() === 0);
      expect(twin.events().every((event) => event.acked)).toBe(true);
    } finally {
      await room.close();
      await twin.close();
    }
  });
});
