import { LIMITS } from "../limits.ts";
import { boundText } from "./approval.ts";
import { approversOf } from "./access.ts";
import { type CallState, type Refusal, openRun } from "./conversation.ts";
import type { NewEntry, Output, Person } from "./entry.ts";
import { asDeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import type { Act, RunResult, Tool } from "./ports.ts";
import type { Setting } from "./prompt.ts";
import { patiently, type Session } from "./session.ts";
import { visible } from "./visible.ts";

/** Where the conversation's commands run. */
export function settingOf(session: Session, hands: Hands): Setting {
  const workspace = session.state.opened?.workspace ?? "";
  const place = hands.workspaces.get(workspace);
  return { workspace, path: place?.path ?? "", sandbox: place?.badge ?? "" };
}

/** Each call gets the gate's word, or an answer that says why it cannot be understood. */
export function judgeCalls(calls: CallState[], session: Session, hands: Hands): NewEntry[] {
  const { path } = settingOf(session, hands);
  return calls.map(({ call }) => {
    const found = findAct(call, hands);
    if ("problem" in found) return ended(call.id, "refused", found.problem, found.why);
    const place = { workspace: path, cwd: path, posture: hands.posture, realpath: hands.realpath };
    const judgement = found.tool.judge(found.act, place);
    return { type: "judged", parent: session.state.step?.entry.seq ?? 0, call: call.id, title: found.act.title, ...judgement };
  });
}

type Found = { tool: Tool; act: Act } | { problem: string; why: Refusal };

function findAct(call: CallState["call"], hands: Hands): Found {
  const tool = hands.tools.get(call.name);
  if (!tool) {
    return { problem: `There is no tool "${call.name}". The tools are: ${[...hands.tools.keys()].join(", ")}.`, why: "no-tool" };
  }
  if (call.args === null) {
    return { problem: badArguments(call), why: "bad-arguments" };
  }
  const checked = tool.check(call.args);
  if ("problem" in checked) return { problem: `Not run: ${checked.problem}`, why: "bad-arguments" };
  return { tool, act: checked.act };
}

function badArguments(call: CallState["call"]): string {
  return `Not run: the arguments were not one JSON object. They were: ${call.raw.slice(0, 300)}`;
}

/** Arguments that came to an end but are no JSON: nobody cut them off. */
function isWholeButWrong(call: CallState["call"]): boolean {
  return call.args === null && call.raw.trimEnd().endsWith("}");
}

/** The approval's record: everything that the press will be bound to. */
export async function askPerson(call: CallState, session: Session, hands: Hands): Promise<NewEntry[]> {
  const found = findAct(call.call, hands);
  const requester = session.state.turn?.requester;
  if ("problem" in found || !requester || !call.judged) return [refusal(call, "bad-arguments", session)];
  const bound = boundOf(found.act, session, hands);
  const approval = hands.ids.token();
  // As the card writes it: hidden letters written out can make a short command a long one.
  const whole = visible(found.act.title);
  if (whole.length > LIMITS.cardCommand) {
    const bytes = new TextEncoder().encode(whole);
    await hands.log.putBlob(`cmd:${approval}`, bytes, hands.approvalMs + LIMITS.outputFileTtl);
  }
  return [
    {
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
    },
  ];
}

function boundOf(act: Act, session: Session, hands: Hands) {
  const { workspace, path, sandbox } = settingOf(session, hands);
  return { command: act.title, cwd: path, workspace, timeoutMs: act.timeoutMs, env: {}, sandbox, grants: [] };
}

/**
 * Runs one call: `run-started` is durable before anything is spawned. `stopped` also aborts on a person's stop,
 * `signal` only when this worker has to let go.
 */
export async function runCall(
  call: CallState,
  session: Session,
  hands: Hands,
  stopped: AbortSignal,
  signal: AbortSignal,
): Promise<NewEntry[]> {
  const found = findAct(call.call, hands);
  if ("problem" in found) return [ended(call.call.id, "refused", found.problem, found.why)];
  const bound = boundOf(found.act, session, hands);
  const digest = hands.ids.digest(boundText(bound));
  if (call.asked && call.asked.digest !== digest) return [refusal(call, "changed", session)];
  const { command, cwd, sandbox, grants } = bound;
  const approval = call.asked ? { approval: call.asked.approval } : {};
  await session.append([
    {
      type: "run-started",
      parent: session.state.step?.entry.seq ?? 0,
      call: call.call.id,
      command,
      cwd,
      timeoutMs: found.act.timeoutMs,
      sandbox,
      digest,
      grants,
      host: hands.host,
      ...approval,
    },
  ]);
  const parent = openRun(session.state)?.started?.seq ?? 0;
  if (session.state.stop) return [{ ...refusal(call, "cancelled", session, session.state.stop.by), parent }];
  const at = { conversation: session.conversation, workspace: cwd, cwd, sandbox: hands.sandbox };
  const result = await found.tool.run(found.act, at, { signal: stopped });
  await session.refresh();
  return [await resultEntry(call, result, session, hands, signal)];
}

async function resultEntry(call: CallState, result: RunResult, session: Session, hands: Hands, signal: AbortSignal): Promise<NewEntry> {
  const output: Output = { ...result.output };
  const whole = wholeOf(call, result);
  if (whole) {
    const key = `out:${session.conversation}:${call.call.id}`;
    try {
      await patiently(() => hands.log.putBlob(key, whole, LIMITS.outputFileTtl), hands.clock, signal);
      output.blob = key;
    } catch (thrown) {
      // The head and tail are in the log; only the file in the thread is missing.
      hands.trace.warn("output-not-kept", { conversation: session.conversation, error: asDeckhandError(thrown).what });
    }
  }
  const letGo = result.how === "cancelled" && signal.aborted;
  const stop = session.state.stop;
  return {
    type: "run-ended",
    parent: openRun(session.state)?.started?.seq ?? 0,
    call: call.call.id,
    how: letGo ? "interrupted" : result.how,
    exit: result.exit,
    output: result.why && !output.text ? { ...output, text: result.why } : output,
    ms: result.ms,
    ...(result.how === "refused" ? { why: "sandbox" } : {}),
    ...(result.how === "cancelled" && !letGo && stop ? { by: stop.by } : {}),
  };
}

/** The file beside a post that cannot show everything: the output, after the command when that is long too. */
function wholeOf(call: CallState, { output, whole }: RunResult): Uint8Array | undefined {
  const encoder = new TextEncoder();
  const title = visible(call.judged?.title ?? "");
  const printed = whole ?? encoder.encode(output.text);
  if (title.length > LIMITS.postCommand) return new Uint8Array([...encoder.encode(`$ ${title}\n`), ...printed]);
  return whole || output.text.length > LIMITS.postOutput ? printed : undefined;
}

/** What the model is told of a call that was not run. */
export function refusal(call: CallState, why: Refusal, session: Session, by?: Person): NewEntry {
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
    changed: "Not run: the circumstances changed after it was approved (command, folder or sandbox). Ask again.",
  };
  const parent = call.asked?.seq ?? session.state.step?.entry.seq ?? 0;
  if (why === "cut" && isWholeButWrong(call.call))
    return { ...ended(call.call.id, "refused", badArguments(call.call), "bad-arguments"), parent };
  return { ...ended(call.call.id, "refused", texts[why], why), parent, ...(by ? { by } : {}) };
}

function ended(call: string, how: "refused" | "interrupted", text: string, why?: string): NewEntry<"run-ended"> {
  const output = { text, bytes: 0, omitted: 0 };
  return { type: "run-ended", call, how, exit: null, output, ms: 0, ...(why ? { why } : {}) };
}

/** A run whose worker went away: it may or may not have happened. */
export function interrupted(call: CallState): NewEntry {
  return { ...ended(call.call.id, "interrupted", ""), parent: call.started?.seq ?? 0 };
}
