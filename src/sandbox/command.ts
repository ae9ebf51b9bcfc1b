import type { ChildProcess } from "node:child_process";
import { constants as system } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type { RunEnd } from "../core/entry.ts";
import { messageOf } from "../core/errors.ts";
import { LIMITS } from "../limits.ts";
import { type Capture, capture, liveFeed } from "./capture.ts";
import { READY } from "./launch.ts";
import type { Claim } from "./lock.ts";
import { type Ended, type Job, RUNNER_DIED } from "./messages.ts";
import { kill, startOf } from "./orphans.ts";
import type { OutputPipe } from "./pipes.ts";
import { endStanding, mountsOf, type Spares, type Standing } from "./spare.ts";
import { begin, innerOf } from "./start.ts";

/** How long the end of what is inside is waited for; beyond it the kernel does not let go of something. */
const ENDING_MS = 5000;
const SLOW = `it was not set up within ${LIMITS.commandSetUp / 1000} seconds`;
/** Node's words for a tool that is not there or may not be used: about the machine, not about us. */
const TOOL = /^spawn.* E(?:NOENT|ACCES|PERM)$/;

/** One command's life in the runner. */
export interface Command {
  /** The first reason wins; later ones and one after the end change nothing. */
  stop(reason: RunEnd): void;
  /** The worker's word, for a job that waits for it. */
  go(): void;
  /** It is let go, or over. */
  begun(): boolean;
  /** For a job that may have a spare: what was mounted when it was let go. */
  mounts(): string | null;
  /** Never rejects. */
  ended: Promise<Ended>;
}

interface Heard {
  /** Processes that must not outlive the command. */
  alive: (pids: number[]) => void;
  /** Output as it comes. */
  live: (data: Uint8Array) => void;
  /** All stands, and the worker has to say `go`. */
  ready: () => void;
}

interface Life {
  job: Job;
  spool: string;
  /** Null before the first output: what a silent command does not need costs as much as all else here. */
  output: { captured: Capture; feed: ReturnType<typeof liveFeed> | null } | null;
  hear: Heard;
  /** Null for a job that waits for nobody. */
  claim: Claim | null;
  locked: boolean;
  started: Standing | null;
  /** The worker was asked for its word; it was given, or is not needed. */
  asked: boolean;
  allowed: boolean;
  /** Why we ended it, when we did. */
  reason: RunEnd | null;
  ready: boolean;
  /** The first process inside the sandbox; its death takes all others along. */
  inner: number | null;
  /** When that one was started, as startOf gives it. */
  born: string | null;
  /** When the command itself was let go. */
  went: number | null;
  mounts: string | null;
  /** It was given up. */
  lost: boolean;
  left: boolean;
  /** What bubblewrap has said on its status channel, and the command's exit code from it. */
  said: string;
  status: number | null;
  words: string;
  timers: NodeJS.Timeout[];
}

/** Starts a job. Nothing is left when `ended` resolves, and only then its lock is given back. */
export function startCommand(
  { job, spool }: { job: Job; spool: string },
  claim: Claim | null,
  newPipe: () => OutputPipe,
  hear: Heard,
  spares: Pick<Spares, "take"> | null = null,
): Command {
  const life: Life = {
    ...{ job, spool, output: null, hear, claim, locked: claim === null, started: null, asked: false, allowed: !job.waits },
    ...{ reason: null, ready: false, inner: null, born: null, went: null, mounts: null, lost: false, left: false },
    ...{ said: "", status: null, words: "", timers: [] },
  };
  const allow = () => {
    life.allowed = true;
    go(life);
  };
  return {
    stop: (reason) => stop(life, reason),
    go: allow,
    begun: () => life.went !== null || life.left,
    mounts: () => life.mounts,
    ended: live(life, newPipe, spares),
  };
}

async function live(life: Life, newPipe: () => OutputPipe, spares: Pick<Spares, "take"> | null): Promise<Ended> {
  const { claim, job } = life;
  const alone = job.lock?.shared === false;
  try {
    const locked = claim?.held.then((yes) => {
      life.locked = yes;
      stand(life);
    });
    locked?.catch((thrown: unknown) => giveUp(life, wordsOf(thrown)));
    // What it may not change is mounted as it stands then: nobody may write any more. Without a sandbox nothing is mounted.
    if (alone && job.seccomp !== null) await locked;
    const spare = (await spares?.take(job)) ?? null;
    if (life.reason !== null || life.lost) {
      if (spare !== null) endStanding(spare);
      return verdict(life);
    }
    const failure = await follow(life, (life.started = spare ?? begin(job, newPipe())));
    if (failure !== null) return refusal(failure);
    const ended = (await gone(life)) ? {} : ({ how: "interrupted", exit: null } as const);
    return { ...verdict(life), ...ended };
  } catch (thrown) {
    return refusal(wordsOf(thrown));
  } finally {
    claim?.release();
  }
}

/** Until it has ended and nobody writes any more. Gives why it could not be started at all. */
async function follow(life: Life, { child, pipe, words, said }: Standing): Promise<string | null> {
  const drained = new Promise<void>((done) => {
    pipe.listen((chunk) => {
      const { captured, feed } = (life.output ??= {
        captured: capture(life.spool),
        feed: life.job.watched ? liveFeed(life.hear.live) : null,
      });
      captured.add(chunk);
      feed?.add(chunk);
      if (captured.total() > life.job.floodBytes) stop(life, "flood");
    }, done);
  });
  life.timers.push(setTimeout(() => isSetUp(life) || giveUp(life, `${life.words}\n${SLOW}\n`), LIMITS.commandSetUp));
  // Bubblewrap ends by itself before it has said what is in it.
  if (child.pid !== undefined && life.job.seccomp === null) life.hear.alive([child.pid]);
  child.stderr?.on("data", (data) => hearWords(life, String(data)));
  (child.stdio[4] as Readable | undefined)?.on("data", (data) => hearStatus(life, child, String(data)));
  const failed = new Promise<string>((done) => child.once("error", (error) => done(wordsOf(error))));
  child.once("exit", () => leave(life, child, pipe));
  const closed = new Promise<null>((done) => child.once("close", () => done(null)));
  // What a spare has said before.
  hearStatus(life, child, said);
  hearWords(life, words);

  const failure = await Promise.race([failed, closed]);
  if (failure !== null) pipe.close();
  await drained;
  for (const timer of life.timers) clearTimeout(timer);
  life.output?.feed?.end();
  return failure;
}

/** Without its lock, or with what stands around it half done, it does not run. */
function giveUp(life: Life, words: string): void {
  life.words = words;
  life.lost = true;
  if (life.inner !== null) kill(life.inner);
  if (life.started?.child.pid !== undefined) kill(-life.started.child.pid);
}

function hearWords(life: Life, data: string): void {
  if (life.words.length < 4096) life.words += data;
  if (life.words.split("\n").includes(READY)) life.ready = true;
  stand(life);
}

function hearStatus(life: Life, child: ChildProcess, data: string): void {
  life.said += data;
  const inner = innerOf(life.said);
  const status = /"exit-code": (\d+)\D/.exec(life.said)?.[1];
  if (status !== undefined) life.status = Number(status);
  if (inner === null || life.inner !== null) return;
  life.inner = inner;
  life.born = startOf(life.inner);
  life.hear.alive([child.pid as number, life.inner]);
  life.claim?.mark(life.inner);
  if (life.reason !== null) kill(life.inner);
  stand(life);
}

function isSetUp(life: Life): boolean {
  return life.ready && (life.job.seccomp === null || life.inner !== null);
}

function stands(life: Life): boolean {
  return life.locked && isSetUp(life) && life.reason === null;
}

function stand(life: Life): void {
  if (!stands(life)) return;
  if (life.allowed) return go(life);
  if (!life.asked) life.hear.ready();
  life.asked = true;
}

/** Everything around the command stands: only now it starts, and only now its time runs. */
function go(life: Life): void {
  if (!stands(life) || life.went !== null) return;
  if (life.job.spare) life.mounts = mountsOf(life.job, life.inner);
  life.went = performance.now();
  life.started?.child.stdin?.end(life.job.fed.go);
  life.timers.push(setTimeout(() => stop(life, "timeout"), life.job.timeoutMs));
}

function stop(life: Life, reason: RunEnd): void {
  if (life.reason !== null || life.left) return;
  life.reason = reason;
  const child = life.started?.child;
  // It has not begun: it waits for its lock no longer.
  if (child === undefined) return life.claim?.release();
  child.stdin?.destroy();
  const leader = child.pid;
  if (leader === undefined) return;
  if (life.inner === null) {
    kill(-leader);
    return;
  }
  // From inside out: what stands outside leaves last, when nothing is left that could write.
  kill(life.inner);
  life.timers.push(setTimeout(() => kill(-leader), LIMITS.stopGrace));
}

/** The leader has gone. What it left in its group goes too; output that a stray holds open is not waited for. */
function leave(life: Life, child: ChildProcess, pipe: OutputPipe): void {
  life.left = true;
  kill(-(child.pid as number));
  const abandon = (patience: number): void => {
    const before = total(life);
    // Looks once more at what has come in: a busy runner may be late, not the output.
    setImmediate(() => {
      if (patience > 0 && total(life) > before) return later(patience - 1);
      pipe.close();
      for (const stream of child.stdio) stream?.destroy();
    });
  };
  const later = (patience: number): void => void life.timers.push(setTimeout(abandon, LIMITS.outputDrain, patience));
  later(8);
}

function total({ output }: Life): number {
  return output?.captured.total() ?? 0;
}

/**
 * With the first process inside everything inside has ended. It may be a moment behind when the one outside was ended
 * first. False when it does not end.
 */
async function gone({ inner, born }: Life): Promise<boolean> {
  if (inner === null || born === null) return true;
  for (const until = performance.now() + ENDING_MS; startOf(inner) === born; await wait(2)) if (performance.now() > until) return false;
  return true;
}

function verdict(life: Life): Ended {
  const ended = {
    ...(life.output?.captured.end() ?? { last: new Uint8Array(), total: 0 }),
    ms: life.went === null ? 0 : performance.now() - life.went,
    words: "",
  };
  if (life.reason !== null) return { ...ended, how: life.reason, exit: null };
  const { exitCode = null, signalCode = null } = life.started?.child ?? {};
  if (life.went === null) return refusal(life.words.replace(READY, "").trim() || `ended with ${exitCode ?? signalCode}`);
  const own = exitCode ?? 128 + system.signals[signalCode as NodeJS.Signals];
  const exit = life.job.seccomp === null ? own : life.status;
  // Somebody ended the sandbox itself (the kernel when memory ran out): how the command fared is unknown.
  return exit === null ? { ...ended, how: "interrupted", exit } : { ...ended, how: "exited", exit };
}

/** What we ourselves threw says so; the rest is for whoever knows what tools say. */
function wordsOf(thrown: unknown): string {
  const words = messageOf(thrown);
  const { code } = thrown as NodeJS.ErrnoException;
  return code === undefined || TOOL.test(words) ? words : `${RUNNER_DIED} ${words}`;
}

/** Nothing was started; why, in the words of what kept it. */
export function refusal(words: string): Ended {
  return { how: "refused", exit: null, last: new Uint8Array(), total: 0, ms: 0, words };
}
