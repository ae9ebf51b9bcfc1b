import type { Log } from "../core/log.ts";
import { LIMITS } from "../limits.ts";
import { type Connection, script } from "./connect.ts";
import { KEYS } from "./keys.ts";

/** What a sweeper looks at in one go. */
export const SWEEP_AT_ONCE = 100;

type Lists = "setBack" | "dirtySince" | "postsDirtySince" | "rung" | "approvalsDue" | "threadsSince";

/** The sweeper's lists. */
export function lists(connection: Connection): Pick<Log, Lists> {
  const setBack = script(connection, "set-back.lua");
  async function oldest(key: string, until: number): Promise<string[]> {
    return await connection.ask((client) => client.zrangebyscore(key, "-inf", until, "LIMIT", 0, SWEEP_AT_ONCE));
  }
  return {
    async setBack(now) {
      await setBack([KEYS.dirty, KEYS.postsDirty, KEYS.postsDue], [now, now + LIMITS.clockAhead, SWEEP_AT_ONCE]);
    },
    async dirtySince(before) {
      const conversations = await oldest(KEYS.dirty, before);
      const places = await Promise.all(
        conversations.map((conversation) => connection.ask((client) => client.hget(KEYS.state(conversation), "ws"))),
      );
      return conversations.flatMap((conversation, i) => (places[i] ? [{ conversation, workspace: places[i] }] : []));
    },
    postsDirtySince: async (before) => await oldest(KEYS.postsDirty, before),
    async rung({ work, posts }, at) {
      const score = (conversations: string[]) => conversations.flatMap((conversation) => [at, conversation]);
      await connection.ask(async (client) => {
        if (work.length > 0) await client.zadd(KEYS.dirty, "XX", "GT", ...score(work));
        if (posts.length > 0) await client.zadd(KEYS.postsDirty, "XX", "GT", ...score(posts));
      });
    },
    approvalsDue: async (now) => await oldest(KEYS.approvalsDue, now),
    async threadsSince(since) {
      return await connection.ask((client) => client.zrangebyscore(KEYS.open, since, "+inf"));
    },
  };
}

/** Durable marks, and what is kept for a while. */
export function notes(connection: Connection): Pick<Log, "mark" | "marked" | "once" | "lease" | "spend" | "putBlob" | "getBlob"> {
  const lease = script(connection, "lease.lua");
  const spend = script(connection, "spent.lua");
  return {
    async mark(name, value) {
      await connection.ask((client) => client.set(KEYS.mark(name), value));
    },
    async marked(name) {
      return await connection.ask((client) => client.get(KEYS.mark(name)));
    },
    async once(name, ttlMs) {
      return (await connection.ask((client) => client.set(KEYS.once(name), 1, "PX", ttlMs, "NX"))) === "OK";
    },
    async lease(name, holder, ttlMs) {
      return (await lease([KEYS.lease(name)], [holder, ttlMs])) === 1;
    },
    async spend(day, request, { tokens, cost }) {
      const reply = await spend([KEYS.spent(day), KEYS.spentBy(day, request)], [tokens, cost ?? "", LIMITS.spentTime, LIMITS.spentMost]);
      const [all, known] = reply as [string, string | null];
      return { tokens: Number(all), cost: known === null ? null : Number(known) };
    },
    async putBlob(key, data, ttlMs) {
      await connection.ask((client) => client.set(KEYS.blob(key), Buffer.from(data), "PX", ttlMs));
    },
    async getBlob(key) {
      return await connection.ask((client) => client.getBuffer(KEYS.blob(key)));
    },
  };
}
