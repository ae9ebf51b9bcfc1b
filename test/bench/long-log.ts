import type { Redis } from "ioredis";
import type { NewEntry } from "../../src/core/entry.ts";
import type { Log } from "../../src/core/log.ts";

/** Four entries, as a step of `true` leaves them, with an output of so many characters. */
function stepEntries(at: number, output: string): NewEntry[] {
  const call = `c${String(at).padStart(8, "0")}`;
  const command = `true # filled ${at}`;
  const usage = { prompt: null, completion: null, cached: null };
  const asked = { id: call, name: "bash", args: { command }, raw: JSON.stringify({ command }) };
  return [
    { type: "model", read: at - 1, text: "", calls: [asked], finish: "calls", usage, model: "bench", ms: 3, tries: 1 },
    { type: "judged", parent: at, call, verdict: "auto", reasons: [], rule: "table:true", title: command, reads: true },
    {
      ...{ type: "run-started", parent: at, call, command, cwd: "/w", timeoutMs: 120_000, sandbox: "none" },
      ...{ digest: "0".repeat(64), grants: [], host: "bench" },
    },
    { type: "run-ended", parent: at + 2, call, how: "exited", exit: 0, output: { text: output, bytes: output.length, omitted: 0 }, ms: 2 },
  ];
}

/** The lock that a doorbell would hand out. */
export async function lockOf(redis: Redis): Promise<{ key: string; token: string }> {
  const lock = { key: "{dh}:bench:lock", token: "bench" };
  await redis.set(lock.key, lock.token);
  return lock;
}

/** Makes a conversation's log this long, and holds all of it for posted. `bytes`: of each entry, about. */
export async function fillLog(log: Log, redis: Redis, conversation: string, length: number, bytes: number): Promise<void> {
  const lock = await lockOf(redis);
  const taken = await log.takeover(conversation, lock);
  if (taken.kind !== "taken") throw new Error("the log was not to be had");
  const output = "x".repeat(Math.max(0, bytes - 330) * 4);
  let seq = (await log.head(conversation))?.seq ?? 0;
  while (seq < length) {
    const entries: NewEntry[] = [];
    for (let step = 0; step < 25 && seq + entries.length < length; step++) entries.push(...stepEntries(seq + entries.length + 1, output));
    await log.append(conversation, taken.epoch, `fill${seq}`, Date.now(), entries);
    seq += entries.length;
  }
  await log.append(conversation, taken.epoch, "end", Date.now(), [{ type: "final", text: "It is done.", answers: [2], reason: "answer" }]);
  await log.settle(conversation, taken.epoch, seq + 1);
  const posts = await log.takePosts(conversation, lock);
  if (!posts) throw new Error("the thread was not to be had");
  await log.savePosts(conversation, posts.epoch, { ...posts.state, cursor: seq + 1, sent: {} });
  await log.settlePosts(conversation, posts.epoch, seq + 1);
}
