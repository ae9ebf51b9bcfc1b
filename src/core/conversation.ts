import { remembering, signatureOf } from "./repeats.ts";
import { NOTHING, plus, type Spent, spentBy } from "./spending.ts";
import { type Call, type DaySpent, type Entry, type Person, isEntry } from "./entry.ts";

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
  /** What the newest calls did and what came of it; see core/repeats.ts. */
  recent: string[];
  spent: Spent;
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
  /** A limit was reached: somebody who may approve has to say whether the turn goes on. */
  paused: Entry<"paused"> | null;
  /** Unanswered messages whose attached files no gateway has fetched yet. */
  fetching: Entry<"message">[];
  /** Fetched files that the model has not been told of. */
  received: Entry<"received">[];
  /** The model that somebody chose here, by its name; null: nobody has. */
  model: string | null;
  /** What the whole conversation has taken. */
  spent: Spent;
  /** What was taken of its thread, and of that day, when somebody last let the work go on: as much again may be from there. */
  allowed: { thread: Spent; day: DaySpent | null };
}

export function emptyState(): State {
  return {
    seq: 0,
    opened: null,
    unanswered: [],
    turn: null,
    step: null,
    again: [],
    stop: null,
    parked: null,
    paused: null,
    model: null,
    fetching: [],
    received: [],
    spent: NOTHING,
    allowed: { thread: NOTHING, day: null },
  };
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
      state.model = entry.use ?? state.model;
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
    case "paused":
      if (state.turn) state.paused = entry;
      return;
    case "choice":
      if (entry.of === state.paused?.seq) goOn(state, entry);
      return;
    case "received":
      receive(state, entry);
      return;
    case "brief":
      if (entry.about === "files") state.received = state.received.filter(({ of }) => of !== entry.parent);
      return;
    case "compacted":
      spend(state, entry);
      return;
    default:
      happenedToCall(state, entry);
  }
}

function hear(state: State, message: Entry<"message">): void {
  state.unanswered.push(message);
  if (message.files && message.files.length > 0) state.fetching.push(message);
  if (message.pressed?.choice === "again") state.again.push(message);
  state.turn ??= openTurn(message);
}

function openTurn(message: Entry<"message">): Turn {
  return {
    first: message.seq,
    at: message.at,
    requester: message.by,
    steps: 0,
    calls: 0,
    activeMs: 0,
    invalid: 0,
    recent: [],
    spent: NOTHING,
  };
}

/** What comes after its message was taken back or answered is left alone. */
function receive(state: State, entry: Entry<"received">): void {
  const waiting = state.fetching.filter(({ seq }) => seq !== entry.of);
  if (waiting.length < state.fetching.length) state.received.push(entry);
  state.fetching = waiting;
}

/** A message that no answer has read is as if it had not been; the turn is then the next person's. */
function takeBack(state: State, removed: Entry<"removed">): void {
  state.unanswered = state.unanswered.filter((m) => m.event !== removed.event || isRead(state, m));
  state.fetching = state.fetching.filter((m) => m.event !== removed.event);
  state.received = state.received.filter(({ of }) => of !== removed.parent);
  const waiting = state.unanswered[0];
  if (state.step !== null || state.turn?.first === waiting?.seq) return;
  state.turn = waiting ? openTurn(waiting) : null;
  state.paused = null;
}

function isRead(state: State, message: Entry<"message">): boolean {
  return state.step !== null && message.seq <= state.step.entry.read;
}

function answerOfModel(state: State, entry: Entry<"model">): void {
  state.again = state.again.filter((m) => m.seq !== entry.again);
  spend(state, entry);
  // What it answers was removed while it thought: nobody waits for it, and nothing of it runs.
  if (!state.turn || state.turn.first > entry.read) return;
  state.step = { entry, calls: entry.calls.map((call) => ({ call })) };
  // What people want counts for nothing against the model.
  if (entry.again !== undefined) return;
  state.turn.steps += 1;
  state.turn.calls += entry.calls.length;
  state.turn.activeMs += entry.ms;
}

function spend(state: State, entry: Entry<"model" | "compacted">): void {
  const spent = spentBy(entry);
  state.spent = plus(state.spent, spent);
  if (state.turn) state.turn.spent = plus(state.turn.spent, spent);
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
  if (state.step.entry.again === undefined) state.turn.recent = remembering(state.turn.recent, signatureOf(call.call, entry));
  if (!state.step.calls.every((c) => c.ended)) return;
  const understood = state.step.calls.some((c) => !["cut", "no-tool", "bad-arguments"].includes(c.ended?.why ?? ""));
  state.turn.invalid = understood ? 0 : state.turn.invalid + 1;
}

function close(state: State, entry: Entry<"final" | "failed">): void {
  state.unanswered = state.unanswered.filter((m) => !entry.answers.includes(m.seq));
  state.again = state.again.filter((m) => !entry.answers.includes(m.seq));
  state.fetching = state.fetching.filter((m) => !entry.answers.includes(m.seq));
  state.step = null;
  state.stop = null;
  state.paused = null;
  state.parked = isEntry(entry, "failed") && entry.parked ? entry : null;
  const waiting = state.unanswered[0];
  state.turn = waiting ? openTurn(waiting) : null;
}

/** Continue: as much again of what was used up. Stop: as if somebody had said so. */
function goOn(state: State, entry: Entry<"choice">): void {
  const { limit } = state.paused ?? {};
  state.paused = null;
  if (!state.turn) return;
  if (entry.choice !== "continue") state.stop = { ...entry, type: "stop", event: "", by: entry.by };
  else if (limit === "thread") state.allowed.thread = state.spent;
  else if (limit !== undefined) state.allowed.day = limit;
  else Object.assign(state.turn, { steps: 0, calls: 0, activeMs: 0, invalid: 0, recent: [], spent: NOTHING });
}

/** The call whose approval is open, if one is. */
export function openApproval(state: State): CallState | undefined {
  return state.step?.calls.find((c) => c.asked && !c.decided && !c.ended);
}

/** A run that was started and has not ended. */
export function openRun(state: State): CallState | undefined {
  return state.step?.calls.find((c) => c.started && !c.ended);
}
