/** One measured figure. A figure without a goal is shown beside the others and fails nothing. */
export interface Figure {
  what: string;
  value: number;
  /** Written behind the value: `×`, ` ms`, ` MB` ... */
  unit: string;
  goal?: { at: "most" | "least"; value: number };
  /** What the value was made of, with its spread. */
  detail: string;
}

/** One measurement with its floors. Each runs in a process of its own, so that no other's memory weighs on it. */
export interface Bench {
  /** For `script/bench NAME`. */
  name: string;
  what: string;
  /** How often floors and ours take turns; medians are over the rounds. */
  rounds: number;
  run(rounds: number): Promise<Figure[]>;
}

/** `script/bench --quick`: one round and small numbers, to see that a bench works. Its figures say nothing. */
export const QUICK = process.env["BENCH_QUICK"] !== undefined;

/** How many of something: fewer in a quick run. */
export function sized(full: number, quick: number): number {
  return QUICK ? quick : full;
}

/** What each round gave of ours, divided by what it gave of the floor. */
export function ratiosOf(ours: readonly number[], floors: readonly number[]): number[] {
  return ours.map((value, round) => value / (floors[round] as number));
}

export function holds({ value, goal }: Figure): boolean {
  if (goal === undefined) return true;
  // Written so that a value that is not a number fails.
  return goal.at === "most" ? value <= goal.value : value >= goal.value;
}

/** The smallest value that a share of all values does not exceed. Throws on an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error("nothing was measured");
  return value;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Median, and in brackets the least and the most: `4.1 (3.9..4.6) ms`. */
export function spread(values: readonly number[], unit = "", digits = 1): string {
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((value) => value.toFixed(digits));
  return `${middle} (${least}..${most})${unit}`;
}

/** How long something took, in milliseconds. */
export async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

/** Runs all cases in turn, so often; the order turns round each time, so that none always follows the same one. */
export async function inTurn<Name extends string>(
  times: number,
  cases: Record<Name, () => Promise<number>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(cases) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let time = 0; time < times; time++) {
    for (const name of time % 2 === 0 ? names : names.toReversed()) measured[name].push(await cases[name]());
  }
  return measured;
}
