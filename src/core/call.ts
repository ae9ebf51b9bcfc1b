import { LIMITS } from "../limits.ts";
import { approversOf } from "./access.ts";
import { boundText, provesNoNetwork } from "./approval.ts";
import { boundOf, settingOf } from "./bound.ts";
import type { CallState, Refusal } from "./conversation.ts";
import type { NewEntry, Person } from "./entry.ts";
import { widens } from "./grants.ts";
import type { Hands } from "./hands.ts";
import type { Act, Tool } from "./ports.ts";
import type { Redact } from "./redactor.ts";
import type { Session } from "./session.ts";
import { visible } from "./visible.ts";

/** Each call gets the gate's word, or an answer that says why it cannot be understood. */
export function judgeCalls(calls: CallState[], session: Session, hands: Hands): NewEntry[] {
  const { path, sandbox } = settingOf(session, hands);
  // All calls of a step start where the step began: the verdict is for the folder that the command runs in.
  const { cwd } = hands.sandbox.carried(session.conversation, path);
  const posture = provesNoNetwork(sandbox) ? hands.posture : "careful";
  return calls.map(({ call }) => {
    const found = findAct(call, hands);
    if ("problem" in found) return ended(call.id, "refused", found.problem, found.why);
    const { grants = [], ...judgement } = found.tool.judge(found.act, { workspace: path, cwd, posture, realpath: hands.realpath });
    return {
      type: "judged",
      parent: session.state.step?.entry.seq ?? 0,
      call: call.id,
      title: found.act.title,
      cwd,
      grants: grants.filter(widens),
      ...judgement,
    };
  });
}

type Found = { tool: Tool; act: Act } | { problem: string; why: Refusal };

export function findAct(call: CallState["call"], hands: Hands): Found {
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
export async function askPerson(call: CallState, session: Session, hands: Hands): Promise<NewEntry[]> {
  const found = findAct(call.call, hands);
  const requester = session.state.turn?.requester;
  if ("problem" in found || !requester || !call.judged) return [refusal(call, "bad-arguments", session, hands)];
  const bound = boundOf(found.act, call, session, hands);
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
    changed: "Not run: the circumstances changed after it was approved (command, folder or sandbox). Ask again.",
  };
  const parent = call.asked?.seq ?? session.state.step?.entry.seq ?? 0;
  if (why === "cut" && isWholeButWrong(call.call))
    return { ...ended(call.call.id, "refused", badArguments(call.call, redact), "bad-arguments"), parent };
  return { ...ended(call.call.id, "refused", texts[why], why), parent, ...(by ? { by } : {}) };
}

export function ended(call: string, how: "refused" | "interrupted", text: string, why?: string): NewEntry<"run-ended"> {
  const output = { text, bytes: 0, omitted: 0 };
  return { type: "run-ended", call, how, exit: null, output, ms: 0, ...(why ? { why } : {}) };
}
