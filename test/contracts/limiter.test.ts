import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bucket, Limiter } from "../../src/core/ports.ts";
import { memoryLimiter } from "../../src/memory-queue.ts";
import { redisLog } from "../../src/redis/log.ts";
import { keptTrace, startRedis } from "../support/redis.ts";

const LIMITERS: [name: string, open: () => Promise<{ limiter: Limiter; close: () => Promise<void> }>][] = [
  ["memory", async () => ({ limiter: memoryLimiter(), close: async () => {} })],
  [
    "redis",
    async () => {
      const server = await startRedis();
      const log = redisLog({ url: server.url, trace: keptTrace() });
      const close = async () => {
        await log.close();
        await server.stop();
      };
      return { limiter: log.limiter, close };
    },
  ],
];

let names = 0;
const bucket = (burst: number, perSecond: number): Bucket => ({ name: `slack:C1:${++names}`, burst, perSecond });
const T = 1_700_000_000_000;

describe.each(LIMITERS)("the limiter in %s", (_name, open) => {
  let limiter: Limiter;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ limiter, close } = await open());
  });
  afterAll(async () => {
    await close();
  });

  it("lets a burst through and then says when to come again", async () => {
    const b = bucket(3, 2);
    for (let i = 0; i < 3; i++) expect(await limiter.take([b], T)).toEqual({ waitMs: 0 });
    expect(await limiter.take([b], T)).toEqual({ waitMs: 500 });
    expect(await limiter.take([b], T + 250)).toEqual({ waitMs: 250 });
    expect(await limiter.take([b], T + 500)).toEqual({ waitMs: 0 });
  });

  it("fills up to the burst and no further", async () => {
    const b = bucket(2, 1);
    await limiter.take([b], T);
    const later = T + 3_600_000;
    expect(await limiter.take([b], later)).toEqual({ waitMs: 0 });
    expect(await limiter.take([b], later)).toEqual({ waitMs: 0 });
    expect(await limiter.take([b], later)).toEqual({ waitMs: 1000 });
  });

  it("leaves what is to be kept to those who keep less, and says when there is more than that", async () => {
    const b = bucket(4, 2);
    const last = { ...b, keep: 0 };
    const modest = { ...b, keep: 2 };
    for (let i = 0; i < 2; i++) expect(await limiter.take([modest], T)).toEqual({ waitMs: 0 });
    expect(await limiter.take([modest], T)).toEqual({ waitMs: 500 });
    for (let i = 0; i < 2; i++) expect(await limiter.take([last], T)).toEqual({ waitMs: 0 });
    expect(await limiter.take([modest], T)).toEqual({ waitMs: 1500 });
    expect(await limiter.take([last], T + 500)).toEqual({ waitMs: 0 });
    expect(await limiter.take([modest], T + 2000)).toEqual({ waitMs: 0 });
  });

  it("takes nothing anywhere when one bucket has only what is to be kept", async () => {
    const [open, kept] = [bucket(1, 1), { ...bucket(2, 1), keep: 1 }];
    await limiter.take([kept], T);
    expect(await limiter.take([open, kept], T)).toEqual({ waitMs: 1000 });
    expect(await limiter.take([open], T)).toEqual({ waitMs: 0 });
  });

  it("shuts nobody out: a full bucket lets everybody pass, however much is to be kept", async () => {
    const b = { ...bucket(2, 1), keep: 9 };
    expect(await limiter.take([b], T)).toEqual({ waitMs: 0 });
    expect(await limiter.take([b], T)).toEqual({ waitMs: 1000 });
  });

  it("takes from every bucket or from none", async () => {
    const [plenty, scarce] = [bucket(2, 1), bucket(1, 0.1)];
    expect(await limiter.take([plenty, scarce], T)).toEqual({ waitMs: 0 });
    expect(await limiter.take([plenty, scarce], T)).toEqual({ waitMs: 10_000 });
    expect(await limiter.take([plenty], T)).toEqual({ waitMs: 0 });
    expect(await limiter.take([plenty], T)).toEqual({ waitMs: 1000 });
  });

  it("gives a hundred takers at once no more than there is", async () => {
    const b = bucket(10, 1);
    const taken = await Promise.all(Array.from({ length: 100 }, () => limiter.take([b], T)));
    expect(taken.filter(({ waitMs }) => waitMs === 0)).toHaveLength(10);
  });

  it("lets nothing pass a blocked bucket before its time", async () => {
    const b = bucket(5, 1);
    await limiter.block(b.name, T + 30_000);
    await limiter.block(b.name, T + 10_000);
    expect(await limiter.take([b], T)).toEqual({ waitMs: 30_000 });
    expect(await limiter.take([bucket(5, 1), b], T + 29_999)).toEqual({ waitMs: 1 });
    expect(await limiter.take([b], T + 30_000)).toEqual({ waitMs: 0 });
  });

  it("a blocked bucket keeps what was taken from it", async () => {
    const b = bucket(1, 0.01);
    await limiter.take([b], T);
    await limiter.block(b.name, T + 10_000);
    expect(await limiter.take([b], T + 10_000)).toEqual({ waitMs: 90_000 });
  });

  it("a clock that was set back an hour closes no bucket for an hour", async () => {
    const b = bucket(1, 1);
    await limiter.take([b], T);
    const { waitMs } = await limiter.take([b], T - 3_600_000);
    expect(waitMs).toBeLessThanOrEqual(1000);
  });

  it("nor does it leave one blocked for that hour", async () => {
    const b = bucket(1, 1);
    await limiter.take([b], T);
    await limiter.block(b.name, T + 30_000);
    expect(await limiter.take([b], T)).toEqual({ waitMs: 30_000 });
    expect(await limiter.take([b], T - 3_600_000)).toEqual({ waitMs: 0 });
    expect((await limiter.take([b], T - 3_600_000)).waitMs).toBeLessThanOrEqual(1000);
  });

  it("nothing wanted is granted", async () => {
    expect(await limiter.take([], T)).toEqual({ waitMs: 0 });
  });
});
