import { LIMITS } from "../limits.ts";
import { approversOf } from "./access.ts";
import { boundText } from "./approval.ts";
import { settingOf } from "./bound.ts";
import type { CallState } from "./conversation.ts";
import type { Call, NewEntry, Person } from "./entry.ts";
import type { Hands } from "./hands.ts";
import { approvedByPress } from "./interrupted.ts";
import { boundWhole, type Found, judgeAct, noteJudged, placeNow, type RuledPlace, type Ruling } from "./judging.ts";
import { offerAlways } from "./offer.ts";
import { type Refusal, refusedUnjudged } from "./next.ts";
import type { Redact } from "./redactor.ts";
import { patiently, type Session } from "./session.ts";
import { visible } from "./visible.ts";

/** Each call gets the gate's word, or an answer that says why it cannot be understood. */
export async function judgeCalls(calls: Call[], session: Session, hands: Hands, signal: AbortSignal): Promise<NewEntry[]> {
  return judgeThere(calls, await placeNow(session, hands, signal), session, hands);
}

function judgeThere(calls: Call[], place: RuledPlace, session: Session, hands: Hands): NewEntry[] {
  const entries = calls.map((call) => {
    const found = findAct(call, hands);
    if ("problem" in found) return ended(call.id, "refused", found.problem, found.why);
    return judgedEntry(call.id, found, judgeAct(found, place), place.cwd);
  });
  noteJudged(
    entries.filter((entry) => entry.type === "judged"),
    place,
    session,
    hands,
  );
  return entries;
}

/**
 * The gate's word on the calls of an answer that is not in the log yet, to be appended with it: one act of the log less a
 * step; and the place that they were judged for. Null where one of them cannot be understood, or none will be judged: that is for
 * `next` to say.
 */
export async function judgedWith(answer: NewEntry[], session: Session, hands: Hands, signal: AbortSignal): Promise<JudgedNow | null> {
  const [model, ...others] = answer;
  if (model?.type !== "model" || others.length > 0 || model.calls.length === 0) return null;
  const made = (session.state.turn?.calls ?? 0) + model.calls.length;
  if (refusedUnjudged(model, made, hands.limits.turn.calls) || model.calls.some((call) => "problem" in findAct(call, hands))) return null;
  const place = await placeNow(session, hands, signal);
  return { entries: judgeThere(model.calls, place, session, hands), place };
}

export interface JudgedNow {
  entries: NewEntry[];
  place: RuledPlace;
}

type JudgedEntry = NewEntry<"judged"> & { cwd: string };

function judgedEntry(call: string, { act }: Found, ruling: Ruling, cwd: string): JudgedEntry {
  return { type: "judged", call, title: act.title, cwd, ...ruling };
}

export function findAct(call: Call, hands: Hands): Found | { problem: string; why: Refusal } {
  const tool = hands.tools.get(call.name);
  if (!tool) {
    return { problem: `There is no tool "${call.name}". The tools are: ${[...hands.tools.keys()].join(", ")}.`, why: "no-tool" };
  }
  if (call.args === null) {
    return { problem: badArguments(call, hands.redact), why: "bad-arguments" };
  }
  const checked = tool.check(call.args);
  if ("problem" in checked) return { problem: `Not run: ${checked.problem}`, why: "bad-arguments" };
  return { tool, act: checked.act };
}

function badArguments(call: CallState["call"], redact: Redact): string {
  return `Not run: the arguments were not one JSON object. They were: ${redact(call.raw).slice(0, 300)}`;
}

/** Arguments that came to an end but are no JSON: nobody cut them off. */
function isWholeButWrong(call: CallState["call"]): boolean {
  return call.args === null && call.raw.trimEnd().endsWith("}");
}

/** The approval's record: everything that the press will be bound to. */
export async function askPerson(call: CallState, session: Session, hands: Hands, signal: AbortSignal): Promise<NewEntry[]> {
  const found = findAct(call.call, hands);
  const requester = session.state.turn?.requester;
  if ("problem" in found || !requester || !call.judged) return [refusal(call, "bad-arguments", session, hands)];
  const cwd = call.judged.cwd ?? settingOf(session, hands).path;
  const place = { ...(await placeNow(session, hands, signal)), cwd };
  // Meanwhile somebody may have said "always" to an earlier call of the step.
  const now = judgeAct(found, place);
  if (now.verdict !== "ask") {
    const entry = judgedEntry(call.call.id, found, now, cwd);
    noteJudged([entry], place, session, hands);
    return [entry];
  }
  const bound = await boundWhole(found, call, session, hands, place);
  const lacking = hands.sandbox.lacks(settingOf(session, hands).path, bound.grants);
  if (lacking !== null)
    return [ended(call.call.id, "refused", `Not run, and nobody was asked: not available here. ${lacking}`, "not-available")];
  const approval = hands.ids.token();
  // As the card writes it: hidden letters written out can make a short command a long one.
  const whole = visible(found.act.title);
  if (whole.length > LIMITS.cardCommand) {
    const bytes = new TextEncoder().encode(whole);
    await hands.log.putBlob(`cmd:${approval}`, bytes, hands.approvalMs + LIMITS.outputFileTtl);
  }
  const { workspace, grants } = bound;
  const recent = await patiently(() => hands.log.rules.recent(workspace), hands.clock, signal);
  const always = offerAlways(found, { workspace, place, grants, recent }, hands);
  const asked: NewEntry<"approval-asked"> = {
    type: "approval-asked",
    parent: call.judged.seq,
    approval,
    call: call.call.id,
    command: bound.command,
    cwd: bound.cwd,
    workspace: bound.workspace,
    env: bound.env,
    sandbox: bound.sandbox,
    grants: bound.grants,
    reasons: call.judged.reasons,
    requester,
    approvers: approversOf(hands.access, bound.workspace),
    deadline: hands.clock.now() + hands.approvalMs,
    digest: hands.ids.digest(boundText(bound)),
    ...(always ? { always } : {}),
  };
  return [asked, ...approvedByPress(asked, session, hands)];
}

/** What the model is told of a call that was not run. */
export function refusal(call: CallState, why: Refusal, session: Session, { redact }: Pick<Hands, "redact">, by?: Person): NewEntry {
  const who = by?.name ?? "a person";
  const texts: Record<Refusal, string> = {
    cut: "Not run: your message was cut off before it was complete, so none of its calls was run. Send the call again, in smaller pieces.",
    "too-many": "Not run: too many calls. Make fewer calls in one message.",
    "no-tool": "Not run: there is no such tool.",
    "bad-arguments": "Not run: the arguments could not be used.",
    "denied-by-gate": `Not run: this is never allowed here (${call.judged?.reasons.map((r) => r.text).join("; ") ?? ""}). Do not try another way round it; say that it is not possible.`,
    denied: `Not run: ${who} denied it${call.decided?.reason ? `, saying: ${call.decided.reason}` : ""}. Do not try another way round it.`,
    expired: "Not run: nobody decided in time, so the request expired.",
    superseded: `Not run: ${who} wrote something new instead. Read it before you go on.`,
    cancelled: `Not run: ${who} stopped the work.`,
    parked: "Not run: the work in this thread was set aside before this could begin.",
    changed:
      "Not run: the circumstances changed after it was judged or approved (command, folder, variables, sandbox, rules, or the script that it runs). It needs a new word: ask again.",
  };
  const parent = call.asked?.seq ?? session.state.step?.entry.seq ?? 0;
  if (why === "cut" && isWholeButWrong(call.call))
    return { ...ended(call.call.id, "refused", badArguments(call.call, redact), "bad-arguments"), parent };
  // A newer version may have decided in words of its own.
  const text = Object.hasOwn(texts, why) ? texts[why] : `Not run: ${why}.`;
  return { ...ended(call.call.id, "refused", text, why), parent, ...(by ? { by } : {}) };
}

export function ended(call: string, how: "refused" | "interrupted", text: string, why?: string): NewEntry<"run-ended"> {
  const output = { text, bytes: 0, omitted: 0 };
  return { type: "run-ended", call, how, exit: null, output, ms: 0, ...(why ? { why } : {}) };
}
