import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type SlackTwin, startSlackTwin } from "../../../src/twin/slack/twin.ts";
import { type Marks, type Room, furnish, memoryMarks, openRoom, realClock, threadKey } from "./kit.ts";

/** Slack gives up after one quick retry: what is said while nobody listens is never delivered. */
const RETRIES = [20];

let twin: SlackTwin;
let log: Marks;
let room: Room | undefined;
beforeEach(async () => {
  twin = await startSlackTwin({ retryDelaysMs: RETRIES, ackTimeoutMs: 500, limits: false });
  furnish(twin);
  log = memoryMarks();
});
afterEach(async () => {
  await room?.close();
  await twin.close();
});

const seen = "slack:seen:C1";
const say = (text: string, thread?: string): Promise<{ ts: string }> =>
  twin.say({ channel: "C1", user: "U1", text, ...(thread && { thread }) });
const allLost = (): Promise<boolean> => twin.waitFor(() => twin.events().every((event) => event.acked || event.lost));

async function connect(): Promise<Room> {
  room = await openRoom({ reuse: twin, log });
  return room;
}

/** Connects, so that the marks are set, and goes away again. */
async function connectOnce(before: (room: Room) => Promise<void> = async () => undefined): Promise<void> {
  const first = await connect();
  await twin.waitFor(() => log.marks.has(seen));
  await before(first);
  await first.close();
  room = undefined;
}

const backfilled = (in_: Room): Promise<boolean> => twin.waitFor(() => in_.trace.told.some((each) => each.event === "slack.backfilled"));

describe("after an absence longer than Slack's retries", () => {
  it("a mention in a configured channel is heard, under the id that it always had", async () => {
    await connectOnce();
    const { ts } = await say("<@U0BOT> are you `there > here`?");
    await allLost();
    const back = await connect();
    await twin.waitFor(() => back.arrived.length > 0);
    expect(back.arrived).toMatchObject([
      { kind: "mention", event: threadKey("C1", ts), text: "are you `there > here`?", by: { name: "Ada" } },
    ]);
  });

  it("replies in open threads are heard in order, also mentions in threads that were none of ours", async () => {
    const roots: string[] = [];
    await connectOnce(async () => {
      for (const text of ["<@U0BOT> go", "lunch?"]) roots.push((await say(text)).ts);
      await allLost();
    });
    log.threads.push(threadKey("C1", roots[0] as string), "discord:1:2");
    const said = [await say("first", roots[0]), await say("<@U0BOT> second", roots[1]), await say("third", roots[0])].map(({ ts }) =>
      threadKey("C1", ts),
    );
    await allLost();
    const back = await connect();
    await backfilled(back);
    expect(back.events().filter((event) => said.includes(event))).toEqual(said);
  });

  it("open threads of channels that are not configured are looked through too", async () => {
    twin.addChannel({ id: "C2", name: "random" });
    await connectOnce();
    const root = await twin.say({ channel: "C2", user: "U1", text: "<@U0BOT> go" });
    const { ts } = await twin.say({ channel: "C2", user: "U1", text: "and then", thread: root.ts });
    await allLost();
    log.threads.push(threadKey("C2", root.ts));
    const back = await connect();
    await twin.waitFor(() => back.events().includes(threadKey("C2", ts)));
  });

  it("all pages of a busy channel are read", async () => {
    await connectOnce();
    const { ts } = await say("<@U0BOT> first");
    for (let index = 0; index < 450; index++) await say(`chatter ${index}`);
    await allLost();
    const back = await connect();
    await twin.waitFor(() => back.events().includes(threadKey("C1", ts)));
  });

  it("nothing from before the first start is heard", async () => {
    await say("<@U0BOT> long ago");
    await allLost();
    const first = await connect();
    await backfilled(first);
    expect(first.arrived).toEqual([]);
    expect(Number(log.marks.get(seen)) * 1000).toBeGreaterThan(Date.now() - 60_000);
  });
});

describe("the mark of a channel", () => {
  it("that lies ahead, because our clock was wrong, hides nothing", async () => {
    await connectOnce();
    log.marks.set(seen, String(Date.now() / 1000 + 3_600));
    const { ts } = await say("<@U0BOT> go");
    await allLost();
    const back = await connect();
    await twin.waitFor(() => back.events().includes(threadKey("C1", ts)));
    await twin.waitFor(() => Number(log.marks.get(seen)) < Date.now() / 1000 + 60);
  });

  it("does not move before everything missed was kept; the look is repeated until then", async () => {
    await connectOnce();
    const mark = log.marks.get(seen);
    const { ts } = await say("<@U0BOT> go");
    await allLost();
    const back = await openRoom({ reuse: twin, log, started: false });
    room = back;
    let refusals = 2;
    await back.chat.start(async (inbound) => {
      refusals -= 1;
      if (refusals < 0) back.arrived.push(inbound);
      else throw new Error("redis is away");
      return {};
    });
    await twin.waitFor(() => back.trace.told.some((each) => each.event === "slack.backfill-failed"));
    expect(log.marks.get(seen)).toBe(mark);
    await twin.waitFor(() => back.events().includes(threadKey("C1", ts)));
    await twin.waitFor(() => log.marks.get(seen) !== mark);
  });

  it("stays usable when Slack limits the look or a channel is gone", async () => {
    twin.addChannel({ id: "C9", name: "gone", botIsMember: false });
    room = await openRoom({ reuse: twin, log, watch: ["slack:C9", "slack:C1"] });
    await twin.waitFor(() => log.marks.has(seen));
    await room.close();
    const { ts } = await say("<@U0BOT> go");
    await allLost();
    twin.fault({ method: "conversations.history", status: 429, headers: { "retry-after": "1" } });
    room = await openRoom({ reuse: twin, log, watch: ["slack:C9", "slack:C1"] });
    const back = room;
    await twin.waitFor(() => back.events().includes(threadKey("C1", ts)));
  });
});

describe("while connected", () => {
  it("a gap in which no socket was open is looked through", async () => {
    const live = await connect();
    await twin.waitFor(() => log.marks.has(seen));
    twin.fault({ method: "apps.connections.open", status: 503, times: 4 });
    twin.dropSockets();
    await twin.waitFor(() => twin.sockets() === 0);
    const { ts } = await say("<@U0BOT> anybody?");
    await twin.waitFor(() => live.events().includes(threadKey("C1", ts)), 30_000);
  });

  it("an event that Slack has given up on, because we could not keep it, is looked for", async () => {
    const live = await connect();
    await twin.waitFor(() => log.marks.has(seen));
    let away = true;
    live.onArrive(async () => {
      if (away) throw new Error("redis is away");
      return {};
    });
    const { ts } = await say("<@U0BOT> go");
    await allLost();
    expect(twin.events().every((event) => event.lost)).toBe(true);
    away = false;
    await realClock.sleep(0);
    await twin.waitFor(() => live.events().includes(threadKey("C1", ts)), 30_000);
  }, 40_000);
});
