import { ask, show, type Walk } from "./finding.ts";
import { type Entry, entryOf } from "./lookup.ts";
import { type OptionsRead, readOptions } from "./options.ts";
import { isGlobInside, isInside } from "./paths.ts";
import { isPrivate, mayBePrivate } from "./private.ts";
import type { Reader } from "./table.ts";
import type { Arg } from "./words.ts";

/**
 * Adds what speaks against this call of a listed program; adds nothing when it only reads inside the workspace.
 * False when the record is for another use of the program than this one.
 */
export function judgeReader(called: string, { reader, table }: Entry, args: Arg[], walk: Walk): boolean {
  const read: OptionsRead =
    reader.free === true ? { unknown: null, used: [], operands: args, endedAt: 0 } : readOptions(table, args, reader);
  const has = (names: string): boolean => read.used.some((one) => names.split(" ").includes(one.name));
  if (reader.must !== undefined && (read.unknown !== null || !has(reader.must))) return false;
  if (read.unknown !== null) {
    ask(walk, "unknown", `${show(`${called} ${read.unknown.text}`)} is not one of the options that only read`);
    return true;
  }
  if (read.operands.length > 0 && reader.listing !== undefined && !has(reader.listing)) {
    ask(walk, "history", `${show(`${called} ${read.operands[0]?.text ?? ""}`)} would create or change something`);
  }
  const pattern = reader.operands === "pattern" && !(reader.brings !== undefined && has(reader.brings)) ? 1 : 0;
  judgeTexts(called, reader, read, pattern, walk);
  for (const { kind, value } of read.used) if (kind === "path" && value !== null) judgePath(reader, value, walk);
  for (const arg of read.operands.slice(pattern)) {
    if (arg.glob >= 0 || (reader.operands !== "text" && reader.operands !== "none")) judgePath(reader, arg, walk);
  }
  const most = reader.operands === "none" ? 0 : (reader.most ?? Number.POSITIVE_INFINITY);
  if (read.operands.length > most || (Number.isFinite(most) && read.operands.some((arg) => arg.glob >= 0))) {
    ask(walk, "write", `${show(called)} takes more words than one that only reads`);
  }
  judgeWildcards(reader, read, walk);
  return true;
}

/** The texts among the arguments: patterns, formats and values. A wildcard in their place would become names of files. */
function judgeTexts(called: string, reader: Reader, read: OptionsRead, pattern: number, walk: Walk): void {
  const values = read.used.flatMap((one) => (one.value === null || one.kind === "path" ? [] : [one.value]));
  const brought = read.used.flatMap((one) => (one.value !== null && reader.brings?.split(" ").includes(one.name) ? [one.value] : []));
  const scripts = [...read.operands.slice(0, pattern), ...brought];
  const free = reader.operands === "pattern" ? scripts : read.operands;
  const isWild = (arg: Arg, index: number): boolean =>
    arg.glob >= 0 && (index < pattern || reader.like !== undefined || (index === 0 && reader.ordered === true));
  const bad = [
    ...read.operands.filter(isWild),
    ...read.operands.filter((arg) => reader.like?.test(arg.value) === false),
    ...scripts.filter((arg) => reader.script?.test(arg.value) === false),
    ...[...free, ...values].filter((arg) => reader.never?.test(arg.value) === true),
  ];
  for (const arg of bad) ask(walk, "unknown", `${show(`${called} ... ${arg.text}`)} is not something that is known to only read`);
}

/** Asks when a path may lead out of the workspace, or to a file that usually holds credentials. */
function judgePath(reader: Reader, arg: Arg, walk: Walk): void {
  if (!arg.literal || arg.value === "-") return;
  const inside = (cwd: string): boolean =>
    arg.glob < 0 ? isInside(walk.place, cwd, arg.value) : isGlobInside(walk.place, cwd, arg.value, arg.glob);
  if (!walk.cwds.every(inside)) ask(walk, "outside", `${show(arg.text)} leads out of the workspace`);
  else if (reader.operands !== "names" && reader.operands !== "text" && (arg.glob < 0 ? isPrivate(arg.value) : mayBePrivate(arg.value))) {
    ask(walk, "secrets", `${show(arg.text)} usually holds credentials, which would be posted to the thread`);
  }
}

/** `*` may match a file that is named like an option. */
function judgeWildcards(reader: Reader, read: OptionsRead, walk: Walk): void {
  if (reader.harmless === true || reader.ordered === true) return;
  for (const arg of read.operands.slice(0, read.endedAt)) {
    if (arg.glob === 0) ask(walk, "dynamic", `${show(arg.text)} may match a file that is named like an option`);
  }
}

/** The record for a program and its arguments: for git by subcommand, with what is left of the arguments. */
export function findReader(name: string, args: Arg[]): { called: string; entry: Entry; args: Arg[] } | null {
  const words = args.map((arg) => (arg.literal && arg.glob < 0 ? arg.value : ""));
  const depths = name === "git" ? [2, 1] : name === "rg" && words.includes("--files") ? [-1, 0] : [0];
  for (const depth of depths) {
    const called = depth < 0 ? "rg --files" : [name, ...words.slice(0, depth)].join(" ");
    const entry = entryOf(called);
    if (entry !== undefined) return { called, entry, args: args.slice(Math.max(0, called === "git --version" ? 0 : depth)) };
  }
  return null;
}
