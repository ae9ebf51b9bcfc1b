import { type OptionTable, optionTable } from "./options.ts";
import { READERS, type Reader } from "./table.ts";
import { GIT_READERS } from "./table-git.ts";

/** A reader with its options read. */
export interface Entry {
  reader: Reader;
  table: OptionTable;
}

const ENTRIES = new Map<string, Entry>();
for (const reader of [...READERS, ...GIT_READERS]) {
  const entry = { reader, table: optionTable(reader.options) };
  for (const name of namesOf(reader.names)) ENTRIES.set(name, entry);
}

/** The record of a program, or of `git` and its subcommand. */
export function entryOf(name: string): Entry | undefined {
  return ENTRIES.get(name);
}

/** `git log git show` names two subcommands, `md5sum sha1sum` two programs, `git stash list` one. */
function namesOf(names: string): string[] {
  if (names.startsWith("git "))
    return names
      .slice(4)
      .split(" git ")
      .map((rest) => `git ${rest}`);
  return names === "rg --files" ? [names] : names.split(" ");
}
