import type { Entry, NewEntry } from "../core/entry.ts";

/** A line of the stream as Redis gives it: `<seq>-0`, then field, value, field, value. */
export type Row = [id: string, fields: string[]];

/** Joins what the script put into the fields with the body. */
export function entryOf([id, fields]: Row): Entry {
  const valueOf = (name: string): string | undefined => {
    for (let i = 0; i < fields.length; i += 2) if (fields[i] === name) return fields[i + 1];
    return undefined;
  };
  const entry = placed(valueOf("b") as string, Number.parseInt(id, 10), Number(valueOf("t")), Number(valueOf("e")));
  const approval = valueOf("a");
  return approval === undefined ? entry : Object.assign(entry, { approval, call: valueOf("c"), parent: Number(valueOf("p")) });
}

/** The entry of a body at its place in the log. */
export function placed(body: string, seq: number, at: number, epoch: number): Entry {
  // Written into what was parsed: a copy of each entry would double what a long log costs.
  return Object.assign(JSON.parse(body), { v: 1, seq, at, epoch }) as Entry;
}

/** The six arguments that append.lua takes for an entry; the second is its body. */
export function appendArgs(entry: NewEntry): [type: string, body: string, ...(string | number)[]] {
  const head: [string, string] = [entry.type, JSON.stringify(entry)];
  if (entry.type === "approval-asked") return [...head, entry.approval, entry.call, entry.requester.key, entry.deadline];
  if (entry.type === "approval-decided") return [...head, entry.approval, entry.call, "", ""];
  return [...head, "", "", "", ""];
}
