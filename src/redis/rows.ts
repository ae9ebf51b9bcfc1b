import type { Entry, NewEntry } from "../core/entry.ts";

/** A line of the stream as Redis gives it: `<seq>-0`, then field, value, field, value. */
export type Row = [id: string, fields: string[]];

/** Joins what the script put into the fields with the body. */
export function entryOf([id, fields]: Row): Entry {
  const valueOf = (name: string): string | undefined => {
    for (let i = 0; i < fields.length; i += 2) if (fields[i] === name) return fields[i + 1];
    return undefined;
  };
  // Written into what was parsed: a copy of each entry would double what a long log costs.
  const entry = JSON.parse(valueOf("b") as string) as Record<string, unknown>;
  const approval = valueOf("a");
  if (approval !== undefined) Object.assign(entry, { approval, call: valueOf("c"), parent: Number(valueOf("p")) });
  entry["v"] = 1;
  entry["seq"] = Number.parseInt(id, 10);
  entry["at"] = Number(valueOf("t"));
  entry["epoch"] = Number(valueOf("e"));
  return entry as unknown as Entry;
}

/** The six arguments that append.lua takes for an entry. */
export function appendArgs(entry: NewEntry): (string | number)[] {
  const head = [entry.type, JSON.stringify(entry)];
  if (entry.type === "approval-asked") return [...head, entry.approval, entry.call, entry.requester.key, entry.deadline];
  if (entry.type === "approval-decided") return [...head, entry.approval, entry.call, "", ""];
  return [...head, "", "", "", ""];
}
