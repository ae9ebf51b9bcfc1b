import { afterAll, beforeAll, expect, test } from "vitest";
import type { NewEntry } from "../../src/core/entry.ts";
import type { Log } from "../../src/core/log.ts";
import { redisLog } from "../../src/redis/log.ts";
import { takenOver } from "../contracts/log-doors.ts";
import { type TestRedis, keptTrace, startRedis } from "../support/redis.ts";
import { type Ended, deckhand } from "./kit.ts";

let redis: TestRedis;
let log: Log;
let conversation: string;
const retry = (...args: string[]): Promise<Ended> => deckhand(["retry", ...args], { env: { REDIS_URL: redis.url } });

beforeAll(async () => {
  redis = await startRedis();
  log = redisLog({ url: redis.url, trace: keptTrace() });
  async function heldLock() {
    await log.mark("lock", "token");
    return { key: "{dh}:mark:lock", token: "token" };
  }
  const taken = await takenOver({ log, heldLock, lostLock: () => Promise.reject(new Error("not used")), close: () => log.close() });
  conversation = taken.conversation;
  const parked: NewEntry = { type: "failed", code: "CONVERSATION_PARKED", text: "set aside", answers: [], parked: true };
  await log.append(conversation, taken.epoch, "park", 1100, [parked]);
});
afterAll(async () => {
  await log.close();
  await redis.stop();
});

test("lets a parked conversation go on, once, and says when nobody is there to do it", async () => {
  expect(await retry(conversation)).toEqual({
    code: 0,
    stdout: `${conversation} goes on as soon as a worker serves the workspace "w".\n`,
    stderr: "",
  });
  expect((await log.read(conversation, 0)).at(-1)).toMatchObject({ type: "retried", parent: 3, by: { key: "deckhand", name: "operator" } });
  expect(await log.dirtySince(Date.now())).toEqual([{ conversation, workspace: "w" }]);
  expect(await retry(conversation)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `${conversation} is not parked. Nothing to do: what is asked there is worked on as always. (CONVERSATION_GOES_ON)\n`,
  });
});

test.each([
  ["a conversation that there is not", ["slack:T9:C9:1.1"], /There is no conversation slack:T9:C9:1\.1\. .*\(BAD_CONVERSATION\)/],
  ["what is no name of one", ["C1"], /\(BAD_CONVERSATION\)/],
  ["nothing", [], /takes one conversation, such as slack:.*\(BAD_INPUT\)/],
  ["two", ["slack:T1:C1:1.1", "slack:T1:C1:2.2"], /takes one conversation/],
  ["an option", ["--all"], /Unknown option '--all'/],
])("%s is a usage error: exit 2, and why", async (_what, args, words) => {
  const { code, stdout, stderr } = await retry(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(words);
});

test("without Redis nothing is done: exit 3", async () => {
  const { code, stderr } = await deckhand(["retry", conversation], { env: { REDIS_URL: "redis://127.0.0.1:1" } });
  expect(code).toBe(3);
  expect(stderr).toContain("(REDIS_DOWN)");
});
