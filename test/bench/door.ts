import { accessOf } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import { slackThread } from "../../src/core/inbound.ts";
import { type IntakeDeps, intake } from "../../src/core/intake.ts";
import type { Log } from "../../src/core/log.ts";
import { redisLog } from "../../src/redis/log.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { systemClock } from "../../src/system.ts";
import { ANNA } from "../contracts/log-doors.ts";
import { keptTrace } from "../support/redis.ts";
import type { Product } from "./product.ts";

/** Arrivals without a chat: what a gateway does with each of them, and nothing of the platform around it. */
export interface Door {
  log: Log;
  /** Anna writes in the thread of this number. */
  say(thread: number, text: string): Promise<void>;
  deny(thread: number): Promise<void>;
  conversation(thread: number): string;
  /** Answers the rings of workers for posts like a gateway that has nothing to post. */
  answerPosts(): Promise<void>;
  close(): Promise<void>;
}

export async function openDoor({ deck }: Product): Promise<Door> {
  const url = deck.env["REDIS_URL"] as string;
  const trace = keptTrace();
  const log = redisLog({ url, trace });
  const bell = bullQueue({ url, trace });
  const queue = { wake: bell.wake, wakePosts: async () => {} };
  const deps: IntakeDeps = { log, queue, clock: systemClock, trace, access: accessOf(await loadConfig(deck.env)) };
  const threadOf = (thread: number) => slackThread("T1", "C1", `1700000000.${String(thread).padStart(6, "0")}`);
  let events = 0;
  const arrival = (thread: number) => ({ event: `bench:${(events += 1)}`, thread: threadOf(thread), by: ANNA });
  return {
    log,
    say: async (thread, text) => void (await intake({ ...arrival(thread), kind: "mention", text }, deps)),
    async deny(thread) {
      const approval = (await log.head(threadOf(thread).key))?.approval ?? "";
      await intake({ ...arrival(thread), kind: "press", action: "deny", approval }, deps);
    },
    answerPosts: async () => await bell.servePosts(async () => {}),
    conversation: (thread) => threadOf(thread).key,
    close: async () => void (await Promise.all([log.close(), bell.close()])),
  };
}
