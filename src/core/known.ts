import { LIMITS } from "../limits.ts";
import { type Entry, isEntry } from "./entry.ts";
import type { Log, Request } from "./log.ts";

interface Known {
  entries: Entry[];
  /** About how many characters they are. */
  size: number;
}

export interface KnownEntries {
  /** The whole log of a conversation. The list is shared: nobody may change it. */
  entriesOf(conversation: string): Promise<Entry[]>;
  /** What an approval is about, when it was among what was read of that conversation last. */
  requestOf(approval: string, conversation: string): Request | null;
}

/** Reads whole logs, of the threads that were read last only what is new: a log only grows. `most`: characters of all that are kept. */
export function knownEntries({ read }: Pick<Log, "read">, most: number = LIMITS.knownEntries): KnownEntries {
  const known = new Map<string, Known>();
  let size = 0;

  function forget(conversation: string): void {
    size -= known.get(conversation)?.size ?? 0;
    known.delete(conversation);
  }

  async function entriesOf(conversation: string): Promise<Entry[]> {
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
  }

  function requestOf(approval: string, conversation: string): Request | null {
    const entries = known.get(conversation)?.entries ?? [];
    const opened = entries.find((e) => isEntry(e, "opened"));
    const asked = entries.filter((e) => isEntry(e, "approval-asked")).findLast((e) => e.approval === approval);
    return opened && asked ? { conversation, workspace: opened.workspace, channel: opened.channel, asked } : null;
  }

  return { entriesOf, requestOf };
}
