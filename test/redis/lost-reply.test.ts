import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Log } from "../../src/core/log.ts";
import { redisLog } from "../../src/redis/log.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { ANNA, arrival, asked, newThread, note } from "../contracts/log-doors.ts";
import { type LossyProxy, type TestRedis, keptTrace, lossyProxy, startRedis, until } from "../support/redis.ts";

let server: TestRedis;
let proxy: LossyProxy;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server.stop();
});

describe("a reply of Redis that is lost, and a command that is sent again", () => {
  let log: Log;
  let lossy: Log;
  beforeEach(async () => {
    proxy = await lossyProxy(server.port);
    log = redisLog({ url: server.url, trace: keptTrace() });
    lossy = redisLog({ url: proxy.url, trace: keptTrace() });
    await lossy.marked("connected");
  });
  afterEach(async () => {
    await Promise.all([log.close(), lossy.close()]);
    await proxy.stop();
  });

  async function takenOver(): Promise<{ conversation: string; epoch: number }> {
    const conversation = newThread();
    await log.ingest(arrival(conversation, "do it"));
    await log.mark("lock", "token");
    const taken = await log.takeover(conversation, { key: "{dh}:mark:lock", token: "token" });
    return { conversation, epoch: taken.kind === "taken" ? taken.epoch : 0 };
  }

  it("an append is in the log once", async () => {
    const { conversation, epoch } = await takenOver();
    for (let i = 0; i < 10; i++) {
      proxy.loseReplyTo(`op-${i}`);
      const appended = await lossy.append(conversation, epoch, `op-${i}`, 2000, [note(`a${i}`), note(`b${i}`)]);
      expect(appended).toMatchObject({ kind: "appended", entries: [{ seq: 3 + 2 * i }, { seq: 4 + 2 * i }] });
    }
    expect(proxy.lost()).toBe(10);
    expect(await log.read(conversation, 2)).toHaveLength(20);
  });

  it("appends that were under way together are in the log once each", async () => {
    const { conversation, epoch } = await takenOver();
    proxy.loseReplyTo("op-0");
    const ops = Array.from({ length: 8 }, (_, i) => lossy.append(conversation, epoch, `op-${i}`, 2000, [note(String(i))]));
    expect(await Promise.all(ops)).toHaveLength(8);
    expect(proxy.lost()).toBe(1);
    expect(await log.read(conversation, 2)).toHaveLength(8);
  });

  it("an arrival is kept once and answered as a duplicate", async () => {
    const conversation = newThread();
    const record = arrival(conversation, "once");
    proxy.loseReplyTo(record.event);
    expect(await lossy.ingest(record)).toEqual({ kind: "duplicate" });
    expect(proxy.lost()).toBe(1);
    expect(await log.read(conversation, 0)).toHaveLength(2);
  });

  it("a press is decided once, and its own winner is told that his decision stands", async () => {
    const { conversation, epoch } = await takenOver();
    await log.append(conversation, epoch, "ask", 2000, [asked("lost-press")]);
    proxy.loseReplyTo("approval-decided");
    expect(await lossy.decide("lost-press", 2100, { decision: "approved", by: ANNA })).toMatchObject({
      kind: "already",
      entry: { by: { key: ANNA.key }, decision: "approved", at: 2100 },
    });
    expect(proxy.lost()).toBe(1);
    expect(await log.read(conversation, 3)).toHaveLength(1);
  });

  it("a wake is rung", async () => {
    const queue = bullQueue({ url: proxy.url, trace: keptTrace(), lockMs: 2000, stalledMs: 500 });
    const conversation = newThread();
    const seen: string[] = [];
    await queue.wake(newThread(), "lossy");
    proxy.loseReplyTo(conversation);
    await queue.wake(conversation, "lossy");
    expect(proxy.lost()).toBe(1);
    await queue.serve(["lossy"], async (wake) => void seen.push(wake.conversation));
    await until("it was rung", () => seen.includes(conversation));
    await queue.close();
    expect(seen.filter((each) => each === conversation)).toHaveLength(1);
  });
});
