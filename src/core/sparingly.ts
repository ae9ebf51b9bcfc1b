import type { Clock } from "./ports.ts";

/**
 * Rings at once, and then for the same conversation at most every `everyMs`: what is to be rung for meanwhile is rung for
 * once, at the end of it. What is `urgent` never waits. From the moment that `hurry` aborts every ring is a ring of its own
 * again, those that wait too.
 */
export function sparingly(
  ring: (conversation: string) => void,
  everyMs: number,
  clock: Clock,
  hurry: AbortSignal,
): (conversation: string, urgent: boolean) => void {
  /** Rung for lately: whether there is more to ring for. */
  const lately = new Map<string, boolean>();
  async function rest(conversation: string): Promise<void> {
    await clock.sleep(everyMs, hurry);
    const more = lately.get(conversation);
    lately.delete(conversation);
    if (more) rung(conversation, false);
  }
  function rung(conversation: string, urgent: boolean): void {
    const waits = lately.has(conversation) && !hurry.aborted;
    if (waits && !urgent) {
      lately.set(conversation, true);
      return;
    }
    ring(conversation);
    if (hurry.aborted) return;
    lately.set(conversation, false);
    if (!waits) void rest(conversation);
  }
  return rung;
}
