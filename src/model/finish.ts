/** How a message ended that is not what the model wanted to say. */
export type Why = "overflow" | "broken" | "filter" | "cut";

const BROKEN = new Set("error networkerror cancel cancelled canceled abort aborted insufficientsystemresource".split(" "));
const OVERFLOW = /context(?:window|length)exceeded/;
const FILTER = /filter|safety|sensitive|prohibit|blocklist|blocked|guardrail|recitation|refus|moderat|policy|violat|toxic|censor|spii/;
const CUT =
  /length|limit|max|timeout|timedout|cancel|incomplete|malform|pause|error|abort|interrupt|truncat|fail|exceed|exhaust|unfinished|expired/;

/**
 * What a finish reason or a status means, under any spelling: nothing of such a message may run. Null for an end, and for
 * names that nobody knows.
 */
export function meaningOf(name: string): Why | null {
  const letters = name.toLowerCase().replace(/[^a-z]/g, "");
  if (OVERFLOW.test(letters)) return "overflow";
  if (BROKEN.has(letters)) return "broken";
  if (FILTER.test(letters)) return "filter";
  return CUT.test(letters) ? "cut" : null;
}

const GRAVEST: Why[] = ["overflow", "broken", "filter", "cut"];

/** The one that counts, when several signs say something. */
export function gravest(signs: Iterable<Why | null>): Why | null {
  const all = new Set(signs);
  return GRAVEST.find((why) => all.has(why)) ?? null;
}
