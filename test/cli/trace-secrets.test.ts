import { afterAll, beforeAll, expect, test } from "vitest";
import type { NewEntry } from "../../src/core/entry.ts";
import { redisLog } from "../../src/redis/log.ts";
import { ann } from "../support/random-log.ts";
import { type TestRedis, startRedis } from "../support/redis.ts";
import { noise, TOKENS } from "../support/secrets.ts";
import { deckhand } from "./kit.ts";

const conversation = "slack:T1:C1:1.1";
const KNOWN = `local-key-${noise(20)}`;
const SECRETS = [KNOWN, ...TOKENS.map(([, token]) => token)];
let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis();
  const log = redisLog({ url: redis.url, trace: { info: () => {}, warn: () => {}, error: () => {} } });
  const opened = { type: "opened", platform: "slack", thread: conversation, channel: "slack:C1", workspace: "api" } as const;
  const entry = { type: "message", event: "e1", by: ann, text: `use ${KNOWN}`, to: "bot" } as const;
  await log.ingest({ conversation, event: "e1", at: 1000, opened, entry, wakes: true });
  await log.mark("lock", "token");
  const taken = await log.takeover(conversation, { key: "{dh}:mark:lock", token: "token" });
  if (taken.kind !== "taken") throw new Error("the log is not ours");
  const usage = { prompt: null, completion: null, cached: null };
  // A place in each line at which it is shortened.
  const command = `${"x".repeat(130)} ${SECRETS.join(" ")}`;
  const calls = [{ id: "a", name: "bash", args: { command }, raw: JSON.stringify({ command }) }];
  const news: NewEntry[] = [
    { type: "model", read: 2, text: command, calls, finish: "calls", usage, model: "m", ms: 1, tries: 1 },
    { type: "judged", call: "a", verdict: "auto", reasons: [{ code: "x", text: command }], rule: "r", title: command },
    { type: "run-ended", call: "a", how: "exited", exit: 0, output: { text: command, bytes: 9, omitted: 0 }, ms: 1 },
    { type: "final", text: command, answers: [2], reason: "answer" },
  ];
  await log.append(conversation, taken.epoch, "op", 2000, news);
  await log.close();
});

afterAll(() => redis.stop());

test.each([[[]], [["--json"]]])("deckhand trace %j shows no secret and no half of one", async (flags) => {
  const { code, stdout } = await deckhand(["trace", conversation, ...flags], { env: { REDIS_URL: redis.url, OPENAI_API_KEY: KNOWN } });
  expect(code).toBe(0);
  expect(stdout).toContain("use [secret]");
  for (const secret of SECRETS) {
    for (let at = Math.max(10, secret.lastIndexOf("/") + 1); at + 8 <= secret.length; at += 1)
      expect(stdout).not.toContain(secret.slice(at, at + 8));
  }
});
