/** Discord's first millisecond. */
const EPOCH = 1_420_070_400_000n;

/** Milliseconds since 1970 at which an id was made. */
export function timeOf(id: string): number {
  return Number((BigInt(id) >> 22n) + EPOCH);
}

/** The smallest id of a time: every id made then or later is at least this. */
export function idAt(ms: number): string {
  const since = BigInt(Math.floor(ms)) - EPOCH;
  return String(since > 0n ? since << 22n : 0n);
}

/** For sorting: the older first. */
export function byAge(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
