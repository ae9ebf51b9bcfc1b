import { Redis } from "ioredis";
import type { Corridor } from "../support/corridor.ts";

/** Fills up what may be sent to the platform and wakes whoever waits for that, as if time had passed: the pace is not tried here. */
export async function refill(deck: Corridor): Promise<void> {
  const redis = new Redis(deck.redis.url, { retryStrategy: null, lazyConnect: true });
  redis.on("error", () => {}); // the command tells
  try {
    await redis.connect();
    const buckets = await redis.keys("{dh}:bucket:*");
    if (buckets.length > 0) await redis.del(buckets);
    for (const thread of await redis.zrange("{dh}:postdue", "0", "-1")) await redis.zadd("{dh}:postdue", "XX", "0", thread);
  } catch {
    // Redis is being restarted; the next time does it.
  } finally {
    redis.disconnect();
  }
}
