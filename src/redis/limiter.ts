import type { Limiter } from "../core/ports.ts";
import { type Connection, script } from "./connect.ts";
import { KEYS } from "./keys.ts";

/** A platform never bans for longer than this in one answer; a bucket nobody uses is forgotten after it. */
const DAY = 24 * 60 * 60 * 1000;

/** Token buckets in Redis, all-or-nothing over several in one script. */
export function limiter(connection: Connection): Limiter {
  const take = script(connection, "take.lua");
  const block = script(connection, "block.lua");
  return {
    async take(buckets, now) {
      if (buckets.length === 0) return { waitMs: 0 };
      const keys = buckets.map((bucket) => KEYS.bucket(bucket.name));
      const waitMs = await take(keys, [now, DAY, ...buckets.flatMap(({ burst, perSecond, keep = 0 }) => [burst, perSecond, keep])]);
      return { waitMs: waitMs as number };
    },
    async block(name, until) {
      await block([KEYS.bucket(name)], [until, DAY]);
    },
  };
}
