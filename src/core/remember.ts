import type { Clock } from "./ports.ts";

/** Looks a thing up once in `ms`, for at most `most` of them; a failure is not remembered. */
export function remember<T>(
  options: { clock: Clock; ms: number; most: number },
  look: (id: string) => Promise<T>,
): (id: string) => Promise<T> {
  const known = new Map<string, { until: number; found: Promise<T> }>();
  return (id) => {
    const now = options.clock.now();
    const kept = known.get(id);
    if (kept && kept.until > now) return kept.found;
    const found = look(id);
    known.delete(id);
    known.set(id, { until: now + options.ms, found });
    // The caller of `found` gets the failure.
    found.catch(() => known.delete(id));
    const [oldest] = known.keys();
    if (known.size > options.most && oldest !== undefined) known.delete(oldest);
    return found;
  };
}
