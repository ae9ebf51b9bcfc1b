import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Learned } from "../../src/core/ports.ts";
import { LIMITS } from "../../src/limits.ts";
import { memoryLearned } from "../../src/model/learned.ts";
import { redisLearned } from "../../src/redis/learned.ts";
import { logTrace } from "../../src/system.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const kinds: { name: string; make: () => Learned }[] = [
  { name: "memoryLearned", make: memoryLearned },
  { name: "redisLearned", make: () => redisLearned({ url: redis.url, trace: logTrace("silent", []) }) },
];

describe.each(kinds)("the Learned port: $name", ({ make }) => {
  const of = "gpt-5 at api.openai.com";

  test("keeps one fact a name, for the model and endpoint that it is of", async () => {
    const learned = make();
    expect(await learned.read(of, 1_000)).toEqual([]);
    await learned.note(of, { name: "api", value: "chat", reason: "so", at: 1_000 });
    await learned.note(of, { name: "api", value: "responses", reason: "no", at: 2_000 });
    await learned.note("gpt-5 at api.openai.com.evil.example", { name: "images", value: "left out", reason: "no", at: 2_000 });
    expect(await learned.read(of, 3_000)).toEqual([{ name: "api", value: "responses", reason: "no", at: 2_000 }]);
  });

  test("forgets one fact when it is told to", async () => {
    const learned = make();
    for (const name of ["api", "images"]) await learned.note("one", { name, value: "x", reason: "so", at: 1_000 });
    await learned.forget("one", "api");
    await learned.forget("one", "nothing of that name");
    expect((await learned.read("one", 1_000)).map(({ name }) => name)).toEqual(["images"]);
  });

  test("forgets what is old: servers are updated", async () => {
    const learned = make();
    await learned.note("old one", { name: "images", value: "left out", reason: "no", at: 1_000 });
    expect(await learned.read("old one", 1_000 + LIMITS.learnedTime)).toHaveLength(1);
    expect(await learned.read("old one", 1_001 + LIMITS.learnedTime)).toEqual([]);
  });
});
