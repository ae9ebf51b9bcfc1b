import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue as Bell, Worker } from "bullmq";
import type { NewEntry } from "../../src/core/entry.ts";
import type { Log } from "../../src/core/log.ts";
import type { Queue, Wake } from "../../src/core/ports.ts";
import { redisLog } from "../../src/redis/log.ts";
import { bullQueue } from "../../src/redis/queue.ts";
import { arrival, newThread } from "../contracts/log-doors.ts";
import { keptTrace, startRedis } from "../support/redis.ts";
import { type Bench, type Figure, inTurn, median, quantile, spread, timed } from "./figure.ts";

const APPENDS = 100;
const AT_ONCE = 20;
const RINGS = 40;

/** As large as one usually is. */
const STARTED: NewEntry<"run-started"> = {
  type: "run-started",
  parent: 3,
  call: "abcdefghi",
  command: "npm test -- --reporter=dot && git status --short",
  cwd: "/srv/deckhand/workspaces/api",
  timeoutMs: 120_000,
  sandbox: "sandboxed: no network, workspace only",
  approval: "0123456789abcdefghijkl",
  digest: "0".repeat(64),
  grants: [],
  host: "deckhand-worker-1",
};

/** The log and the doorbell on a Redis of their own. */
interface Deck {
  appendOne(): Promise<unknown>;
  /** From a ring to the worker's hold on the conversation. */
  takeOver(): Promise<unknown>;
  /** From a bare BullMQ job to its bare handler, which knows nothing of a log. */
  bareJob(): Promise<unknown>;
  close(): Promise<void>;
}

async function openDeck(fsync: string): Promise<Deck> {
  const server = await startRedis({ args: ["--appendfsync", fsync] });
  const log = redisLog({ url: server.url, trace: keptTrace() });
  const queue = bullQueue({ url: server.url, trace: keptTrace() });
  const taken = await serve(log, queue);
  const bare = bareBell(server.url);
  const conversation = newThread();
  const epoch = await taken(conversation);
  let ops = 0;
  return {
    appendOne: () => log.append(conversation, epoch, `op${(ops += 1)}`, 2000, [STARTED]),
    takeOver: () => taken(newThread()),
    bareJob: bare.ring,
    async close() {
      await bare.close();
      await Promise.all([log.close(), queue.close()]);
      await server.stop();
    },
  };
}

/** BullMQ as its documentation shows it. */
function bareBell(url: string): { ring(): Promise<void>; close(): Promise<void> } {
  const connection = { url, maxRetriesPerRequest: null };
  const bell = new Bell("bare", { connection });
  const waiting = new Map<string, () => void>();
  const worker = new Worker("bare", async ({ name }) => waiting.get(name)?.(), { connection });
  let jobs = 0;
  return {
    async ring() {
      const name = `job${(jobs += 1)}`;
      const heard = new Promise<void>((resolve) => waiting.set(name, resolve));
      await bell.add(name, {}, { removeOnComplete: true });
      await heard;
    },
    async close() {
      await worker.close();
      await bell.close();
    },
  };
}

/** Takes every conversation over that is rung for; gives the way to ring for one and to wait for its epoch. */
async function serve(log: Log, queue: Queue): Promise<(conversation: string) => Promise<number>> {
  const waiting = new Map<string, (epoch: number) => void>();
  await queue.serve(["w"], async ({ conversation, lock }: Wake) => {
    const taken = await log.takeover(conversation, lock);
    waiting.get(conversation)?.(taken.kind === "taken" ? taken.epoch : 0);
  });
  return async (conversation) => {
    await log.ingest(arrival(conversation, "do it"));
    const epoch = new Promise<number>((resolve) => waiting.set(conversation, resolve));
    await queue.wake(conversation, "w");
    return await epoch;
  };
}

/** A bare write of the same size to a file beside, on the disk before it goes on. */
function bareWrites(): { write(): Promise<void>; close(): void } {
  const folder = mkdtempSync(join(tmpdir(), "deckhand-fsync-"));
  const file = openSync(join(folder, "file"), "a");
  const data = Buffer.alloc(JSON.stringify(STARTED).length, "x");
  return {
    async write() {
      writeSync(file, data);
      fdatasyncSync(file);
    },
    close() {
      closeSync(file);
      rmSync(folder, { recursive: true });
    },
  };
}

export const fsync: Bench = {
  name: "fsync",
  what: "what `appendfsync always` costs against `everysec`: appends of a `run-started`, and from a ring to the takeover",
  rounds: 5,
  run: async (rounds) => {
    const [always, everysec] = await Promise.all([openDeck("always"), openDeck("everysec")]);
    const floor = bareWrites();
    const one = await inTurn(rounds * APPENDS, {
      always: () => timed(always.appendOne),
      everysec: () => timed(everysec.appendOne),
      floor: () => timed(floor.write),
    });
    const many = ({ appendOne }: Deck) => timed(() => Promise.all(Array.from({ length: AT_ONCE }, appendOne)));
    const twenty = await inTurn(rounds * 10, { always: () => many(always), everysec: () => many(everysec) });
    const taken = await inTurn(rounds * RINGS, { always: () => timed(always.takeOver), everysec: () => timed(everysec.takeOver) });
    const bare = await inTurn(rounds * RINGS, { always: () => timed(always.bareJob), everysec: () => timed(everysec.bareJob) });
    floor.close();
    await Promise.all([always.close(), everysec.close()]);
    const detail = `against a bare write with fdatasync: ${spread(one.floor, " ms", 2)}`;
    return [
      ...figures("one append", one, detail),
      ...figures(`${AT_ONCE} appends at once, together`, twenty, `${rounds * 10} times`),
      ...figures("arrival, ring and takeover", taken, `${rounds * RINGS} times`),
      ...figures("bare BullMQ, from add to handler", bare, `${rounds * RINGS} times`),
    ];
  },
};

function figures(what: string, { always, everysec }: { always: number[]; everysec: number[] }, detail: string): Figure[] {
  const line = (name: string, times: number[]): Figure => ({
    what: `${what}, ${name}`,
    value: median(times),
    unit: " ms",
    detail: `p99 ${quantile(times, 0.99).toFixed(1)} ms; ${spread(times, " ms", 2)}; ${detail}`,
  });
  return [line("always", always), line("everysec", everysec)];
}
