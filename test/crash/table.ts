import { BREAKS, COUNTS, type Found } from "./verifier.ts";

/** One table of everything that was counted, and what broke in full. */
export function table(title: string, found: Found, kills: Map<string, number>): string {
  const broken = BREAKS.map((kind): [string, number] => [kind, found.breaks.filter((each) => each.kind === kind).length]);
  const killed = [...kills].sort(([a], [b]) => a.localeCompare(b));
  const rows: [string, number][] = [
    ...COUNTS.map((name): [string, number] => [name, found.counts[name]]),
    ["kills", killed.reduce((sum, [, times]) => sum + times, 0)],
    ...killed.map(([what, times]): [string, number] => [`  ${what}`, times]),
  ];
  const line = ([name, value]: [string, number]): string => `  ${name.padEnd(32)} ${String(value).padStart(6)}`;
  return [
    title,
    ...rows.map(line),
    "  must be zero:",
    ...broken.map(([name, value]) => line([`  ${name}`, value])),
    ...found.breaks.map(({ kind, what }) => `  BROKEN ${kind}: ${what}`),
  ].join("\n");
}
