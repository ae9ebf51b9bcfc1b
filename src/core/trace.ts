import { emptyState, fold } from "./conversation.ts";
import { type Decision, type Entry, type Reason, type Usage, isEntry } from "./entry.ts";
import { dollars } from "./spending.ts";
import { visible } from "./visible.ts";

/** What happened in a conversation, as a tree: turn -> step -> call. Times are milliseconds. */
export interface TurnTrace {
  turn: number;
  at: string;
  /** Those that the turn answers, or is to answer while it goes on. */
  messages: { seq: number; by: string; text: string }[];
  steps: StepTrace[];
  /** Each time that it was set aside; `retriedMs` later it was let go on. */
  parked: { at: string; text: string; retriedMs: number | null }[];
  /** Each time that a limit was reached, and who chose what after that. */
  paused: { at: string; text: string; choice: string | null; by: string | null; waitedMs: number | null }[];
  end: { kind: string; text: string; ms: number } | null;
  tokens: { prompt: number | null; completion: number | null };
  cost: Cost;
}

/** Millionths of a US dollar; null: unknown. `whole`: nothing that is unknown comes on top. */
interface Cost {
  micro: number | null;
  whole: boolean;
}

export interface StepTrace {
  seq: number;
  model: string;
  finish: string;
  ms: number;
  tries: number;
  usage: Usage;
  /** Millionths of a US dollar; null: unknown. */
  cost: number | null;
  text: string;
  calls: CallTrace[];
}

export interface CallTrace {
  id: string;
  name: string;
  title: string;
  verdict: string | null;
  rule: string | null;
  reasons: Reason[];
  /** `rule`: the name of the rule that was stored with the decision. */
  approval: { id: string; asked: string; decision: Decision | "open"; by: string | null; waitedMs: number | null; rule?: string } | null;
  sandbox: string | null;
  /** `output` is what the model got of it: head and tail of a long one. */
  result: { how: string; exit: number | null; ms: number; bytes: number; why: string | null; output: string } | null;
  /** What people pressed that was no decision: `always`; `look`, `again` and `leave` after an interruption. */
  choices: { choice: string; by: string; at: string }[];
}

export function traceTree(entries: Entry[]): TurnTrace[] {
  const turns: TurnTrace[] = [];
  const state = emptyState();
  /** By the seq of what people choose about: an approval, or the end of a run. */
  const calls = new Map<number, CallTrace>();
  let first: number | undefined;
  for (const entry of entries) {
    const { unanswered: heard, paused } = state;
    fold([entry], state);
    const turn = turns.at(-1);
    chosen(entry, calls);
    if (isEntry(entry, "choice") && turn && state.paused === null && paused?.seq === entry.of) answered(turn, entry);
    if (turn?.end === null) {
      const call = happened(turn, entry);
      if (call) calls.set(entry.seq, call);
      const answers = isEntry(entry, "final") || (isEntry(entry, "failed") && !entry.parked) ? entry.answers : null;
      turn.messages = messagesOf(answers ? heard.filter((m) => answers.includes(m.seq)) : state.unanswered);
      // Whoever asked took the words back before they were read.
      if (turn.end === null && state.turn === null) turn.end = { kind: "removed", text: "", ms: entry.at - Date.parse(turn.at) };
    }
    if (state.turn && state.turn.first !== first) turns.push(newTurn(turns.length + 1, state.turn.at, state.unanswered));
    first = state.turn?.first;
  }
  return turns;
}

function newTurn(turn: number, at: number, messages: Entry<"message">[]): TurnTrace {
  const tokens = { prompt: null, completion: null };
  const [start, cost] = [new Date(at).toISOString(), { micro: null, whole: true }];
  return { turn, at: start, messages: messagesOf(messages), steps: [], parked: [], paused: [], end: null, tokens, cost };
}

function messagesOf(messages: Entry<"message">[]): TurnTrace["messages"] {
  return messages.map(({ seq, by, text }) => ({ seq, by: by.name, text }));
}

/** A missing figure stays missing: null and null is null, not 0. */
function add(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
}

function stepOf(entry: Entry<"model">): StepTrace {
  const { seq, model, finish, ms, tries, usage, text, cost = null } = entry;
  const calls = entry.calls.map((call) => ({
    id: call.id,
    name: call.name,
    title: call.raw,
    verdict: null,
    rule: null,
    reasons: [],
    approval: null,
    sandbox: null,
    result: null,
    choices: [],
  }));
  return { seq, model, finish, ms, tries, usage, cost, text, calls };
}

function chosen(entry: Entry, calls: Map<number, CallTrace>): void {
  const { at } = entry;
  const found = isEntry(entry, "choice") ? entry : isEntry(entry, "message") && entry.pressed ? { ...entry.pressed, by: entry.by } : null;
  if (found) calls.get(found.of)?.choices.push({ choice: found.choice, by: found.by.name, at: new Date(at).toISOString() });
}

function spend(all: Cost, cost: number | undefined): void {
  all.micro = add(all.micro, cost ?? null);
  all.whole &&= cost !== undefined;
}

function answered(turn: TurnTrace, { at, choice, by }: Entry<"choice">): void {
  const paused = turn.paused.at(-1);
  if (paused) Object.assign(paused, { choice, by: by.name, waitedMs: at - Date.parse(paused.at) });
}

/** Gives the call that it happened to. */
function happened(turn: TurnTrace, entry: Entry): CallTrace | undefined {
  if (isEntry(entry, "model")) {
    turn.steps.push(stepOf(entry));
    turn.tokens.prompt = add(turn.tokens.prompt, entry.usage.prompt);
    turn.tokens.completion = add(turn.tokens.completion, entry.usage.completion);
    if (entry.again === undefined) spend(turn.cost, entry.cost);
  } else if (isEntry(entry, "compacted")) {
    if (entry.summary !== undefined) spend(turn.cost, entry.cost);
  } else if (isEntry(entry, "paused")) {
    turn.paused.push({ at: new Date(entry.at).toISOString(), text: entry.text, choice: null, by: null, waitedMs: null });
  } else if (isEntry(entry, "failed") && entry.parked) {
    turn.parked.push({ at: new Date(entry.at).toISOString(), text: entry.text, retriedMs: null });
  } else if (isEntry(entry, "retried")) {
    const parked = turn.parked.at(-1);
    if (parked) parked.retriedMs = entry.at - Date.parse(parked.at);
  } else if (isEntry(entry, "final") || isEntry(entry, "failed")) {
    const kind = isEntry(entry, "final") ? entry.reason : entry.code;
    turn.end = { kind, text: entry.text, ms: entry.at - Date.parse(turn.at) };
  } else if ("call" in entry) {
    const call = turn.steps.flatMap((s) => s.calls).find((c) => c.id === entry.call);
    if (call) happenedToCall(call, entry);
    return call;
  }
  return undefined;
}

function happenedToCall(call: CallTrace, entry: Entry): void {
  if (isEntry(entry, "judged")) {
    Object.assign(call, { title: entry.title, verdict: entry.verdict, rule: entry.rule, reasons: entry.reasons });
  } else if (isEntry(entry, "approval-asked")) {
    const asked = new Date(entry.at).toISOString();
    call.approval = { id: entry.approval, asked, decision: "open", by: null, waitedMs: null };
  } else if (isEntry(entry, "approval-decided") && call.approval) {
    const waitedMs = entry.at - Date.parse(call.approval.asked);
    const rule = entry.rule ? { rule: entry.rule.name } : {};
    call.approval = { ...call.approval, decision: entry.decision, by: entry.by?.name ?? null, waitedMs, ...rule };
  } else if (isEntry(entry, "run-started")) {
    call.sandbox = entry.sandbox;
  } else if (isEntry(entry, "run-ended")) {
    const { how, exit, ms, output, why } = entry;
    call.result = { how, exit, ms, bytes: output.bytes, why: why ?? null, output: output.text };
  }
}

/** The tree as indented lines for a terminal. */
export function traceLines(turns: TurnTrace[]): string[] {
  return turns.flatMap((turn) => [
    `turn ${turn.turn} · ${turn.at} · tokens ${tokens(turn.tokens)} · cost ${costText(turn.cost)}`,
    ...turn.messages.map((m) => `  ${visible(m.by)}: ${clip(m.text)}`),
    ...turn.steps.flatMap(stepLines),
    ...turn.parked.flatMap(parkedLines),
    ...turn.paused.flatMap(pausedLines),
    turn.end ? `  end: ${turn.end.kind} after ${seconds(turn.end.ms)} · ${clip(turn.end.text)}` : "  not ended",
  ]);
}

function parkedLines({ at, text, retriedMs }: TurnTrace["parked"][number]): string[] {
  const retried = retriedMs === null ? [] : [`  retried by an operator after ${seconds(retriedMs)}`];
  return [`  parked: ${at} · ${clip(text)}`, ...retried];
}

function pausedLines({ at, text, choice, by, waitedMs }: TurnTrace["paused"][number]): string[] {
  const answer = choice === null ? [] : [`  chosen: ${visible(choice)} by ${visible(by ?? "")} after ${seconds(waitedMs ?? 0)}`];
  return [`  paused: ${at} · ${clip(text)}`, ...answer];
}

function costText({ micro, whole }: Cost): string {
  return `${micro === null || whole ? "" : "at least "}${dollars(micro)}`;
}

function stepLines(step: StepTrace): string[] {
  const tries = step.tries > 1 ? ` · ${step.tries} tries` : "";
  const head = `  step ${step.seq} · model ${visible(step.model)} · ${step.finish} · ${seconds(step.ms)}${tries} · tokens ${tokens(step.usage)} · cost ${dollars(step.cost)}`;
  return [head, ...step.calls.flatMap(callLines)];
}

function callLines(call: CallTrace): string[] {
  const lines = [`    call ${call.id} ${visible(call.name)}: ${clip(call.title)}`];
  if (call.verdict) {
    const reasons = call.reasons.map((r) => `${r.code}: ${visible(r.text)}`).join("; ");
    lines.push(`      gate: ${call.verdict} by ${call.rule}${reasons ? ` (${reasons})` : ""}`);
  }
  if (call.approval) {
    const { decision, by, waitedMs, rule } = call.approval;
    const more = `${by ? ` by ${visible(by)}` : ""}${waitedMs === null ? "" : ` after ${seconds(waitedMs)}`}`;
    lines.push(`      approval: ${decision}${more}${rule === undefined ? "" : ` · stored the rule "${visible(rule)}"`}`);
  }
  if (call.sandbox) lines.push(`      ran: ${call.sandbox}`);
  if (call.result) {
    const { how, exit, ms, bytes, why, output } = call.result;
    lines.push(`      result: ${how}${exit === null ? "" : ` ${exit}`}${why ? ` (${why})` : ""} · ${seconds(ms)} · ${bytes} bytes`);
    if (output.trim()) lines.push(`      output: ${clip(output.trim())}`);
  }
  lines.push(...call.choices.map(({ choice, by, at }) => `      chosen: ${visible(choice)} by ${visible(by)} · ${at}`));
  return lines;
}

function tokens(usage: { prompt: number | null; completion: number | null }): string {
  return `${usage.prompt ?? "unknown"} in, ${usage.completion ?? "unknown"} out`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function clip(text: string): string {
  const line = visible(text.replaceAll("\n", " "));
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
