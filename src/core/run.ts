import { LIMITS } from "../limits.ts";
import { boundText } from "./approval.ts";
import { boundOf, settingOf } from "./bound.ts";
import { ended, findAct, refusal } from "./call.ts";
import { withoutColour } from "./clean.ts";
import { checkpoint } from "./checkpoint.ts";
import type { CallState } from "./conversation.ts";
import type { NewEntry, Output } from "./entry.ts";
import { asDeckhandError, DeckhandError } from "./errors.ts";
import type { Hands } from "./hands.ts";
import { boundWhole, type Found, judgeAct, placeNow, type RuledPlace } from "./judging.ts";
import { leavesOut } from "./prompt.ts";
import type { Reach, RunResult, RunSpec } from "./sandbox.ts";
import { type Ends, patiently, type Session } from "./session.ts";
import { visible } from "./visible.ts";

/**
 * Runs one call. Once the workspace is ours and everything around the command stands, the circumstances are compared
 * with what was approved and `run-started` is made durable; only then the command is let go. `stopped` also aborts on
 * a person's stop. When we leave before that, nothing has happened; what was let go may end, until we are out of time. `early`:
 * it is not sure yet whether it is to run at all.
 */
export async function runCall(
  asked: CallState,
  session: Session,
  hands: Hands,
  stopped: AbortSignal,
  ends: Ends,
  early: Early | null = null,
): Promise<NewEntry[]> {
  const { id } = asked.call;
  const found = findAct(asked.call, hands);
  if ("problem" in found) return [ended(id, "refused", found.problem, found.why)];
  async function kept(): Promise<CallState | null> {
    if ((await early?.wanted) === false) return null;
    // What was not in the log at the beginning is there now.
    return session.state.step?.calls.find((each) => each.call.id === id) ?? asked;
  }
  const start = starting({ found, asked, early, kept }, session, hands, ends);
  const at = { ...specOf(asked, found, session, hands), sandbox: hands.sandbox };
  const live = hands.live({ conversation: session.conversation, call: id });
  const options = { signal: AbortSignal.any([stopped, start.unbegun]), ready: start.ready, onChunk: live.hear };
  const result = await found.tool.run(found.act, at, options);
  live.end();
  // Asked in the very moment in which it ended, it may still be writing.
  await start.asked;
  if (start.failed) throw start.failed.thrown;
  const call = await kept();
  if (call === null) return [];
  // Who has stopped it is in the log. One that ended by itself needs nothing of what came in meanwhile.
  if (result.how !== "exited") await session.refresh();
  const { stop } = session.state;
  const parent = call.started?.seq;
  const why = start.changed ? "changed" : stop && !start.went ? "cancelled" : null;
  if (why) return [{ ...refusal(call, why, session, hands, stop?.by), ...(parent === undefined ? {} : { parent }) }];
  if (parent === undefined && start.closed !== null) return [ended(id, "refused", `Not run: ${start.closed}`, "sandbox")];
  // Nothing was started: whoever goes on runs it.
  if (parent === undefined && (ends.signal.aborted || ends.leaving.aborted)) return [];
  if (parent === undefined && result.how !== "refused") {
    return [ended(id, "refused", new DeckhandError("SANDBOX_RUNNER", "before the command began").line(), "sandbox")];
  }
  return [await resultEntry(call, result, session, hands, ends)];
}

/** A call whose answer is not in the log yet. */
export interface Early {
  /** Whether it is to run; `isSure`: it is. */
  wanted: Promise<boolean>;
  isSure: boolean;
  /** Where it was judged for, just now. */
  place: RuledPlace;
  /** Tells that everything around it stands. */
  stands(): void;
  /** What is to be kept together with the answer; null until it stands, or when it will not run. */
  start: NewEntry<"run-started"> | null;
}

interface Wanted {
  found: Found;
  asked: CallState;
  early: Early | null;
  /** The call as it is in the log; null: it is not to run. */
  kept: () => Promise<CallState | null>;
}

interface Starting {
  ready: () => Promise<boolean>;
  /** Its answer, once it was asked. */
  asked: Promise<boolean> | null;
  /** Aborts when we leave before that. */
  unbegun: AbortSignal;
  /** Why nothing runs in this workspace now. */
  closed: string | null;
  /** It was let go. */
  went: boolean;
  changed: boolean;
  /** The log did not take the start. */
  failed: { thrown: unknown } | null;
}

function starting({ found, asked, early, kept }: Wanted, session: Session, hands: Hands, { signal, leaving }: Ends): Starting {
  const unbegun = new AbortController();
  const start: Starting = { ready, asked: null, unbegun: unbegun.signal, closed: null, went: false, changed: false, failed: null };
  const leave = (): void => unbegun.abort();
  leaving.addEventListener("abort", leave);
  function ready(): Promise<boolean> {
    leaving.removeEventListener("abort", leave);
    start.asked = begin();
    return start.asked;
  }
  async function begin(): Promise<boolean> {
    try {
      if (early && !early.isSure) {
        early.start = await startOf(asked, early.place);
        early.stands();
      }
      const call = await kept();
      if (call === null) return false;
      if (!call.started) {
        const entry = await startOf(call, await placeNow(session, hands, signal));
        if (entry === null) return false;
        await session.append([entry]);
      }
    } catch (thrown) {
      start.failed = { thrown };
      return false;
    }
    start.went = session.state.stop === null;
    if (start.went) checkpoint("command-goes");
    return start.went;
  }
  /** Compared now: the wait for the workspace may have been long. Null: it does not start. */
  async function startOf(call: CallState, place: RuledPlace): Promise<NewEntry<"run-started"> | null> {
    start.closed = hands.workspaces.get(settingOf(session, hands).workspace)?.closed ?? null;
    if (start.closed !== null) return null;
    const bound = await boundWhole(found, call, session, hands, place);
    const digest = hands.ids.digest(boundText(bound));
    start.changed = call.asked ? call.asked.digest !== digest : !stillRuns(call, found, place);
    if (start.changed || leaving.aborted) return null;
    const { command, cwd, timeoutMs, sandbox, grants } = bound;
    const approval = call.asked ? { approval: call.asked.approval } : {};
    return { type: "run-started", call: call.call.id, command, cwd, timeoutMs, sandbox, digest, grants, host: hands.host, ...approval };
  }
  return start;
}

/** Days may lie between the word and the run: a rule may have ended, a link may lead elsewhere. */
function stillRuns({ judged }: CallState, found: Found, place: RuledPlace): boolean {
  const now = judgeAct(found, { ...place, cwd: judged?.cwd ?? place.cwd });
  return now.verdict === "auto" && JSON.stringify(now.grants) === JSON.stringify(judged?.grants ?? []);
}

function specOf(call: CallState, found: Found, session: Session, hands: Hands): Omit<RunSpec, "command" | "timeoutMs"> {
  const { cwd, env, grants } = boundOf(found.act, call, session, hands, []);
  const { conversation } = session;
  return { conversation, workspace: settingOf(session, hands).path, cwd, env, grants, reach: reachOf(call), call: call.call.id };
}

function reachOf(call: CallState): Reach {
  if (call.asked) return "approved";
  if ((call.judged?.grants ?? []).length > 0) return "ruled";
  return call.judged?.reads ? "read" : "contained";
}

async function resultEntry(
  call: CallState,
  result: RunResult,
  session: Session,
  hands: Hands,
  { signal, leaving }: Ends,
): Promise<NewEntry> {
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
  const file = await fileOf(call, result, session, hands);
  if (file !== null) output.file = file;
  const letGo = result.how === "cancelled" && signal.aborted;
  const stop = session.state.stop;
  const { notes } = hands.sandbox.carried(session.conversation, settingOf(session, hands).path);
  return {
    type: "run-ended",
    parent: call.started?.seq ?? session.state.step?.entry.seq ?? 0,
    call: call.call.id,
    how: letGo ? "interrupted" : result.how,
    exit: result.exit,
    output: result.why && !output.text ? { ...output, text: result.why } : output,
    ms: result.ms,
    ...(result.how === "refused" ? { why: "sandbox" } : {}),
    ...(letGo && leaving.aborted ? { why: "restart" } : {}),
    ...(result.how === "cancelled" && !letGo && stop ? { by: stop.by } : {}),
    ...(notes.length > 0 ? { notes } : {}),
    ...(result.noticed ? { noticed: result.noticed } : {}),
    ...(result.network ? { network: result.network } : {}),
  };
}

/** Where the model finds what it does not get of an output; null when it gets everything. */
async function fileOf({ call }: CallState, { output, whole }: RunResult, session: Session, hands: Hands): Promise<string | null> {
  if (!whole || !leavesOut(output)) return null;
  const text = hands.redact(withoutColour(new TextDecoder().decode(whole)));
  const spec = { conversation: session.conversation, workspace: settingOf(session, hands).path, name: `output-${call.id}.txt` };
  return await hands.sandbox.keep(spec, text);
}

/** The file beside a post that cannot show everything: the output, after the command when that is long too. */
function wholeOf(call: CallState, { output, whole }: RunResult): Uint8Array | undefined {
  const encoder = new TextEncoder();
  const title = visible(call.judged?.title ?? "");
  const printed = whole ?? encoder.encode(output.text);
  if (title.length > LIMITS.postCommand) return new Uint8Array([...encoder.encode(`$ ${title}\n`), ...printed]);
  return whole || output.text.length > LIMITS.postOutput ? printed : undefined;
}

/** A run whose worker went away: it may or may not have happened. What it had printed may still be on this machine. */
export function interrupted(call: CallState, session: Session, hands: Hands): NewEntry {
  const entry = { ...ended(call.call.id, "interrupted", ""), parent: call.started?.seq ?? 0 };
  const output = hands.sandbox.left(session.conversation, call.call.id);
  return output ? { ...entry, output } : entry;
}
