import { type Arg, tail } from "./words.ts";

/** How an option takes its value: none, a text, a path, one that may hang on it, or the next word if there is one. */
type Kind = "flag" | "value" | "path" | "attached" | "next";

export type OptionTable = Map<string, Kind>;

export interface Manner {
  /** Options end at the first operand. */
  ordered?: boolean;
  /** `-20` is an option. */
  digits?: boolean;
  /** Every option is one whole word, as in `find -name`. */
  single?: boolean;
  /** A value never hangs on a letter: what stands behind it in the word is read as more options. */
  apart?: boolean;
}

export interface OptionsRead {
  /** The first word that is not on the list or lacks its value. */
  unknown: Arg | null;
  used: { name: string; kind: Kind; value: Arg | null }[];
  operands: Arg[];
  /** The index in `operands` after which `--` had ended the options. */
  endedAt: number;
}

const SUFFIXES: [string, Kind][] = [
  ["[=]", "attached"],
  ["=?", "next"],
  ["=path", "path"],
  ["=", "value"],
];

/** Reads a list such as `-l --color[=] -n= -f=path`: `=` takes a value, `[=]` may have one, `=?` takes the next word. */
export function optionTable(list: string): OptionTable {
  const table: OptionTable = new Map();
  for (const word of list.split(" ").filter((one) => one !== "")) {
    const [suffix, kind] = SUFFIXES.find(([ending]) => word.endsWith(ending) && /\w/.test(word)) ?? ["", "flag" as const];
    table.set(word.slice(0, word.length - suffix.length), kind);
  }
  return table;
}

/** Sorts arguments into options and operands. Abbreviated long options are not known. */
export function readOptions(table: OptionTable, args: Arg[], manner: Manner = {}): OptionsRead {
  const read: OptionsRead = { unknown: null, used: [], operands: [], endedAt: Number.POSITIVE_INFINITY };
  let at = 0;
  while (at < args.length && read.unknown === null) {
    const arg = args[at] as Arg;
    at += 1;
    if (read.endedAt === Number.POSITIVE_INFINITY && arg.value === "--" && manner.single !== true) {
      read.endedAt = read.operands.length;
    } else if (read.endedAt !== Number.POSITIVE_INFINITY || !looksLikeOption(table, arg, manner)) {
      read.operands.push(arg);
      if (manner.ordered === true) break;
    } else {
      at = readOne(table, args, at, manner, read);
    }
  }
  if (read.unknown === null) read.operands.push(...args.slice(at));
  return read;
}

function looksLikeOption(table: OptionTable, arg: Arg, manner: Manner): boolean {
  if (manner.single === true && table.has(arg.value)) return true;
  return arg.value.startsWith("-") && arg.value !== "-";
}

/** Reads the option before `at`; returns where the next argument is. */
function readOne(table: OptionTable, args: Arg[], at: number, manner: Manner, read: OptionsRead): number {
  const arg = args[at - 1] as Arg;
  const equals = arg.value.startsWith("--") ? arg.value.indexOf("=") : -1;
  const name = equals < 0 ? arg.value : arg.value.slice(0, equals);
  const kind = table.get(name);
  if (manner.digits === true && /^-\d+$/.test(arg.value)) return at;
  if (arg.glob >= 0 && (equals < 0 || arg.glob < equals)) {
    read.unknown = arg;
    return at;
  }
  if (kind !== undefined && equals < 0) return take(args, at, { name, kind, attached: null }, manner, read);
  if (kind !== undefined && kind !== "flag") return take(args, at, { name, kind, attached: tail(arg, equals + 1) }, manner, read);
  if (arg.value.startsWith("--") || manner.single === true) {
    read.unknown = arg;
    return at;
  }
  return readCluster(table, args, at, manner, read);
}

/** `-abc`, where each letter is an option and the first that takes a value takes the rest. */
function readCluster(table: OptionTable, args: Arg[], at: number, manner: Manner, read: OptionsRead): number {
  const arg = args[at - 1] as Arg;
  for (let index = 1; index < arg.value.length; index += 1) {
    const name = `-${arg.value[index]}`;
    const kind = table.get(name);
    const more = index + 1 < arg.value.length;
    if (kind === undefined || (kind !== "flag" && more && manner.apart === true)) {
      read.unknown = arg;
      return at;
    }
    if (kind === "flag") {
      read.used.push({ name, kind, value: null });
      continue;
    }
    return take(args, at, { name, kind, attached: more ? tail(arg, index + 1) : null }, manner, read);
  }
  return at;
}

interface Taken {
  name: string;
  kind: Kind;
  attached: Arg | null;
}

function take(args: Arg[], at: number, { name, kind, attached }: Taken, manner: Manner, read: OptionsRead): number {
  if (attached !== null || kind === "flag" || kind === "attached") {
    read.used.push({ name, kind, value: attached });
    return at;
  }
  const next = args[at];
  if (next === undefined && kind === "next") {
    read.used.push({ name, kind, value: null });
    return at;
  }
  // A wildcard may become several words, and what follows would then be read differently.
  if (next === undefined || next.glob >= 0) {
    read.unknown = args[at - 1] as Arg;
    return at;
  }
  // Some programs would take this word as an option after all, and not as the value.
  if (manner.single !== true && /^--?[A-Za-z]/.test(next.value)) {
    read.unknown = next;
    return at;
  }
  read.used.push({ name, kind, value: next });
  return at + 1;
}
