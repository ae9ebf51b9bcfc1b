import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Hands } from "../../src/core/hands.ts";
import type { Log } from "../../src/core/log.ts";
import { turn } from "../../src/core/turn.ts";
import { redisLog } from "../../src/redis/log.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { systemClock } from "../../src/system.ts";
import { arrival, newThread } from "../contracts/log-doors.ts";
import { handsOf } from "../support/guarded.ts";
import { type TestRedis, keptTrace, startRedis, until } from "../support/redis.ts";

/** Messages that come in the very moment in which a worker is done with a conversation. */

/** A worker that answers everything and runs nothing. */
function answering(log: Log): Hands {
  return handsOf({ answers: () => "say answered" }, { log, clock: systemClock, trace: keptTrace(), requests: [] });
}

describe("a message that comes", () => {
  let server: TestRedis;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    await client.quit();
    await server.stop();
  });

  it.each([
    ["right before a worker settles", ["before"]],
    ["right after that, before BullMQ knows that the job is done", ["after"]],
    ["before and after that", ["before", "after"]],
  ] as const)("%s is answered, each once and in order", async (_when, moments) => {
    const log = redisLog({ url: server.url, trace: keptTrace() });
    const queue = bullQueue({ url: server.url, trace: keptTrace(), lockMs: 2000, stalledMs: 500 });
    const [workspace, conversation] = [`settle-${moments.join("-")}`, newThread()];
    const left = new Set<string>(moments);
    const say = async (text: string): Promise<void> => {
      await log.ingest(arrival(conversation, text));
      await queue.wake(conversation, workspace);
    };
    const racing: Log = {
      ...log,
      async settle(...args) {
        if (left.delete("before")) await say("before");
        const settled = await log.settle(...args);
        if (settled === "settled" && left.delete("after")) await say("after");
        return settled;
      },
    };
    await queue.serve([workspace], (wake) => turn(wake, answering(racing)));
    await say("first");
    const entries = () => log.read(conversation, 0);
    const answered = async () => (await entries()).flatMap((entry) => (entry.type === "final" ? entry.answers : []));
    await until("all are answered", async () => (await answered()).length >= 1 + moments.length);
    await until("nothing is left to do", async () => (await log.dirtySince(Date.now() + 60_000)).length === 0);
    await until("no job is left", async () => (await client.llen(`{dh}:wake-${workspace}:active`)) === 0);
    const messages = (await entries()).flatMap((entry) => (entry.type === "message" ? [entry.seq] : []));
    expect(await answered()).toEqual(messages);
    expect(await client.llen(`{dh}:wake-${workspace}:wait`)).toBe(0);
    await queue.close();
    await log.close();
  });
});
