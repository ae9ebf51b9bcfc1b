import fc from "fast-check";
import { type State, emptyState, fold, openApproval } from "../../src/core/conversation.ts";
import { type Todo, next } from "../../src/core/next.ts";
import type { Decision, Entry, NewEntry, Person } from "../../src/core/entry.ts";
import { choicesIn } from "../../src/core/choice.ts";
import { callAgain } from "../../src/core/interrupted.ts";

/** Logs as real work leaves them: `next` says what is to be done, chance says how it ends and what comes in between. */

export const ann: Person = { key: "slack:U1", name: "Ann", kind: "member", roles: [] };
export const bob: Person = { key: "slack:U2", name: "Bob", kind: "member", roles: [] };

export function opened(): NewEntry {
  return { type: "opened", platform: "slack", thread: "slack:T1:C1:1.1", channel: "slack:C1", workspace: "api" };
}

export function message(text: string, by: Person = ann, event = text): NewEntry {
  return { type: "message", event, by, text, to: "bot" };
}

/** Gives entries their places: seq 1, 2, 3 ..., one second apart. */
export function numbered(news: NewEntry[], from = 1): Entry[] {
  return news.map((entry, i) => ({ ...entry, v: 1, seq: from + i, at: (from + i) * 1000, epoch: 1 }) as Entry);
}

/** One random log; a number per decision. It may end anywhere, as after a crash. */
export const anyLog: fc.Arbitrary<Entry[]> = fc.array(fc.nat({ max: 999 }), { minLength: 1, maxLength: 60, size: "max" }).map(buildLog);

function buildLog(choices: number[]): Entry[] {
  const log = numbered([opened(), message("first")]);
  const state = fold(log, emptyState());
  let ids = 0;
  for (const choice of choices) {
    const input = choice % 5 === 0 ? anInput(choice, log) : null;
    const todo = next(state);
    const news = input
      ? [input]
      : todo && choice % 29 === 0 && !state.stop
        ? parked(state)
        : todo
          ? perform(todo, { choice, log, state, id: () => `call${String((ids += 1)).padStart(5, "0")}` })
          : idle(state, choice, log);
    const placed = numbered(news, log.length + 1);
    log.push(...placed);
    fold(placed, state);
  }
  return log;
}

/** The least that a request of now has read: all but the newest inputs, and what opened the turn. */
function mustHaveRead(log: Entry[], turn: number): number {
  const last = log.findLast((e) => !["message", "edited", "removed", "received"].includes(e.type))?.seq ?? 0;
  return Math.max(last, turn);
}

/** As a worker leaves it that finds a conversation which ended its predecessors. */
function parked({ step }: State): NewEntry[] {
  const open = step?.calls.filter((call) => !call.ended) ?? [];
  const ends = open.flatMap(({ call, started, asked, decided }): NewEntry[] => {
    if (started) return [ended(call.id, "interrupted")];
    const closed: NewEntry[] = asked && !decided ? [decidedAs(asked, "cancelled")] : [];
    return [...closed, ended(call.id, "refused", "parked")];
  });
  return [...ends, { type: "failed", code: "CONVERSATION_PARKED", text: "set aside", answers: [], parked: true }];
}

function decidedAs({ approval, call }: Entry<"approval-asked">, decision: Decision): NewEntry {
  return { type: "approval-decided", approval, call, decision, by: ann };
}

/** A press on a button of the newest interrupted run that has none yet. */
function aChoice(choice: number, log: Entry[]): NewEntry | null {
  const chosen = choicesIn(log);
  const run = log.findLast((e) => e.type === "run-ended" && e.how === "interrupted" && !chosen.has(e.seq));
  if (!run) return null;
  const pressed = { of: run.seq, choice: choice % 2 ? ("look" as const) : ("again" as const) };
  if (choice % 3 === 0) return { type: "choice", of: run.seq, choice: "leave", by: bob };
  return { ...message(`${pressed.choice} ${run.seq}`, choice % 4 > 1 ? ann : bob), pressed } as NewEntry;
}

function anInput(choice: number, log: Entry[]): NewEntry {
  const n = log.length;
  const pressed = choice % 10 === 0 ? aChoice(choice / 10, log) : null;
  if (pressed) return pressed;
  if (choice % 35 === 0) return { type: "stop", event: `stop${n}`, by: bob };
  if (choice % 55 === 0) return { type: "edited", event: "first", text: `changed ${n}` };
  if (choice % 65 === 0) return { type: "removed", event: `more${n - 1}` };
  const files = choice % 15 === 0 ? [{ name: "a.txt", type: "text/plain", bytes: 1, url: "" }] : null;
  return { ...message(`more${n}`, choice % 2 ? ann : bob), ...(files ? { files } : {}) } as NewEntry;
}

/** As a gateway keeps it: a text, a picture, or why there is none. */
function received(of: number, choice: number): NewEntry {
  const bytes = { as: choice % 2 ? ("text" as const) : ("picture" as const), type: "image/png", blob: `b${of}` };
  return { type: "received", parent: of, of, files: [{ name: "a.txt", bytes: 1, ...(choice % 3 ? bytes : { problem: "too large" }) }] };
}

function briefOf({ of, files }: Entry<"received">): NewEntry {
  const pictures = files.flatMap((file) => ("blob" in file && file.as === "picture" ? [file] : []));
  return { type: "brief", parent: of, about: "files", text: "files", ...(pictures.length > 0 ? { pictures } : {}) };
}

function idle(state: State, choice: number, log: Entry[]): NewEntry[] {
  if (state.parked && choice % 2) return [{ type: "retried", by: bob }];
  if (state.paused && choice % 4) return [{ type: "choice", of: state.paused.seq, choice: choice % 2 ? "continue" : "stop", by: ann }];
  const asked = openApproval(state)?.asked;
  const [waiting] = state.fetching;
  if (waiting && choice % 4) return [received(waiting.seq, choice)];
  if (!asked) return [(choice % 4 ? aChoice(choice, log) : null) ?? message(`next${log.length}`)];
  return [decidedAs(asked, (["approved", "denied", "expired", "superseded"] as const)[choice % 4] ?? "denied")];
}

/** What a worker may have to put down before a request. */
function beforeIt(choice: number, log: Entry[]): NewEntry {
  if (!log.some(({ type }) => type === "model" || type === "brief")) return { type: "brief", about: "agents", text: "tabs, no blanks" };
  const upto = 1 + (choice % log.length);
  const marks = { tokens: 30_000, window: choice % 3 ? 32_768 : 4_096 };
  const without = (["pictures", "outputs", "step", "words"] as const)[choice % 8];
  if (without !== undefined) return { type: "compacted", upto, outputs: 32_000, without, ...marks };
  const less = { words: 400, said: 500, notes: 100 };
  return { type: "compacted", upto, outputs: choice % 2 ? 0 : 400, ...marks, ...(choice % 4 ? { summary: "work" } : less) };
}

function ended(call: string, how: "exited" | "timeout" | "cancelled" | "flood" | "interrupted" | "refused", why?: string): NewEntry {
  const output = { text: how === "exited" ? "out" : "", bytes: 3, omitted: 0 };
  return { type: "run-ended", call, how, exit: how === "exited" ? 0 : null, output, ms: 5, ...(why ? { why } : {}) };
}

interface At {
  choice: number;
  log: Entry[];
  state: State;
  id: () => string;
}

function perform(todo: Todo, { choice, log, state, id }: At): NewEntry[] {
  switch (todo.do) {
    case "take-files":
      return [briefOf(todo.received)];
    case "run-again":
      return [callAgain(todo.message, { entries: log, state }, { ids: { call: id } })];
    case "ask-model": {
      if (choice % 13 === 0) return [beforeIt(choice, log)];
      const finish = (["calls", "calls", "stop", "cut", "filter"] as const)[choice % 5] ?? "stop";
      const count = finish === "calls" ? 1 + (choice % 3) : finish === "cut" ? choice % 2 : 0;
      const calls = Array.from({ length: count }, () => ({ id: id(), name: "bash", args: { command: "ls" }, raw: '{"command":"ls"}' }));
      const usage = { prompt: null, completion: null, cached: null };
      const inFlight = Math.max(2, state.seq - (choice % 3)); // what came while the model was answering
      return [
        {
          type: "model",
          read: Math.max(inFlight, mustHaveRead(log, state.turn?.first ?? 0)),
          text: count ? "" : "words",
          calls,
          finish,
          usage,
          model: "m",
          ms: 1,
          tries: 1,
        },
      ];
    }
    case "judge":
      return todo.calls.map(({ call }, i) => {
        const verdict = (["auto", "ask", "deny"] as const)[(choice + i) % 3] ?? "ask";
        return { type: "judged", call: call.id, verdict, reasons: [], rule: "r", title: "ls", reads: choice % 2 === 0 };
      });
    case "ask-person":
      return [
        {
          type: "approval-asked",
          approval: `a${todo.call.call.id}`,
          call: todo.call.call.id,
          command: "ls",
          cwd: "/w",
          workspace: "api",
          env: {},
          sandbox: "s",
          grants: [],
          reasons: [],
          requester: ann,
          approvers: [],
          deadline: 9e12,
          digest: "d",
        },
      ];
    case "run":
      return todo.calls.map(({ call }) => ({
        type: "run-started",
        call: call.id,
        command: "ls",
        cwd: "/w",
        timeoutMs: 1,
        sandbox: "s",
        digest: "d",
        grants: [],
        host: "h",
      }));
    case "pause":
      return [{ type: "paused", text: todo.why, approvers: [] }];
    case "interrupt":
      return [ended(todo.call.call.id, (["exited", "timeout", "cancelled", "flood"] as const)[choice % 8] ?? "interrupted")];
    case "refuse":
      return todo.calls.map((c) => ended(c.call.id, "refused", todo.why));
    case "close-approval":
      return [{ type: "approval-decided", approval: todo.call.asked?.approval ?? "", call: todo.call.call.id, decision: "cancelled" }];
    case "finish":
      return [{ type: "final", text: "done", answers: todo.answers, reason: todo.reason }];
  }
}
