import type { Fact, Learned, Trace } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { type Connection, connect } from "./connect.ts";
import { KEYS } from "./keys.ts";

/**
 * What endpoints taught us: one hash for all, each fact as JSON under `MODEL at HOST<tab>NAME`. A worker reads it once and
 * writes it a few times in its life, so each act has a connection of its own. Throws REDIS_DOWN.
 */
export function redisLearned({ url, trace }: { url: string; trace: Trace }): Learned {
  async function using<T>(act: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = connect(url, trace, "learned");
    try {
      return await act(connection);
    } finally {
      await connection.close();
    }
  }
  return {
    async read(of, now) {
      const all = await using(({ ask }) => ask((client) => client.hgetall(KEYS.learned)));
      const own = Object.entries(all).filter(([field]) => field.startsWith(`${of}\t`));
      return own.map(([, text]) => JSON.parse(text) as Fact).filter((fact) => now - fact.at <= LIMITS.learnedTime);
    },
    async note(of, fact) {
      const text = JSON.stringify({ ...fact, reason: fact.reason.slice(0, LIMITS.learnedReason) });
      await using(({ ask }) => ask((client) => client.hset(KEYS.learned, `${of}\t${fact.name}`, text)));
    },
    async forget(of, name) {
      await using(({ ask }) => ask((client) => client.hdel(KEYS.learned, `${of}\t${name}`)));
    },
  };
}
