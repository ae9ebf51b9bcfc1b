import { setTimeout as sleep } from "node:timers/promises";
import { type DeckhandError, asDeckhandError } from "../core/errors.ts";
import type { Trace } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { connect } from "./connect.ts";
import { type Health, readHealth } from "./health.ts";

export interface RedisWatch {
  /** So little memory is left that no new task may be taken; false when that cannot be known. Never rejects. */
  isFull(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Looks again and again how Redis stands, and tells the operators' log (`redis`, and `redis-well` when it is over) what was
 * not so at the start: it is away, full, cannot write, became a replica, was set to evict or to forget. Each is told once,
 * and again each hour while it lasts.
 */
export function watchRedis(options: { url: string; trace: Trace; everyMs?: number }): RedisWatch {
  const { url, trace, everyMs = LIMITS.redisLook } = options;
  const connection = connect(url, trace, "watch", "early");
  const ending = new AbortController();
  const tell = teller(trace);
  let fill = 0;
  /** The first look may only have been too early: whoever starts us has just found Redis well. */
  let early = true;

  async function look(): Promise<void> {
    try {
      const health = readHealth(await connection.ask((client) => client.info()));
      fill = health.fill;
      tell(problemsIn(health));
    } catch (thrown) {
      fill = 0;
      if (!ending.signal.aborted && !early) tell(new Map([["away", asDeckhandError(thrown)]]));
    }
    early = false;
  }
  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await look();
      await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => undefined); // an abort is how it ends early
    }
  }
  const running = run();
  return {
    async isFull() {
      if (fill < LIMITS.redisFull) return false;
      // Somebody is refused for it: is it still so?
      await look();
      return fill >= LIMITS.redisFull;
    },
    async close() {
      ending.abort();
      await connection.close();
      await running;
    },
  };
}

/** Named so that the same trouble with another figure in it is still the same. */
function problemsIn({ unsafe, troubles, fill }: Health): Map<string, DeckhandError> {
  const named = troubles.map((trouble): [string, DeckhandError] => [
    trouble.code === "REDIS_FULL" && fill >= LIMITS.redisFull ? "no new tasks" : trouble.code,
    trouble,
  ]);
  return new Map([...named, ...unsafe.map((problem): [string, DeckhandError] => [problem.what, problem])]);
}

function teller(trace: Trace): (problems: Map<string, DeckhandError>) => void {
  const told = new Map<string, number>();
  return (problems) => {
    const now = performance.now();
    for (const [name, problem] of problems) {
      if (now - (told.get(name) ?? Number.NEGATIVE_INFINITY) < LIMITS.redisRemind) continue;
      told.set(name, now);
      trace.error("redis", { code: problem.code, problem: problem.line() });
    }
    for (const name of [...told.keys()].filter((each) => !problems.has(each))) {
      told.delete(name);
      trace.info("redis-well", { was: name });
    }
  };
}
