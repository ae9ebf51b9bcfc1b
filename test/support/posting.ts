import { armCheckpoint, type Checkpoint } from "../../src/core/checkpoint.ts";
import type { NewEntry } from "../../src/core/entry.ts";
import type { Log, PostState } from "../../src/core/log.ts";
import type { Chat, Clock } from "../../src/core/ports.ts";
import { type PosterDeps, drainPosts } from "../../src/core/poster.ts";
import { redactor } from "../../src/core/redactor.ts";
import { memoryLog } from "../../src/memory.ts";
import { memoryLimiter } from "../../src/memory-queue.ts";
import { systemIds } from "../../src/system.ts";
import { ann } from "./random-log.ts";

/** A poster over a log in memory, with a clock that goes when it is told to. */
export interface Posting {
  log: Log;
  deps: PosterDeps;
  /** Milliseconds that the clock is ahead of its beginning. */
  pass(ms: number): void;
  now(): number;
  thread(key: string): Promise<PostedThread>;
}

/** One conversation, begun by Ann. */
export interface PostedThread {
  key: string;
  drain(signals?: { signal?: AbortSignal; leaving?: AbortSignal }): Promise<void>;
  /** Drains until it is up to date, with time passing in between. */
  drainAll(): Promise<void>;
  add(...news: NewEntry[]): Promise<void>;
  /** One answer of the model with these commands, which run by themselves. */
  step(...ids: string[]): Promise<void>;
  /** One answer of the model with this command, which asks. */
  ask(approval: string, command?: string): Promise<void>;
  state(): Promise<PostState>;
}

export function openPosting(chatWith: (clock: Clock) => Chat, start = 1_000_000): Posting {
  let now = start;
  const clock: Clock = { now: () => now, sleep: async () => {} };
  const chat = chatWith(clock);
  const log = memoryLog(clock);
  const trace = { info: () => {}, warn: () => {}, error: () => {} };
  const chats = new Map([[chat.platform, chat]]);
  const redact = redactor([]);
  const deps: PosterDeps = {
    log,
    limiter: memoryLimiter(),
    clock,
    ids: systemIds,
    trace,
    chats,
    banner: null,
    redact,
    abandon: async () => {},
  };
  let posting: Posting;
  const pass = (ms: number): void => {
    now += ms;
  };
  return (posting = { log, deps, pass, now: () => now, thread: (key) => openThread(posting, key, chat.platform) });
}

/** The poster is killed the next time that it comes by: its drain rejects there, and it did nothing more. */
export function dieAt(name: Checkpoint): void {
  armCheckpoint(name, () => {
    throw new Error("killed");
  });
}

async function openThread({ log, deps, pass, now }: Posting, key: string, platform: string): Promise<PostedThread> {
  const lock = { key: "", token: "" };
  const opened = { type: "opened", platform, thread: key, channel: `${platform}:C1`, workspace: "api" } as const;
  const entry = { type: "message", event: key, by: ann, text: "go", to: "bot" } as const;
  await log.ingest({ conversation: key, event: key, at: now(), opened, entry, wakes: true });
  const taken = await log.takeover(key, lock);
  const epoch = taken.kind === "taken" ? taken.epoch : 0;
  let ops = 0;
  const never = new AbortController().signal;
  const drain: PostedThread["drain"] = (signals = {}) => drainPosts({ conversation: key, lock, signal: never, ...signals }, deps);
  const add: PostedThread["add"] = async (...news) => void (await log.append(key, epoch, `op${(ops += 1)}`, now(), news));
  return {
    key,
    drain,
    async drainAll() {
      for (let i = 0; i < 40; i += 1) {
        pass(5_000);
        await drain();
      }
    },
    add,
    step: (...ids) => add(...calls("auto", ids)),
    ask: (approval, command) => add(...calls("ask", [approval]), asked(approval, command)),
    async state() {
      return (await log.takePosts(key, lock))?.state ?? { cursor: 0, sent: {} };
    },
  };
}

/** A step of the model with these calls, each judged. */
export function calls(verdict: "auto" | "ask", ids: string[]): NewEntry[] {
  const usage = { prompt: null, completion: null, cached: null };
  const wanted = ids.map((id) => ({ id, name: "bash", args: { command: id }, raw: "" }));
  return [
    { type: "model", read: 2, text: "", calls: wanted, finish: "calls", usage, model: "m", ms: 1, tries: 1 },
    ...ids.map((id): NewEntry => ({ type: "judged", call: id, verdict, reasons: [], rule: "r", title: `echo ${id}` })),
  ];
}

export function ran(id: string, text = id): NewEntry {
  return { type: "run-ended", call: id, how: "exited", exit: 0, output: { text, bytes: text.length, omitted: 0 }, ms: 100 };
}

export const final: NewEntry = { type: "final", text: "all done", answers: [2], reason: "answer" };

function asked(approval: string, command = "rm x"): NewEntry {
  return {
    type: "approval-asked",
    approval,
    call: approval,
    command,
    cwd: "/w",
    workspace: "api",
    env: {},
    sandbox: "sandboxed: no network, workspace only",
    grants: [],
    reasons: [{ code: "delete", text: "it deletes files" }],
    requester: ann,
    approvers: ["slack:U2"],
    deadline: 9_000_000_000_000,
    digest: "d",
  };
}
