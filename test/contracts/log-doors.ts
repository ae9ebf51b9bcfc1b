import { Redis } from "ioredis";
import type { NewEntry, Person } from "../../src/core/entry.ts";
import type { ArrivalRecord, Log, WakeLock } from "../../src/core/log.ts";
import type { Clock } from "../../src/core/ports.ts";
import { memoryQueue } from "../../src/memory-queue.ts";
import { memoryLog } from "../../src/memory.ts";
import { redisLog } from "../../src/redis/log.ts";
import { keptTrace, startRedis } from "../support/redis.ts";

/** A log under test, and the locks that its doorbell would hand out. */
export interface LogDoor {
  log: Log;
  heldLock(): Promise<WakeLock>;
  lostLock(): Promise<WakeLock>;
  close(): Promise<void>;
}

/** Both logs, for `describe.each`. */
export const LOGS: [name: string, open: () => Promise<LogDoor>][] = [
  ["memory", openMemory],
  ["redis", openRedis],
];

const systemClock: Clock = { now: () => Date.now(), sleep: async () => {} };

async function openMemory(): Promise<LogDoor> {
  const log = memoryLog(systemClock);
  let locks = 0;
  return {
    log,
    heldLock: async () => ({ key: "held", token: String(++locks) }),
    async lostLock() {
      const queue = memoryQueue();
      const lock = await new Promise<WakeLock>((resolve) => {
        void queue.serve(["w"], async (wake) => resolve(wake.lock));
        void queue.wake("any", "w");
      });
      await queue.close();
      return lock;
    },
    close: () => log.close(),
  };
}

async function openRedis(): Promise<LogDoor> {
  const server = await startRedis();
  const log = redisLog({ url: server.url, trace: keptTrace() });
  const client = new Redis(server.url);
  let locks = 0;
  return {
    log,
    async heldLock() {
      locks += 1;
      const lock = { key: `{dh}:wake-w:${locks}:lock`, token: `worker:${locks}` };
      await client.set(lock.key, lock.token);
      return lock;
    },
    async lostLock() {
      await client.set("{dh}:wake-w:0:lock", "another worker");
      return { key: "{dh}:wake-w:0:lock", token: "worker:0" };
    },
    async close() {
      await log.close();
      await client.quit();
      await server.stop();
    },
  };
}

export const ANNA: Person = { key: "slack:U1", name: "Anna", kind: "member", roles: [] };
export const BEN: Person = { key: "slack:U2", name: "Ben", kind: "member", roles: ["slack:role:ops"] };

let threads = 0;
let events = 0;

/** A conversation's id that no other test uses; with the characters that real ones have. */
export function newThread(): string {
  threads += 1;
  return `slack:T1:C1:1699000000.${String(threads).padStart(6, "0")}`;
}

/** An arrival of a message in the conversation. */
export function arrival(conversation: string, text: string, more: Partial<ArrivalRecord> = {}): ArrivalRecord {
  events += 1;
  const event = `T1:C1:${events}`;
  const opened: NewEntry<"opened"> = { type: "opened", platform: "slack", thread: conversation, channel: "slack:C1", workspace: "w" };
  const entry: NewEntry<"message"> = { type: "message", event, by: ANNA, text, to: "bot" };
  return { conversation, event, at: 1000, opened, entry, wakes: true, ...more };
}

/** Opens a conversation with one message and takes it over. */
export async function takenOver({ log, heldLock }: LogDoor): Promise<{ conversation: string; epoch: number }> {
  const conversation = newThread();
  await log.ingest(arrival(conversation, "do it"));
  const taken = await log.takeover(conversation, await heldLock());
  if (taken.kind !== "taken") throw new Error("the lock was held");
  return { conversation, epoch: taken.epoch };
}

export function asked(approval: string, more: Partial<NewEntry<"approval-asked">> = {}): NewEntry<"approval-asked"> {
  return {
    type: "approval-asked",
    parent: 2,
    approval,
    call: "call00001",
    command: "rm -r build",
    cwd: "/w",
    workspace: "w",
    env: {},
    sandbox: "none",
    grants: [],
    reasons: [{ code: "delete", text: "it deletes" }],
    requester: ANNA,
    approvers: [],
    deadline: 5000,
    digest: "d",
    ...more,
  };
}

/** A worker's entry of no consequence. */
export function note(text: string): NewEntry<"final"> {
  return { type: "final", text, answers: [], reason: "answer" };
}
