import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis, type RedisOptions, ReplyError } from "ioredis";
import { DeckhandError, messageOf } from "../core/errors.ts";
import type { Trace } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";

/** One connection to Redis. It reconnects for ever, and no trouble on it ends the process. */
export interface Connection {
  readonly client: Redis;
  /**
   * Does something with the client. Waits a little for a lost connection to come back; every trouble of Redis is
   * thrown as REDIS_DOWN, and then it is not known whether the act happened.
   */
  ask<T>(act: (client: Redis) => Promise<T>): Promise<T>;
  /** Ends it; what was asked before is still answered. */
  close(): Promise<void>;
}

/**
 * `patient` commands wait for Redis as long as it takes (BullMQ's workers); others are refused after LIMITS.redisAnswer.
 * `early` ones are asked while it still reads its file.
 */
export function connect(url: string, trace: Trace, name: string, manner: "quick" | "patient" | "early" = "quick"): Connection {
  const client = new EndingRedis(url, {
    connectionName: `deckhand-${name}`,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
    // A failover under the same name: the old socket leads to what is now a replica.
    reconnectOnError: (error) => error.message.includes("READONLY"),
    ...(manner === "patient"
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: LIMITS.redisAnswer, enableReadyCheck: manner !== "early" }),
  });
  const trouble = quietly(trace, name);
  client.on("error", trouble.tell);
  client.on("connect", () => inPackets(client.stream));
  const ready = whenReady(client);
  return {
    client,
    async ask(act) {
      const until = performance.now() + LIMITS.redisReturn;
      for (;;) {
        if (!(await ready(until))) throw new DeckhandError("REDIS_DOWN", trouble.last());
        try {
          return await act(client);
        } catch (thrown) {
          if (!wasNotSent(thrown) || performance.now() > until) throw asRedisError(thrown);
        }
        await sleep(20); // the socket is gone, but ioredis has not noticed yet
      }
    },
    async close() {
      if (client.status !== "ready") client.disconnect();
      else await client.quit().catch(() => client.disconnect()); // it went away meanwhile: nothing to take leave of
    },
  };
}

/** What is asked in one turn of the event loop goes in one packet: Redis then does it in one go, with one fsync for all of it. */
function inPackets(stream: Redis["stream"]): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = (...args: unknown[]): boolean => {
    if (stream.writableCorked === 0) {
      stream.cork();
      setImmediate(() => stream.uncork());
    }
    return write(...args);
  };
}

/** Errors of a connection for the trace: the first at once, then at most one in ten seconds with the number left out. */
export function quietly(trace: Trace, name: string): { tell: (error: unknown) => void; last: () => string } {
  let last = "no connection yet";
  let silentUntil = 0;
  let hidden = 0;
  return {
    tell(error) {
      last = troubleOf(error);
      if (performance.now() < silentUntil) {
        hidden += 1;
        return;
      }
      trace.warn("redis-trouble", { connection: name, error: last, hidden });
      silentUntil = performance.now() + 10_000;
      hidden = 0;
    },
    last: () => last,
  };
}

/** Waits until the client is ready; false when it is not by then. */
function whenReady(client: Redis): (until: number) => Promise<boolean> {
  let change = Promise.withResolvers<void>();
  function changed(): void {
    change.resolve();
    change = Promise.withResolvers<void>();
  }
  client.on("ready", changed).on("close", changed).on("end", changed);
  return async (until) => {
    while (client.status !== "ready" && client.status !== "end" && performance.now() < until) {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, Math.max(0, until - performance.now()));
      await Promise.race([change.promise, late.promise]);
      clearTimeout(timer);
    }
    return client.status === "ready";
  };
}

/** ioredis leaves one that is told to end between two attempts waiting for ever, and its commands with it. */
class EndingRedis extends Redis {
  override disconnect(reconnect = false): void {
    if (!reconnect && this.status === "reconnecting") this.status = "wait"; // "wait" is ended properly
    super.disconnect(reconnect);
  }
  override duplicate(...[more]: Parameters<Redis["duplicate"]>): ReturnType<Redis["duplicate"]> {
    const another = new EndingRedis({ ...this.options, ...more } as RedisOptions & { replyMapping?: "legacy" });
    // Whoever made it hears its errors; when that one has left, ioredis would print them.
    return another.on("error", () => {});
  }
}

/** Replies that mean "not now", whatever was asked. */
const REFUSALS = /\b(OOM|READONLY|MISCONF|LOADING|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|BUSY|NOAUTH|NOPERM|WRONGPASS)\b/;

function wasNotSent(thrown: unknown): boolean {
  return messageOf(thrown).startsWith("Stream isn't writeable");
}

function asRedisError(thrown: unknown): unknown {
  if (thrown instanceof DeckhandError || thrown instanceof TypeError || thrown instanceof RangeError) return thrown;
  if (thrown instanceof ReplyError && !REFUSALS.test(messageOf(thrown))) return thrown;
  return new DeckhandError("REDIS_DOWN", troubleOf(thrown), { cause: thrown });
}

/** A refused `localhost` is an AggregateError without a message of its own. */
export function troubleOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === "") return thrown.errors.map(messageOf).join("; ");
  return messageOf(thrown);
}

export type Script = (keys: string[], args: (string | number)[]) => Promise<unknown>;

/** Makes a Lua file of this folder callable on the connection; the files are joined in order. */
export function script({ client, ask }: Connection, ...files: string[]): Script {
  const lua = files.map((file) => readFileSync(new URL(file, import.meta.url), "utf8")).join("\n");
  const name = `dh:${files.at(-1)}`;
  client.defineCommand(name, { lua });
  const run = Reflect.get(client, name) as (keys: number, ...rest: (string | number)[]) => Promise<unknown>;
  return async (keys, args) => await ask(() => run.call(client, keys.length, ...keys, ...args));
}
