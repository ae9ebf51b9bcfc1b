import { type Arg, tail } from "./args.ts";

/** How an option takes its value; see `Listed.options`. */
export type OptionKind = "flag" | "value" | "path" | "out" | "attached" | "next" | "two" | "twopath";

export type OptionTable = Map<string, OptionKind>;

export interface Manner {
  /** Options end at the first operand. */
  ordered?: boolean;
  /** `-20` is an option. */
  digits?: boolean;
  /** Every option is one whole word, as in `find -name`. */
  single?: boolean;
  /** A value never hangs on a letter: what stands behind it in the word is read as more options. */
  apart?: boolean;
  /** As compilers take them: a value hangs on its letter (`-Iinclude`), and `-W...` is a warning. */
  glued?: boolean;
  /** Words such as `if=FILE` are options; `if` is then listed without a dash. */
  keys?: boolean;
}

export interface OptionsRead {
  /** The first word that is not on the list or lacks its value. */
  unknown: Arg | null;
  used: { name: string; kind: OptionKind; value: Arg | null }[];
  operands: Arg[];
  /** The index in `operands` after which `--` had ended the options. */
  endedAt: number;
}

const SUFFIXES: [string, OptionKind][] = [
  ["[=]", "attached"],
  ["=?", "next"],
  ["==path", "twopath"],
  ["==", "two"],
  ["=path", "path"],
  ["=out", "out"],
  ["=dir", "out"],
  ["=", "value"],
];

/** Reads a list such as `-l --color[=] -n= -f=path`. */
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
    } else if (manner.keys === true && readKey(table, arg, read)) {
      continue;
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

function readKey(table: OptionTable, arg: Arg, read: OptionsRead): boolean {
  const equals = arg.value.indexOf("=");
  const name = arg.value.slice(0, Math.max(0, equals));
  const kind = table.get(name);
  if (kind === undefined || name.startsWith("-")) return false;
  read.used.push({ name, kind, value: tail(arg, equals + 1) });
  return true;
}

function looksLikeOption(table: OptionTable, arg: Arg, manner: Manner): boolean {
  if (manner.single === true && table.has(arg.value)) return true;
  return (arg.value.startsWith("-") && arg.value !== "-") || (arg.value.startsWith("+") && table.has(arg.value));
}

/** Reads the option before `at`; returns where the next argument is. */
function readOne(table: OptionTable, args: Arg[], at: number, manner: Manner, read: OptionsRead): number {
  const arg = args[at - 1] as Arg;
  const equals =
    arg.value.startsWith("--") || table.has(arg.value.slice(0, Math.max(0, arg.value.indexOf("=")))) ? arg.value.indexOf("=") : -1;
  const name = equals < 0 ? arg.value : arg.value.slice(0, equals);
  const kind = table.get(name);
  if (manner.digits === true && /^-\d+$/.test(arg.value)) return at;
  if (
    (arg.glob >= 0 && (equals < 0 || arg.glob < equals)) ||
    (arg.kind === "free" && equals < 0 && kind === undefined && arg.value.startsWith("--"))
  ) {
    read.unknown = arg;
    return at;
  }
  if (kind !== undefined && equals < 0) return take(args, at, { name, kind, attached: null }, manner, read);
  if (kind !== undefined && kind !== "flag") return take(args, at, { name, kind, attached: tail(arg, equals + 1) }, manner, read);
  if (manner.glued === true && kind === undefined) {
    if (/^-W[a-z][\w=+-]*$/.test(arg.value)) return at;
    const letter = table.get(arg.value.slice(0, 2));
    if (letter !== undefined && letter !== "flag")
      return take(args, at, { name: arg.value.slice(0, 2), kind: letter, attached: tail(arg, 2) }, manner, read);
  }
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
  kind: OptionKind;
  attached: Arg | null;
}

function take(args: Arg[], at: number, { name, kind, attached }: Taken, manner: Manner, read: OptionsRead): number {
  if (kind === "two" || kind === "twopath") {
    const second = args[at + 1];
    if (attached !== null || second === undefined || second.glob >= 0) {
      read.unknown = args[at - 1] as Arg;
      return at;
    }
    read.used.push({ name, kind: kind === "two" ? "value" : "path", value: second });
    return at + 2;
  }
  if (attached !== null || kind === "flag" || kind === "attached") {
    read.used.push({ name, kind, value: attached });
    return at;
  }
  const next = args[at];
  if (next === undefined && kind === "next") {
    read.used.push({ name, kind, value: null });
    return at;
  }
  // A wildcard or a value that may be several words or none, and what follows would then be read differently.
  if (next === undefined || next.glob >= 0 || (next.loose && next.kind === "free")) {
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
