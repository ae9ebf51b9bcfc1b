import { LIMITS } from "../limits.ts";
import { type Call, type Entry, type Person, isEntry } from "./entry.ts";

/** One call of a step and everything that has happened to it. */
export interface CallState {
  call: Call;
  judged?: Entry<"judged">;
  asked?: Entry<"approval-asked">;
  decided?: Entry<"approval-decided">;
  started?: Entry<"run-started">;
  ended?: Entry<"run-ended">;
}

/** The newest answer of the model in an open turn. */
export interface Step {
  entry: Entry<"model">;
  calls: CallState[];
}

/** The work from a person's message to its answer. */
export interface Turn {
  /** Seq and time of the message that opened it. */
  first: number;
  at: number;
  requester: Person;
  steps: number;
  calls: number;
  /** Model and command time so far; waiting for people does not count. */
  activeMs: number;
  /** Steps in a row of which no call could be understood. */
  invalid: number;
}

export interface State {
  seq: number;
  opened: Entry<"opened"> | null;
  /** Messages to the bot that no `final` or `failed` has answered yet, oldest first. */
  unanswered: Entry<"message">[];
  turn: Turn | null;
  step: Step | null;
  /** Presses on "Run again" that have come to nothing yet, oldest first; they are among the unanswered too. */
  again: Entry<"message">[];
  /** A stop that has not taken effect. */
  stop: Entry<"stop"> | null;
  /** Nothing is done here until somebody lets it go on. */
  parked: Entry<"failed"> | null;
}

/** What to do now. `next` is the only place that decides it. */
export type Todo =
  | { do: "ask-model" }
  /** A person wants an interrupted command once more: a step of one call, in the place of the model's. */
  | { do: "run-again"; message: Entry<"message"> }
  | { do: "judge"; calls: CallState[] }
  | { do: "ask-person"; call: CallState }
  | { do: "run"; call: CallState }
  /** Nothing is started for these calls; the model is told why. */
  | { do: "refuse"; calls: CallState[]; why: Refusal; by?: Person }
  /** A run without an end: a crash came between. It may have happened; it is never run again. */
  | { do: "interrupt"; call: CallState }
  | { do: "close-approval"; call: CallState; decision: "cancelled" | "superseded"; by?: Person }
  | { do: "finish"; reason: "answer" | "stopped" | "limit"; answers: number[] };

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

export function emptyState(): State {
  return { seq: 0, opened: null, unanswered: [], turn: null, step: null, again: [], stop: null, parked: null };
}

/** Folds entries into a state; give the state so far to go on from it (it is changed in place). */
export function fold(entries: Entry[], state: State = emptyState()): State {
  for (const entry of entries) advance(state, entry);
  return state;
}

function advance(state: State, entry: Entry): void {
  state.seq = entry.seq;
  switch (entry.type) {
    case "opened":
      state.opened = entry;
      return;
    case "message":
      if (entry.to === "bot") hear(state, entry);
      return;
    case "edited":
      state.unanswered = state.unanswered.map((m) => (m.event === entry.event ? { ...m, text: entry.text } : m));
      return;
    case "removed":
      takeBack(state, entry);
      return;
    case "model":
      answerOfModel(state, entry);
      return;
    case "stop":
      if (state.turn) state.stop = entry;
      return;
    case "final":
    case "failed":
      close(state, entry);
      return;
    case "retried":
      state.parked = null;
      return;
    case "choice":
    case "compacted":
      return;
    default:
      happenedToCall(state, entry);
  }
}

function hear(state: State, message: Entry<"message">): void {
  state.unanswered.push(message);
  if (message.pressed?.choice === "again") state.again.push(message);
  state.turn ??= openTurn(message);
}

function openTurn(message: Entry<"message">): Turn {
  return { first: message.seq, at: message.at, requester: message.by, steps: 0, calls: 0, activeMs: 0, invalid: 0 };
}

/** A message that no answer has read is as if it had not been; the turn is then the next person's. */
function takeBack(state: State, removed: Entry<"removed">): void {
  state.unanswered = state.unanswered.filter((m) => m.event !== removed.event || isRead(state, m));
  const waiting = state.unanswered[0];
  if (state.step === null && state.turn?.first !== waiting?.seq) state.turn = waiting ? openTurn(waiting) : null;
}

function isRead(state: State, message: Entry<"message">): boolean {
  return state.step !== null && message.seq <= state.step.entry.read;
}

function answerOfModel(state: State, entry: Entry<"model">): void {
  state.again = state.again.filter((m) => m.seq !== entry.again);
  // What it answers was removed while it thought: nobody waits for it, and nothing of it runs.
  if (!state.turn || state.turn.first > entry.read) return;
  state.step = { entry, calls: entry.calls.map((call) => ({ call })) };
  // What people want counts for nothing against the model.
  if (entry.again !== undefined) return;
  state.turn.steps += 1;
  state.turn.calls += entry.calls.length;
  state.turn.activeMs += entry.ms;
}

function happenedToCall(state: State, entry: Entry<"judged" | "approval-asked" | "approval-decided" | "run-started" | "run-ended">): void {
  const call = state.step?.calls.find((c) => c.call.id === entry.call);
  if (!call) return;
  if (isEntry(entry, "judged")) call.judged = entry;
  else if (isEntry(entry, "approval-asked")) call.asked = entry;
  else if (isEntry(entry, "approval-decided")) call.decided ??= entry;
  else if (isEntry(entry, "run-started")) call.started = entry;
  else if (isEntry(entry, "run-ended")) endCall(state, call, entry);
}

function endCall(state: State, call: CallState, entry: Entry<"run-ended">): void {
  call.ended = entry;
  if (!state.turn || !state.step) return;
  state.turn.activeMs += entry.ms;
  if (!state.step.calls.every((c) => c.ended)) return;
  const understood = state.step.calls.some((c) => !["cut", "no-tool", "bad-arguments"].includes(c.ended?.why ?? ""));
  state.turn.invalid = understood ? 0 : state.turn.invalid + 1;
}

function close(state: State, entry: Entry<"final" | "failed">): void {
  state.unanswered = state.unanswered.filter((m) => !entry.answers.includes(m.seq));
  state.again = state.again.filter((m) => !entry.answers.includes(m.seq));
  state.step = null;
  state.stop = null;
  state.parked = isEntry(entry, "failed") && entry.parked ? entry : null;
  const waiting = state.unanswered[0];
  state.turn = waiting ? openTurn(waiting) : null;
}

/** The call whose approval is open, if one is. */
export function openApproval(state: State): CallState | undefined {
  return state.step?.calls.find((c) => c.asked && !c.decided && !c.ended);
}

/** A run that was started and has not ended. */
export function openRun(state: State): CallState | undefined {
  return state.step?.calls.find((c) => c.started && !c.ended);
}

/** What to do now, or null: the conversation is answered, or waits for a person. */
export function next(state: State): Todo | null {
  const run = openRun(state);
  if (run) return { do: "interrupt", call: run };
  if (state.stop) return stopping(state);
  if (state.parked) return null;
  const open = state.step?.calls.filter((c) => !c.ended) ?? [];
  const first = open[0];
  if (state.step && first) return advanceCalls(state, state.step, first, open);
  if (!state.turn) return null;
  const limit = limitReached(state.turn);
  if (state.step && state.step.calls.length === 0) {
    return { do: "finish", reason: "answer", answers: readMessages(state, state.step.entry.read) };
  }
  const [again] = state.again;
  if (again) return { do: "run-again", message: again };
  if (limit) return { do: "finish", reason: "limit", answers: readMessages(state, state.seq) };
  return { do: "ask-model" };
}

function advanceCalls(state: State, step: Step, first: CallState, open: CallState[]): Todo | null {
  if (step.entry.finish === "cut") return { do: "refuse", calls: open, why: "cut" };
  if (step.calls.length > LIMITS.callsPerStep || (state.turn?.calls ?? 0) > LIMITS.callsPerTurn) {
    return { do: "refuse", calls: open, why: "too-many" };
  }
  const unjudged = open.filter((c) => !c.judged);
  if (unjudged.length > 0) return { do: "judge", calls: unjudged };
  const superseded = step.calls.find((c) => c.decided?.decision === "superseded");
  if (superseded) return { do: "refuse", calls: open, why: "superseded", ...by(superseded) };
  const waits = first.judged?.verdict === "ask" && !first.decided;
  // Who pressed "Run again" may have approved by that: later words do not take it back.
  const approves = step.entry.again !== undefined && !first.asked;
  const newer = waits && !approves && newWords(state, step);
  if (!newer) return advanceCall(first);
  // The requester wrote on while the model was thinking: nobody is asked about what came before those words.
  if (first.asked) return { do: "close-approval", call: first, decision: "superseded", by: newer.by };
  return { do: "refuse", calls: open, why: "superseded", by: newer.by };
}

/** Words of the requester that the model has not read yet. A press on a button says nothing of the request that waits. */
function newWords(state: State, step: Step): Entry<"message"> | undefined {
  return state.unanswered.find((m) => m.seq > step.entry.read && m.by.key === state.turn?.requester.key && !m.pressed);
}

function advanceCall(call: CallState): Todo | null {
  if (call.judged?.verdict === "deny") return { do: "refuse", calls: [call], why: "denied-by-gate" };
  if (call.judged?.verdict === "auto") return { do: "run", call };
  if (!call.asked) return { do: "ask-person", call };
  if (!call.decided) return null;
  if (call.decided.decision === "approved") return { do: "run", call };
  return { do: "refuse", calls: [call], why: call.decided.decision, ...by(call) };
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

/** Why the turn must end now, in words for the thread; null while there is room. */
export function limitReached(turn: Turn): string | null {
  if (turn.invalid >= 3) return "the model's calls could not be understood three times in a row";
  if (turn.steps >= LIMITS.stepsPerTurn) return `it took ${LIMITS.stepsPerTurn} steps`;
  if (turn.calls >= LIMITS.callsPerTurn) return `it made ${LIMITS.callsPerTurn} calls`;
  if (turn.activeMs >= LIMITS.activePerTurn) return `it worked for ${LIMITS.activePerTurn / 60_000} minutes`;
  return null;
}
