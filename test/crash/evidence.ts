import { Redis } from "ioredis";
import type { Entry } from "../../src/core/entry.ts";
import type { Corridor, Said } from "../support/corridor.ts";
import type { Shown } from "../support/stage.ts";

/** All that the verifier knows: what people said and saw (the twin), the log, what the commands wrote, what Redis still holds. */
export interface Evidence {
  threads: Thread[];
  /** Conversations in Redis that no thread belongs to. */
  strays: string[];
  /** Lines of the effect file, in the order in which they were written. */
  effects: string[];
  /** What is left to be done: members of the lists of work and of posts, and jobs. */
  unsettled: string[];
  /** The names of BullMQ's keys and what its jobs carry. */
  bell: string[];
}

export interface Thread {
  conversation: string;
  /** People's messages, oldest first. */
  said: { ts: string; text: string }[];
  /** The bot's posts. */
  posts: Shown[];
  log: Entry[];
  /** The last seq by the conversation's state. */
  seq: number;
}

/** Reads everything with a connection of its own; none of the product's code takes part. */
export async function gather(deck: Corridor, threads: Said[]): Promise<Evidence> {
  const redis = new Redis(deck.redis.url, { retryStrategy: null, lazyConnect: true });
  await redis.connect();
  try {
    const keys = await allKeys(redis);
    const known = new Set(threads.map((said) => said.conversation));
    const logs = keys.filter((key) => key.startsWith("{dh}:c:") && key.endsWith(":log")).map((key) => key.slice(7, -4));
    return {
      threads: await Promise.all(threads.map(async (said) => await threadOf(said, redis))),
      strays: logs.filter((conversation) => !known.has(conversation)),
      effects: deck.files.has(EFFECTS) ? deck.files.read(EFFECTS).split("\n").filter(Boolean) : [],
      ...(await bellOf(redis, keys)),
    };
  } finally {
    redis.disconnect();
  }
}

export const EFFECTS = "fx.txt";

async function threadOf(said: Said, redis: Redis): Promise<Thread> {
  const { conversation } = said;
  const rows = await redis.xrange(`{dh}:c:${conversation}:log`, "-", "+");
  const seq = Number((await redis.hget(`{dh}:c:${conversation}`, "seq")) ?? 0);
  const posts = said.posts();
  const own = new Set(posts.map(({ ts }) => ts));
  const people = said.all().filter(({ ts }) => !own.has(ts));
  return { conversation, said: people, posts, log: rows.map(entryOf), seq };
}

/** As the scripts write it: the body as JSON, what Redis alone knew in fields of its own. */
function entryOf([id, fields]: [string, string[]]): Entry {
  const field = new Map<string, string>();
  for (let i = 0; i < fields.length; i += 2) field.set(fields[i] ?? "", fields[i + 1] ?? "");
  const approval = field.has("a") ? { approval: field.get("a"), call: field.get("c") } : {};
  const place = { seq: Number.parseInt(id, 10), at: Number(field.get("t")), epoch: Number(field.get("e")) };
  return { ...JSON.parse(field.get("b") ?? "{}"), ...approval, ...place } as Entry;
}

async function bellOf(redis: Redis, keys: string[]): Promise<Pick<Evidence, "unsettled" | "bell">> {
  const unsettled: string[] = [];
  for (const list of ["{dh}:dirty", "{dh}:odirty", "{dh}:postdue"]) {
    unsettled.push(...(await redis.zrange(list, "0", "-1")).map((conversation) => `${list} ${conversation}`));
  }
  const bell = keys.filter((key) => /^\{dh\}:(wake-|post:)/.test(key));
  const jobs: string[] = [];
  for (const key of bell) {
    if (/:(wait|active|paused)$/.test(key)) unsettled.push(...(await redis.lrange(key, 0, -1)).map((job) => `${key} ${job}`));
    if (/:(delayed|prioritized)$/.test(key)) {
      for (const job of await redis.zrange(key, "0", "-1")) {
        const [data, why] = await redis.hmget(key.replace(/[^:]+$/, job), "data", "failedReason");
        unsettled.push(`${key} ${job} ${data} ${why}`);
      }
    }
    if (/^[^:]+:[^:]+:\d+$/.test(key)) jobs.push(`${key} ${(await redis.hget(key, "data")) ?? ""}`);
  }
  return { unsettled, bell: [...bell, ...jobs] };
}

async function allKeys(redis: Redis): Promise<string[]> {
  const keys: string[] = [];
  let cursor = "0";
  do {
    const [next, page] = await redis.scan(cursor, "COUNT", 1000);
    keys.push(...page);
    cursor = next;
  } while (cursor !== "0");
  return [...new Set(keys)];
}
