import { type CallState, openRun } from "./conversation.ts";
import type { Call, NewEntry, Person } from "./entry.ts";
import { LIMITS } from "../limits.ts";
import { withinBudget } from "./budget.ts";
import type { Hands } from "./hands.ts";
import { askModel } from "./ask-model.ts";
import { askPerson, ended, judgeCalls, judgedWith, refusal } from "./call.ts";
import { DeckhandError, messageOf } from "./errors.ts";
import { takeFiles } from "./inbox.ts";
import { callAgain } from "./interrupted.ts";
import type { Redact } from "./redactor.ts";
import { next, type Todo, workedLong } from "./next.ts";
import { pause } from "./pause.ts";
import { noted } from "./repeats.ts";
import type { RuledPlace } from "./judging.ts";
import { type Early, interrupted, runCall } from "./run.ts";
import { type Ends, patiently, type Session } from "./session.ts";

/**
 * The agent loop: look at the log, do what it says is next, append what came of it, until there is nothing to
 * do: the people are answered, or a person has to decide. It starts anywhere, so that going on after a crash,
 * a restart or an approval is no special path. Whoever leaves begins nothing more. Throws REDIS_FENCED when another
 * worker took over.
 */
export async function loop(session: Session, hands: Hands, ends: Ends): Promise<void> {
  let ahead: Ahead | null = null;
  const judging: Judging = { place: null };
  try {
    // What is in the log as started is not left standing.
    while (ahead?.start() || !(ends.signal.aborted || ends.leaving.aborted)) {
      const todo: Todo | null = next(session.state, hands.limits);
      if (todo === null) return;
      const ours: Ahead | null = isFor(ahead, todo) ? ahead : null;
      if (!ours) await ahead?.drop();
      const news = noted(ours ? await goOn(ours, session, hands, ends) : await perform(todo, session, hands, ends, judging), session.state);
      ahead = judging.place && runAhead(news, judging.place, session, hands, ends);
      judging.place = null;
      await ahead?.stands;
      const start = ahead?.start();
      await session.append(start ? [...news, start] : news);
      // Whoever asked has taken their words back meanwhile: the answer counts for nothing, so nothing of it is let go.
      if (start && openRun(session.state)?.call.id !== start.call) await session.append([takenBack(start.call)]);
    }
  } finally {
    await ahead?.drop();
  }
}

/** Where the calls of an answer that is not in the log yet have just been judged for. */
interface Judging {
  place: RuledPlace | null;
}

async function perform(todo: Todo, session: Session, hands: Hands, ends: Ends, judging: Judging): Promise<NewEntry[]> {
  const { signal, leaving } = ends;
  switch (todo.do) {
    case "ask-model":
      // A request is not waited for: whoever goes on asks again.
      return await untilStopped(
        session,
        hands,
        { signal: AbortSignal.any([signal, leaving]), timeMs: timeLeft(session, hands) },
        async (stopped) => {
          const answer = await withinBudget(session, hands, stopped, () => askModel(session, hands, stopped));
          // What had no time left to come.
          if (answer.length === 0 && stopped.reason === LATE) return [pause(workedLong(hands.limits.turn.ms), session, hands)];
          const judged = await judgedWith(answer, session, hands, signal);
          judging.place = judged?.place ?? null;
          return [...answer, ...(judged?.entries ?? [])];
        },
      );
    case "take-files":
      return [await takeFiles(todo.received, session, hands)];
    case "run-again":
      return [callAgain(todo.message, session, hands)];
    case "judge":
      return await judgeCalls(todo.calls.map(callOf), session, hands, signal);
    case "ask-person":
      return await askPerson(todo.call, session, hands, signal);
    case "run":
      return await untilStopped(session, hands, { signal }, (stopped) => runAll(todo.calls, session, hands, stopped, ends));
    case "refuse":
      return todo.calls.map((call) => refusal(call, todo.why, session, hands, todo.by));
    case "interrupt":
      return [interrupted(todo.call, session, hands)];
    case "close-approval":
      await closeApproval(todo, hands, signal);
      return [];
    case "pause":
      return [pause(todo.why, session, hands)];
    case "finish":
      return [finish(todo, session, hands)];
  }
}

/** A command for which everything is set up while the answer that wants it is being kept; it is let go only after that. */
interface Ahead {
  id: string;
  /** Resolves when everything around it stands, and at the latest after LIMITS.startAlong. */
  stands: Promise<unknown>;
  /** What is to be kept together with the answer, once it stands; null: not yet, or it will not run. */
  start(): NewEntry<"run-started"> | null;
  take(stopped: AbortSignal): Promise<NewEntry[]>;
  /** It is not wanted: nothing has run. Never rejects; after `take` it changes nothing. */
  drop(): Promise<void>;
}

/** The one call of an answer, when it will run without a question. */
function runAhead(news: NewEntry[], place: RuledPlace, session: Session, hands: Hands, ends: Ends): Ahead | null {
  const [model, judged, ...others] = news;
  if (model?.type !== "model" || judged?.type !== "judged" || judged.verdict !== "auto" || others.length > 0) return null;
  const [call] = model.calls;
  if (!call || model.calls.length > 1) return null;
  const wanted = Promise.withResolvers<boolean>();
  const stands = Promise.withResolvers<void>();
  const over = new AbortController();
  const early: Early = { wanted: wanted.promise, isSure: false, place, stands: stands.resolve, start: null };
  const asked: CallState = { call, judged: { ...judged, v: 1, seq: 0, at: 0, epoch: 0 } };
  const run = runCall(asked, session, hands, over.signal, ends, early).finally(stands.resolve);
  run.catch(() => {}); // whoever takes it is told
  const late = new AbortController();
  const inTime = Promise.race([stands.promise, hands.clock.sleep(LIMITS.startAlong, late.signal)]);
  return {
    id: call.id,
    stands: inTime.finally(() => late.abort("over")), // with a reason of ours: else an error is made, with its stack
    start: () => early.start,
    async take(stopped) {
      stopped.addEventListener("abort", () => over.abort());
      if (stopped.aborted) over.abort();
      early.isSure = true;
      wanted.resolve(true);
      return await run;
    },
    async drop() {
      wanted.resolve(false);
      over.abort();
      await run.catch(() => {});
    },
  };
}

/** It may be in the log as started already: nobody but us has begun it. */
function isFor(ahead: Ahead | null, todo: Todo): boolean {
  if (todo.do === "interrupt") return ahead?.start() != null && todo.call.call.id === ahead.id;
  return todo.do === "run" && todo.calls.length === 1 && todo.calls[0]?.call.id === ahead?.id;
}

async function goOn(ahead: Ahead, session: Session, hands: Hands, { signal }: Ends): Promise<NewEntry[]> {
  return await untilStopped(session, hands, { signal }, (stopped) => ahead.take(stopped));
}

function takenBack(call: string): NewEntry {
  return ended(call, "refused", "Not run: what it was wanted for was taken back.", "cancelled");
}

function callOf({ call }: CallState): Call {
  return call;
}

/** One call, or several that only read, side by side: each result is kept when it is there. */
async function runAll(calls: CallState[], session: Session, hands: Hands, stopped: AbortSignal, ends: Ends): Promise<NewEntry[]> {
  const [first, ...others] = calls;
  if (first && others.length === 0) return await runCall(first, session, hands, stopped, ends);
  const runs = calls.map(async (call) => session.append(noted(await runCall(call, session, hands, stopped, ends), session.state)));
  // All of them have ended before anything else is done, also when one could not be kept.
  const failed = (await Promise.allSettled(runs)).find((run) => run.status === "rejected");
  if (failed) throw failed.reason;
  return [];
}

/** Why work is ended whose time is used up. */
const LATE = "the turn's time is used up";

/** Milliseconds that a request may take. */
function timeLeft({ state }: Session, { limits }: Hands): number {
  return limits.turn.ms - (state.turn?.activeMs ?? 0);
}

/** Does the work under a signal that also aborts when somebody stops the conversation, or after `timeMs`, with LATE. */
async function untilStopped<T>(
  session: Session,
  hands: Hands,
  { signal, timeMs = Number.POSITIVE_INFINITY }: { signal: AbortSignal; timeMs?: number },
  work: (stopped: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  // What AbortSignal.any does costs several times as much, at each step.
  const pass = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", pass);
  if (signal.aborted) pass();
  const endWatch = watchStop(session, hands, stop, hands.clock.now() + timeMs);
  try {
    return await work(stop.signal);
  } finally {
    signal.removeEventListener("abort", pass);
    await endWatch();
  }
}

/** Looks for a stop on each hint and, as hints may be lost, now and then anyway; also at the clock. Gives its end. */
function watchStop(session: Session, hands: Hands, stop: AbortController, until: number): () => Promise<void> {
  const { log, clock, trace } = hands;
  const { conversation } = session;
  const over = { yes: false };
  // Aborted with reasons of ours: else an error is made, with its stack, at each step.
  let nudge = new AbortController();
  const lost = (thrown: unknown): null => {
    trace.info("stop-watch", { conversation, error: messageOf(thrown) }); // the next look sees it
    return null;
  };
  async function watch(): Promise<void> {
    const off = await log.onHint((about) => about === conversation && nudge.abort("hint")).catch(lost);
    while (!over.yes && !stop.signal.aborted) {
      await clock.sleep(hands.stopPollMs, nudge.signal);
      if (over.yes) break;
      nudge = new AbortController();
      if (clock.now() >= until) stop.abort(LATE);
      const seq = await log.stopSeq(conversation).catch(lost);
      // An append beside it may have read the stop before us.
      if (session.state.stop || (seq !== null && seq > session.state.seq)) stop.abort();
    }
    await off?.().catch(lost);
  }
  const watching = watch();
  return async () => {
    over.yes = true;
    nudge.abort("over");
    await watching;
  };
}

async function closeApproval(todo: Extract<Todo, { do: "close-approval" }>, hands: Hands, signal: AbortSignal): Promise<void> {
  const { call, do: _, ...decision } = todo;
  await patiently(() => hands.log.decide(call.asked?.approval ?? "", hands.clock.now(), decision), hands.clock, signal);
}

function finish(todo: Extract<Todo, { do: "finish" }>, session: Session, { redact }: Hands): NewEntry {
  const { answers } = todo;
  const step = session.state.step;
  if (todo.reason === "answer" && step?.entry.finish === "filter") {
    const error = new DeckhandError("MODEL_FILTER", "content filter");
    return { type: "failed", code: error.code, text: error.line(), answers };
  }
  if (todo.reason === "answer") {
    const cut = step?.entry.finish === "cut";
    return { type: "final", text: step?.entry.text ?? "", answers, reason: "answer", ...(cut ? { cut } : {}) };
  }
  return { type: "final", text: stoppedText(session.state.stop?.by, step?.calls ?? [], redact), answers, reason: "stopped" };
}

function stoppedText(by: Person | undefined, calls: CallState[], redact: Redact): string {
  const ended = calls.filter((c) => c.ended?.how === "cancelled").map((c) => `Ended: \`${short(c, redact)}\`.`);
  const notRun = calls.filter((c) => c.ended?.why === "cancelled").map((c) => `Not run: \`${short(c, redact)}\`.`);
  const what = [...ended, ...notRun].join(" ") || "No command was running.";
  return `Stopped by ${by?.name ?? "a person"}. ${what}`;
}

/** Redacted before it is cut: half a secret would no longer be known. */
function short(call: CallState, redact: Redact): string {
  const title = redact(call.judged?.title ?? call.call.name)
    .replaceAll("`", "'")
    .replaceAll("\n", " ");
  return title.length > 80 ? `${title.slice(0, 79)}…` : title;
}
