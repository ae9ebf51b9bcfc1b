import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Log } from "../../src/core/log.ts";
import type { Wake } from "../../src/core/ports.ts";
import { redisLog } from "../../src/redis/log.ts";
import { type NearBell, nearBell } from "../../src/redis/near.ts";
import { arrival, newThread } from "../contracts/log-doors.ts";
import { type TestRedis, keptTrace, startRedis, until } from "../support/redis.ts";

const LOCK_MS = 1_000;

describe("the bell of a gateway's own threads", () => {
  let server: TestRedis;
  let log: Log;
  const opened: NearBell[] = [];
  /** What was given to the bell of all. */
  let far: string[];
  beforeAll(async () => {
    server = await startRedis();
    log = redisLog({ url: server.url, trace: keptTrace() });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((bell) => bell.close()));
  });
  afterAll(async () => {
    await log.close();
    await server.stop();
  });

  function gateway(handler: (wake: Wake) => Promise<void>): NearBell {
    far = [];
    const bell = nearBell({ log, trace: keptTrace(), far: { wakePosts: async (of) => void far.push(of) }, lockMs: LOCK_MS });
    opened.push(bell);
    bell.serve(handler);
    return bell;
  }

  async function newConversation(): Promise<string> {
    const conversation = newThread();
    await log.ingest(arrival(conversation, "hello"));
    return conversation;
  }

  it("sees what was asked of the log just before it was rung", async () => {
    const conversation = newThread();
    const seen = Promise.withResolvers<unknown>();
    const bell = gateway(async ({ lock }) => {
      seen.resolve(await Promise.all([log.takePosts(conversation, lock), log.read(conversation, 0)]));
    });
    const kept = log.ingest(arrival(conversation, "hello"));
    bell.ring(conversation);
    expect(await seen.promise).toMatchObject([{ epoch: 1 }, [{ seq: 1 }, { seq: 2 }]]);
    await kept;
  });

  it("looks at a thread once at a time, and once more when it is rung meanwhile, however often", async () => {
    const end = Promise.withResolvers<void>();
    let [runs, atOnce] = [0, 0];
    const bell = gateway(async () => {
      runs += 1;
      atOnce += 1;
      expect(atOnce).toBe(1);
      await end.promise;
      atOnce -= 1;
    });
    const conversation = await newConversation();
    const first = bell.answer(conversation);
    const more = [1, 2, 3].map(() => bell.answer(conversation));
    end.resolve();
    await Promise.all([first, ...more]);
    expect(runs).toBe(2);
  });

  it("leaves a thread that another gateway has, which sees what has come meanwhile before it lets go", async () => {
    const conversation = await newConversation();
    const [taken, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const settled: string[] = [];
    const holder = gateway(async ({ lock }) => {
      const claim = await log.takePosts(conversation, lock);
      taken.resolve();
      await goOn.promise;
      for (const seq of [2, 3]) settled.push(await log.settlePosts(conversation, claim?.epoch ?? 0, seq, { lock }));
    });
    let claims: unknown[] = [];
    const other = gateway(async ({ lock }) => void claims.push(await log.takePosts(conversation, lock)));
    const held = holder.answer(conversation);
    await taken.promise;
    await log.ingest(arrival(conversation, "and this"));
    await other.answer(conversation);
    expect(claims).toEqual([null]);
    goOn.resolve();
    await held;
    expect(settled).toEqual(["more", "settled"]);
    claims = [];
    await other.answer(conversation);
    expect(claims).toMatchObject([{ epoch: 2 }]);
  });

  it("keeps its lock as long as it looks, and takes over when that of a gateway that died has run out", async () => {
    const conversation = await newConversation();
    const other = { key: `{dh}:lease:post:${conversation}`, token: "another", lasts: LOCK_MS };
    await log.takePosts(conversation, other);
    const [taken, end] = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<void>()];
    const bell = gateway(async ({ lock, signal }) => {
      if (!(await log.takePosts(conversation, lock))) return;
      taken.resolve(signal);
      await end.promise;
    });
    const ringing = setInterval(() => bell.ring(conversation), 50);
    const signal = await taken.promise;
    clearInterval(ringing);
    const since = performance.now();
    await until("two locks' time has passed", async () => {
      expect(await log.takePosts(conversation, other)).toBeNull();
      return performance.now() - since > 2 * LOCK_MS;
    });
    expect(signal.aborted).toBe(false);
    end.resolve();
  });

  it("gives what it could not do to the bell of all", async () => {
    const bell = gateway(async () => {
      throw new Error("no luck");
    });
    bell.ring("slack:T1:C1:9.9");
    await until("it is rung there", () => far.length === 1);
    expect(far).toEqual(["slack:T1:C1:9.9"]);
  });

  it("finishes what is due when it is closed, and begins nothing after that", async () => {
    const seen: string[] = [];
    const bell = gateway(async ({ conversation }) => void seen.push(conversation));
    bell.ring("slack:T1:C1:1.1");
    await bell.close();
    bell.ring("slack:T1:C1:2.2");
    expect(seen).toEqual(["slack:T1:C1:1.1"]);
  });
});
