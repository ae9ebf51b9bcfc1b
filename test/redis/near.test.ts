import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Wake } from "../../src/core/ports.ts";
import { LIMITS } from "../../src/limits.ts";
import { redisLog } from "../../src/redis/log.ts";
import { type NearBell, nearBell } from "../../src/redis/near.ts";
import { arrival, newThread } from "../contracts/log-doors.ts";
import { type TestRedis, keptTrace, startRedis, until } from "../support/redis.ts";

const LOCK_MS = 1_000;

describe("the bell of a gateway's own threads", () => {
  let server: TestRedis;
  let log: ReturnType<typeof redisLog>;
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

  it("has a thread looked at again when the lock of another, who may be dead, has run out; a thread of nobody never", async () => {
    const [conversation, unknown] = [await newConversation(), newThread()];
    const dead = (of: string) => ({ key: `{dh}:lease:post:${of}`, token: "dead", lasts: LOCK_MS });
    await log.takePosts(conversation, dead(conversation));
    for (const of of [conversation, unknown]) expect(await log.takePosts(of, { ...dead(of), token: "living" })).toBeNull();
    const now = Date.now();
    const due = await log.takeDuePosts(now + LOCK_MS);
    expect([due.includes(conversation), due.includes(unknown)]).toEqual([true, false]);
    await log.postAt(conversation, now - 1);
    expect(await log.takePosts(conversation, { ...dead(conversation), token: "living" })).toBeNull();
    // What is due sooner stays so.
    expect(await log.takeDuePosts(now)).toEqual([conversation]);
  });

  it("does not take its lock anew when that was given back, or has run out", async () => {
    const conversation = await newConversation();
    const bell = gateway(async ({ lock, signal }) => {
      const claim = await log.takePosts(conversation, lock);
      expect(await log.settlePosts(conversation, claim?.epoch ?? 0, 2, { lock })).toBe("settled");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      expect(await log.takePosts(conversation, { ...lock, token: "another" })).not.toBeNull();
    });
    bell.ring(conversation);
    await until("what was cut short is rung for", () => far.includes(conversation));
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

  it("gives what it has no time for any more to the bell of all: what it looks at, what waits, and what is rung after", async () => {
    const begun: string[] = [];
    const bell = gateway(async ({ conversation, leaving }) => {
      begun.push(conversation);
      await new Promise((resolve) => leaving?.addEventListener("abort", resolve));
    });
    const names = Array.from({ length: LIMITS.postsAtOnce + 1 }, (_, index) => `slack:T1:C1:${index}.1`);
    for (const name of names) bell.ring(name);
    const job = bell.answer("slack:T1:C1:0.1").catch((thrown: unknown) => thrown);
    await bell.close();
    expect(far.toSorted()).toEqual(names.toSorted());
    expect(begun).toHaveLength(LIMITS.postsAtOnce);
    expect(await job).toBeInstanceOf(Error);
    bell.ring("slack:T1:C1:9.9");
    await until("it is rung there", () => far.includes("slack:T1:C1:9.9"));
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
