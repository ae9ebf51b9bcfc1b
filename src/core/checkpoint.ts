import { DeckhandError } from "./errors.ts";

/**
 * Places where a process may be killed to prove that nothing is lost and nothing runs twice. They do nothing but in a
 * process that was armed (DECKHAND_KILL_AT=name:nth). `before-X` and `after-X` stand around the append of an entry X.
 */
export const CHECKPOINTS = [
  // gateway: an arrival is kept, a press has decided; nobody was rung yet
  "kept",
  "decided",
  // worker
  "picked",
  "taken-over",
  "asking-model",
  "before-model",
  "after-model",
  "before-judged",
  "after-judged",
  "before-approval-asked",
  "after-approval-asked",
  "before-run-started",
  "after-run-started",
  "command-goes",
  "before-run-ended",
  "after-run-ended",
  "before-final",
  "after-final",
  "before-settle",
  "after-settle",
  // poster
  "post-taken",
  "before-send",
  "after-send",
  "after-sent",
  "after-edit",
  "before-posts-settle",
  // sweeper
  "expired",
  // runner
  "runner-ready",
  "runner-goes",
  "runner-ended",
] as const;

export type Checkpoint = (typeof CHECKPOINTS)[number];

const known: ReadonlySet<string> = new Set(CHECKPOINTS);
let armed: { text: string; name: string; left: number; kill: () => void } | null = null;

/** Arms this process: `kill` is called the nth time that it comes by. Throws CONFIG when `text` is not `name:nth`. */
export function armCheckpoint(text: string, kill: () => void): void {
  const parsed = parseKillAt(text);
  if (parsed === null) throw new DeckhandError("CONFIG", `"${text}" is not NAME:NTH`);
  armed = { text, name: parsed.name, left: parsed.nth, kill };
}

/** Null when it is not `name:nth`; without a number it is the first time. */
export function parseKillAt(text: string): { name: Checkpoint; nth: number } | null {
  const [name = "", nth = "1", ...rest] = text.split(":");
  if (!known.has(name) || rest.length > 0 || !/^[1-9]\d{0,5}$/.test(nth)) return null;
  return { name: name as Checkpoint, nth: Number(nth) };
}

/** For a child process that has checkpoints of its own. */
export function armedAt(): string | null {
  return armed?.text ?? null;
}

/** Whether this process is to be killed there. */
export function isArmedFor(name: Checkpoint): boolean {
  return armed?.name === name;
}

/** We come by: nothing, unless this process is armed for it. */
export function checkpoint(name: string): void {
  if (armed === null || armed.name !== name) return;
  armed.left -= 1;
  if (armed.left === 0) armed.kill();
}
