import { LIMITS } from "../limits.ts";
import { messageOf } from "./errors.ts";
import type { Hands } from "./hands.ts";
import type { JudgedCommand, Rules } from "./rules.ts";
import { patiently } from "./session.ts";

/** What was judged in a workspace and is not noted yet. */
interface Lot {
  commands: JudgedCommand[];
  /** Names of rules, as often as they decided. */
  decided: string[];
}

type Noting = Pick<Hands, "log" | "clock" | "trace">;

const waiting = new WeakMap<Rules, Map<string, Lot>>();

/**
 * Keeps what was judged and counts the rules that decided, behind the turn's back: what is lost of it are figures. What comes
 * within LIMITS.noteAfter is noted in one go: were it written at once, what the step asks next would wait for the disk with it.
 */
export function noteSoon(workspace: string, { commands, decided }: Lot, hands: Noting): void {
  if (commands.length === 0 && decided.length === 0) return;
  const lots = waiting.get(hands.log.rules) ?? new Map<string, Lot>();
  waiting.set(hands.log.rules, lots);
  const lot = lots.get(workspace);
  if (lot) {
    lot.commands.push(...commands);
    lot.decided.push(...decided);
    return;
  }
  const first: Lot = { commands: [...commands], decided: [...decided] };
  lots.set(workspace, first);
  void hands.clock.sleep(LIMITS.noteAfter).then(() => lots.get(workspace) === first && noteNow(workspace, hands));
}

/** The newest commands that were judged in a workspace, newest first. */
export async function recentlyJudged(workspace: string, hands: Noting, signal: AbortSignal): Promise<JudgedCommand[]> {
  // Asked behind it on the same connection: what waited is among them.
  noteNow(workspace, hands);
  return await patiently(() => hands.log.rules.recent(workspace), hands.clock, signal);
}

function noteNow(workspace: string, { log, clock, trace }: Noting): void {
  const lots = waiting.get(log.rules);
  const lot = lots?.get(workspace);
  if (!lot) return;
  lots?.delete(workspace);
  log.rules.note(workspace, lot.commands.slice(-LIMITS.recentCommands), lot.decided, clock.now()).catch((thrown: unknown) => {
    trace.info("not-noted", { workspace, error: messageOf(thrown) });
  });
}
