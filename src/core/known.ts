import { LIMITS } from "../limits.ts";
import type { Entry } from "./entry.ts";
import type { Log } from "./log.ts";

interface Known {
  entries: Entry[];
  /** About how many characters they are. */
  size: number;
}

/**
 * Reads whole logs, of the threads that were read last only what is new: a log only grows. `most`: characters of all that are
 * kept. The lists are shared: nobody may change them.
 */
export function knownEntries({ read }: Pick<Log, "read">, most: number = LIMITS.knownEntries): (conversation: string) => Promise<Entry[]> {
  const known = new Map<string, Known>();
  let size = 0;

  function forget(conversation: string): void {
    size -= known.get(conversation)?.size ?? 0;
    known.delete(conversation);
  }

  return async (conversation) => {
    // Taken now: it may be forgotten while its end is read.
    const kept = known.get(conversation) ?? { entries: [], size: 0 };
    const last = kept.entries.at(-1);
    let fresh = await read(conversation, last ? last.seq - 1 : 0);
    // What a Redis has lost since with its power is not what is so.
    const goesOn = last !== undefined && fresh[0]?.seq === last.seq && fresh[0].at === last.at && fresh[0].epoch === last.epoch;
    if (last && !goesOn) fresh = await read(conversation, 0);
    const entries = goesOn ? [...kept.entries, ...fresh.slice(1)] : fresh;
    const grown = goesOn ? fresh.slice(1) : fresh;
    const whole = (goesOn ? kept.size : 0) + grown.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
    // To the end: it was read last.
    forget(conversation);
    known.set(conversation, { entries, size: whole });
    size += whole;
    for (const oldest of known.keys()) if (size > most) forget(oldest);
    return entries;
  };
}
