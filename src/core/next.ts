import { LIMITS } from "../limits.ts";
import { type CallState, openApproval, openRun, type State, type Step, type Turn } from "./conversation.ts";
import type { Entry, NewEntry, Person } from "./entry.ts";
import { REPEATS, sameInARow, takingTurns } from "./repeats.ts";
import { type Limits, SHIPPED } from "./spending.ts";

/** What to do now. `next` is the only place that decides it. */
export type Todo =
  | { do: "ask-model" }
  /** What people attached is there: text goes to the workspace, and the model is told of it. */
  | { do: "take-files"; received: Entry<"received"> }
  /** A person wants an interrupted command once more: a step of one call, in the place of the model's. */
  | { do: "run-again"; message: Entry<"message"> }
  | { do: "judge"; calls: CallState[] }
  | { do: "ask-person"; call: CallState }
  /** Several at once only when all of them only read. */
  | { do: "run"; calls: CallState[] }
  /** Nothing is started for these calls; the model is told why. */
  | { do: "refuse"; calls: CallState[]; why: Refusal; by?: Person }
  /** A run without an end: a crash came between. It may have happened; it is never run again. */
  | { do: "interrupt"; call: CallState }
  | { do: "close-approval"; call: CallState; decision: "cancelled" | "superseded"; by?: Person }
  /** A limit is reached: people are asked whether to go on. */
  | { do: "pause"; why: string }
  | { do: "finish"; reason: "answer" | "stopped"; answers: number[] };

export type Refusal =
  | "cut"
  | "too-many"
  | "no-tool"
  | "bad-arguments"
  | "denied-by-gate"
  | "denied"
  | "expired"
  | "superseded"
  | "cancelled"
  | "parked"
  | "changed";

/** What to do now, or null: the conversation is answered, or waits for a person. */
export function next(state: State, limits: Limits = SHIPPED): Todo | null {
  const run = openRun(state);
  if (run) return { do: "interrupt", call: run };
  if (state.stop) return stopping(state);
  if (state.parked) return null;
  const open = state.step?.calls.filter((c) => !c.ended) ?? [];
  const first = open[0];
  if (state.step && first) return advanceCalls(state, state.step, first, open, limits.turn.calls);
  if (!state.turn) return null;
  if (state.step && state.step.calls.length === 0) {
    return { do: "finish", reason: "answer", answers: readMessages(state, state.step.entry.read) };
  }
  if (state.paused) return null;
  const [again] = state.again;
  if (again) return { do: "run-again", message: again };
  const limit = limitReached(state.turn, limits.turn);
  if (limit) return { do: "pause", why: limit };
  // A gateway fetches them, or says why not.
  if (state.fetching.length > 0) return null;
  const [received] = state.received;
  if (received) return { do: "take-files", received };
  return { do: "ask-model" };
}

function advanceCalls(state: State, step: Step, first: CallState, open: CallState[], most: number): Todo | null {
  const refused = refusedUnjudged(step.entry, state.turn?.calls ?? 0, most);
  if (refused) return { do: "refuse", calls: open, why: refused };
  const unjudged = open.filter((c) => !c.judged);
  if (unjudged.length > 0) return { do: "judge", calls: unjudged };
  const superseded = step.calls.find((c) => c.decided?.decision === "superseded");
  if (superseded) return { do: "refuse", calls: open, why: "superseded", ...by(superseded) };
  const waits = first.judged?.verdict === "ask" && !first.decided;
  // Who pressed "Run again" may have approved by that: later words do not take it back.
  const approves = step.entry.again !== undefined && !first.asked;
  const newer = waits && !approves && newWords(state, step);
  if (!newer) return advanceCall(first, open);
  // The requester wrote on while the model was thinking: nobody is asked about what came before those words.
  if (first.asked) return { do: "close-approval", call: first, decision: "superseded", by: newer.by };
  return { do: "refuse", calls: open, why: "superseded", by: newer.by };
}

/** Why none of an answer's calls is even judged, when its turn has made `made` calls of at most `most`; null: they are. */
export function refusedUnjudged({ finish, calls }: NewEntry<"model">, made: number, most: number): Refusal | null {
  if (finish === "cut") return "cut";
  return calls.length > LIMITS.callsPerStep || made > most ? "too-many" : null;
}

/** Words of the requester that the model has not read yet. A press on a button says nothing of the request that waits. */
function newWords(state: State, step: Step): Entry<"message"> | undefined {
  return state.unanswered.find((m) => m.seq > step.entry.read && m.by.key === state.turn?.requester.key && !m.pressed);
}

function advanceCall(call: CallState, open: CallState[]): Todo | null {
  if (call.judged?.verdict === "deny") return { do: "refuse", calls: [call], why: "denied-by-gate" };
  if (call.judged?.verdict === "auto") return { do: "run", calls: beside(open) };
  if (!call.asked) return { do: "ask-person", call };
  if (!call.decided) return null;
  if (call.decided.decision === "approved") return { do: "run", calls: [call] };
  return { do: "refuse", calls: [call], why: call.decided.decision, ...by(call) };
}

/** The first of these calls, and those right after it that only read as it does: they change nothing for each other. */
function beside(open: CallState[]): CallState[] {
  const other = open.findIndex(({ judged }) => judged?.verdict !== "auto" || !judged.reads);
  return open.slice(0, Math.max(1, Math.min(LIMITS.readsAtOnce, other === -1 ? open.length : other)));
}

function by(call: CallState): { by?: Person } {
  return call.decided?.by ? { by: call.decided.by } : {};
}

function stopping(state: State): Todo {
  const asked = openApproval(state);
  const person = state.stop ? { by: state.stop.by } : {};
  if (asked) return { do: "close-approval", call: asked, decision: "cancelled", ...person };
  const open = state.step?.calls.filter((c) => !c.ended) ?? [];
  if (open.length > 0) return { do: "refuse", calls: open, why: "cancelled", ...person };
  return { do: "finish", reason: "stopped", answers: readMessages(state, state.stop?.seq ?? state.seq) };
}

function readMessages(state: State, upTo: number): number[] {
  return state.unanswered.filter((m) => m.seq <= upTo).map((m) => m.seq);
}

/** Why people are asked before the turn goes on, in words for the thread; null while there is room. */
function limitReached(turn: Turn, { steps, calls, ms }: Limits["turn"]): string | null {
  if (turn.invalid >= 3) return "the model's calls could not be understood three times in a row";
  if (sameInARow(turn.recent) >= REPEATS.asked) return `it did the same ${REPEATS.asked} times in a row, and the same came of it`;
  if (takingTurns(turn.recent) >= REPEATS.cycles) return `it went to and fro between the same two calls ${REPEATS.cycles} times`;
  if (turn.steps >= steps) return `it took ${steps} steps`;
  if (turn.calls >= calls) return `it made ${calls} calls`;
  if (turn.activeMs >= ms) return workedLong(ms);
  return null;
}

/** That the turn's time is used up, in words for the thread. */
export function workedLong(ms: number): string {
  return `it worked for ${ms / 60_000} minutes`;
}
