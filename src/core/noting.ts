import { LIMITS } from "../limits.ts";
import type { Clock } from "./ports.ts";
import type { JudgedCommand, Rules } from "./rules.ts";

/** What was judged in a workspace and is not noted yet. */
interface Lot {
  judged: JudgedCommand[];
  /** Names of rules, as often as they decided. */
  decided: string[];
  noted: Promise<void>;
  settle: (noted: Promise<void>) => void;
}

/**
 * The same rules, where what is judged within LIMITS.noteAfter is noted in one go: were it written at once, what the step asks
 * next would wait for the disk with it.
 */
export function notedTogether(rules: Rules, clock: Clock): Rules {
  const waiting = new Map<string, Lot>();

  function begin(workspace: string): Lot {
    const { promise, resolve } = Promise.withResolvers<void>();
    const lot: Lot = { judged: [], decided: [], noted: promise, settle: resolve };
    waiting.set(workspace, lot);
    void clock.sleep(LIMITS.noteAfter).then(() => noteNow(workspace, lot));
    return lot;
  }

  function noteNow(workspace: string, lot: Lot | undefined): void {
    if (!lot || waiting.get(workspace) !== lot) return;
    waiting.delete(workspace);
    lot.settle(rules.note(workspace, lot.judged.slice(-LIMITS.recentCommands), lot.decided, clock.now()));
  }

  return {
    ...rules,
    async note(workspace, judged, decided) {
      if (judged.length === 0 && decided.length === 0) return;
      const lot = waiting.get(workspace) ?? begin(workspace);
      lot.judged.push(...judged);
      lot.decided.push(...decided);
      await lot.noted;
    },
    async recent(workspace) {
      // Asked behind it on the same connection: what waited is among them.
      noteNow(workspace, waiting.get(workspace));
      return await rules.recent(workspace);
    },
  };
}
