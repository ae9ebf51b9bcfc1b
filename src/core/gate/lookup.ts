import { type Arg } from "./args.ts";
import { type OptionTable, optionTable, readOptions } from "./options.ts";
import type { Listed } from "./record.ts";
import { BUILDS } from "./table/builds.ts";
import { COMPILERS } from "./table/compilers.ts";
import { DATA } from "./table/data.ts";
import { FILES } from "./table/files.ts";
import { GIT } from "./table/git.ts";
import { GIT_CHANGES } from "./table/git-changes.ts";
import { LANGUAGES } from "./table/languages.ts";
import { NETWORK } from "./table/network.ts";
import { NODE } from "./table/node.ts";
import { PACKAGES } from "./table/packages.ts";
import { PYTHON } from "./table/python.ts";
import { SEARCH } from "./table/search.ts";
import { SYSTEM } from "./table/system.ts";
import { TEXT } from "./table/text.ts";

/** A record with its options read. */
export interface Entry {
  record: Listed;
  table: OptionTable;
}

const ENTRIES = new Map<string, Entry[]>();
const HEADS = new Set<string>();
for (const record of [
  TEXT,
  FILES,
  SEARCH,
  GIT,
  GIT_CHANGES,
  NODE,
  PYTHON,
  BUILDS,
  COMPILERS,
  LANGUAGES,
  DATA,
  NETWORK,
  PACKAGES,
  SYSTEM,
].flat()) {
  const entry = { record, table: optionTable(record.options ?? "") };
  for (const name of record.names.split(", ")) {
    ENTRIES.set(name, [...(ENTRIES.get(name) ?? []), entry]);
    const words = name.split(" ");
    for (let count = 1; count < words.length; count += 1) HEADS.add(words.slice(0, count).join(" "));
  }
}

/** Options that stand between a program and its subcommand. */
const GLOBALS = new Map(
  Object.entries({
    npm: "--prefix=dir -s --silent -w= --workspace= --workspaces --ws --if-present --no-color",
    pnpm: "-r --recursive -F= --filter= -C=dir --dir=dir -w --workspace-root -s --silent --stream --parallel --reporter=",
    yarn: "--cwd=dir -s --silent",
    cargo: "-q --quiet -v --verbose --color= --offline --locked --frozen +stable +nightly +beta",
    go: "-C=dir",
    dotnet: "",
    bundle: "",
    docker: "",
    uv: "-q --quiet --offline --project=dir --directory=dir",
  }).map(([name, options]) => [name, optionTable(options)]),
);

export interface Found {
  /** The program with its subcommand. */
  called: string;
  entry: Entry;
  /** What is left of the arguments. */
  args: Arg[];
}

/** The records for a program and its arguments, those for the most words of a subcommand first. */
export function findRecords(name: string, args: Arg[]): Found[] {
  const globals = GLOBALS.get(name);
  let rest = args;
  if (globals !== undefined) {
    const read = readOptions(globals, args, { ordered: true });
    if (read.unknown === null) rest = read.operands;
    if (read.used.some((one) => one.kind === "out" && one.value !== null)) rest = [...rest];
  }
  const found: Found[] = [];
  for (let depth = HEADS.has(name) ? 3 : 0; depth >= 0; depth -= 1) {
    const words = rest.slice(0, depth);
    if (words.length < depth || !words.every((arg) => arg.literal && arg.glob < 0)) continue;
    const called = [name, ...words.map((arg) => arg.value)].join(" ");
    const given = depth === 0 && name !== "pnpm" && name !== "yarn" ? args : rest.slice(depth);
    for (const entry of ENTRIES.get(called) ?? []) found.push({ called, entry, args: given });
  }
  return found;
}

/** The folders that a program's own options name before its subcommand, such as `npm --prefix`. */
export function foldersOf(name: string, args: Arg[]): Arg[] {
  const globals = GLOBALS.get(name);
  if (globals === undefined) return [];
  return readOptions(globals, args, { ordered: true }).used.flatMap((one) => (one.kind === "out" && one.value !== null ? [one.value] : []));
}

/** Whether the table knows a program by this name, so that a function must not take it. */
export function isListed(name: string): boolean {
  return ENTRIES.has(name) || HEADS.has(name) || BUILTIN_NAMES.has(name);
}

const BUILTIN_NAMES = new Set(
  "cd eval exec export source . trap alias set unset read let declare typeset local test [ printf echo builtin command true false return exit shift wait time env xargs nohup timeout nice sh bash".split(
    " ",
  ),
);
