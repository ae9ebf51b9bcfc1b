import type { Entry, NewEntry } from "../core/entry.ts";

/** A line of the stream as Redis gives it: `<seq>-0`, then field, value, field, value. */
export type Row = [id: string, fields: string[]];

/** Joins what the script put into the fields with the body. */
export function entryOf([id, fields]: Row): Entry {
  const field = new Map<string, string>();
  for (let i = 0; i < fields.length; i += 2) field.set(fields[i] as string, fields[i + 1] as string);
  const approval = field.get("a");
  const known = approval === undefined ? {} : { approval, call: field.get("c"), parent: Number(field.get("p")) };
  return {
    ...JSON.parse(field.get("b") as string),
    ...known,
    v: 1,
    seq: Number.parseInt(id, 10),
    at: Number(field.get("t")),
    epoch: Number(field.get("e")),
  } as Entry;
}

/** The six arguments that append.lua takes for an entry. */
export function appendArgs(entry: NewEntry): (string | number)[] {
  const head = [entry.type, JSON.stringify(entry)];
  if (entry.type === "approval-asked") return [...head, entry.approval, entry.call, entry.requester.key, entry.deadline];
  if (entry.type === "approval-decided") return [...head, entry.approval, entry.call, "", ""];
  return [...head, "", "", "", ""];
}
