import { type Arg, tail } from "./args.ts";
import { judgeAwk } from "./awk.ts";
import { ask, show, type Walk } from "./finding.ts";
import { judgePath, judgePlaced } from "./judge-path.ts";
import type { Found } from "./lookup.ts";
import { type OptionsRead, readOptions } from "./options.ts";
import type { Listed } from "./record.ts";
import { described } from "./reasons.ts";
import { judgeSed } from "./sed.ts";

/**
 * Notes what speaks against this call of a listed program; nothing when it does no more than the table lets pass.
 * Of several records the first that fits is taken, else the last. False when there is none for this use.
 */
export function judgeRecords(found: Found[], walk: Walk): boolean {
  let last: { found: Found; read: OptionsRead } | null = null;
  for (const one of found) {
    const read = readArguments(one);
    const { record } = one.entry;
    if (record.must !== undefined && !has(read, record.must)) continue;
    last = { found: one, read };
    if (record.asks !== undefined || fits(record, read)) break;
  }
  if (last !== null) judgeFit(last.found, last.read, walk);
  return last !== null;
}

function readArguments({ entry: { record, table }, args }: Found): OptionsRead {
  return record.free === true ? { unknown: null, used: [], operands: args, endedAt: 0 } : readOptions(table, args, record);
}

function has(read: OptionsRead, names: string): boolean {
  return read.used.some((one) => names.split(" ").includes(one.name));
}

function fits(record: Listed, read: OptionsRead): boolean {
  if (read.unknown !== null) return false;
  if (record.listing !== undefined && read.operands.length > 0 && !has(read, record.listing)) return false;
  if (read.operands.length > (record.operands === "none" ? 0 : (record.most ?? Number.POSITIVE_INFINITY))) return false;
  if (read.operands.length < (record.least ?? 0)) return false;
  const { like } = record;
  return like === undefined || likened(record, read).every((arg) => arg.kind === "free" || like.test(arg.value));
}

/** The operands that `like` is about. */
function likened(record: Listed, read: OptionsRead): Arg[] {
  return record.first === true ? read.operands.slice(0, 1) : read.operands;
}

function judgeFit({ called, entry: { record }, args }: Found, read: OptionsRead, walk: Walk): void {
  noteEffects(record, called, walk);
  if (record.asks !== undefined) {
    const [code, text] = record.asks;
    return ask(walk, code, `${show(called)} ${described(called, args) ?? text}`);
  }
  if (read.unknown !== null) {
    const { unknown } = read;
    walk.seen.changes = true;
    if (unknown.kind === "free") ask(walk, "dynamic", `could not read which option of ${show(called)} ${show(unknown.text)} is`);
    else ask(walk, "unknown", `${show(`${called} ${unknown.text}`)} is not one of the options that are known to be harmless`);
    return;
  }
  for (const [code, names, text] of record.when ?? []) if (has(read, names)) ask(walk, code, `${show(called)} ${text}`);
  if (read.operands.length > 0 && record.listing !== undefined && !has(read, record.listing)) {
    walk.seen.changes = true;
    ask(walk, "history", `${show(`${called} ${read.operands[0]?.text ?? ""}`)} would create or change something`);
  }
  judgeOperands(called, record, read, walk);
}

function noteEffects(record: Listed, called: string, walk: Walk): void {
  if (record.writes === true || record.runs === true || record.asks !== undefined) walk.seen.changes = true;
  if (record.runs === true) walk.seen.runs.add(called);
}

function judgeOperands(called: string, record: Listed, read: OptionsRead, walk: Walk): void {
  const { operands: kind = "paths" } = record;
  const brought = record.brings !== undefined && has(read, record.brings);
  const pattern = (kind === "pattern" || kind === "edits") && !brought ? 1 : 0;
  const files = read.operands.slice(pattern);
  judgeTexts(called, record, read, pattern, walk);
  for (const { kind: is, value } of read.used) {
    if (value === null || (is !== "path" && is !== "out")) continue;
    judgePath(value, is === "path" ? "paths" : "writes", walk);
  }
  for (const { name, value } of read.used) {
    if (record.inPlace?.split(" ").includes(name) === true && value !== null && /[/$]/.test(value.value))
      ask(walk, "outside", `${show(`${called} ${name}${value.text}`)} may write its copies to another folder`);
  }
  if ((kind === "to" || kind === "moves") && files.length > 1) {
    const folder = files.at(-1) as Arg;
    if (kind === "moves" && /^\/dev\//.test(folder.value))
      ask(walk, "delete", `${show(`${called} ... ${folder.text}`)} takes the files away`);
    for (const source of files.slice(0, -1)) judgePlaced(source, folder, walk);
  }
  for (const { name, value } of read.used) {
    if (/^(?:-t|--target-directory)$/.test(name) && value !== null) for (const source of files) judgePlaced(source, value, walk);
  }
  if (kind === "moves") for (const arg of files.slice(0, -1)) judgePath(arg, "paths", walk);
  for (const { name, value } of read.used) {
    if (value !== null && record.plain?.split(" ").includes(name) === true && !(value.literal && /^[\w,:-]*$/.test(value.value)))
      ask(walk, "interp", `${show(`${called} ${name} ${value.text}`)} may load code`);
  }
  // What is not known may be an option that writes.
  if (record.harmless !== true && read.operands.slice(0, read.endedAt).some((arg) => arg.kind === "free" && arg.value.startsWith("$")))
    walk.seen.changes = true;
  const inPlace = record.inPlace !== undefined && has(read, record.inPlace);
  for (const [index, arg] of files.entries()) {
    const use = inPlace ? "writes" : useOf(kind, index === files.length - 1 && files.length > 1);
    if (use !== null || arg.glob >= 0) judgePath(arg, use ?? "names", walk);
    else if (arg.kind === "free" && record.harmless !== true && arg.value.startsWith("$") && index < read.endedAt)
      ask(walk, "dynamic", `could not read what ${show(arg.text)} means to ${show(called)}`);
  }
  if (record.runs === true && kind === "text") for (const arg of files) judgePassedOn(arg, walk);
  const most = kind === "none" ? 0 : (record.most ?? Number.POSITIVE_INFINITY);
  if (read.operands.length > most || (Number.isFinite(most) && read.operands.some((arg) => arg.glob >= 0 || arg.loose))) {
    walk.seen.changes = true;
    ask(walk, "unknown", `${show(called)} takes more words than is known to be harmless`);
  }
  judgeWildcards(record, read, walk);
}

/** A word for a script of the project: what looks like a path must not lead out of the workspace. */
function judgePassedOn(arg: Arg, walk: Walk): void {
  const equals = arg.value.startsWith("-") ? arg.value.indexOf("=") : -1;
  const value = tail(arg, equals + 1);
  if (arg.tilde || /^\/|(?:^|\/)\.\.(?:\/|$)/.test(value.value)) judgePath(value, "names", walk);
}

function useOf(kind: NonNullable<Listed["operands"]>, last: boolean): "paths" | "names" | "writes" | null {
  switch (kind) {
    case "paths":
    case "pattern":
      return "paths";
    case "names":
      return "names";
    case "writes":
    case "moves":
    case "edits":
      return "writes";
    case "to":
      return last ? "writes" : "paths";
    default:
      return null;
  }
}

/** The texts among the arguments: patterns, formats and values. A wildcard in their place would become names of files. */
function judgeTexts(called: string, record: Listed, read: OptionsRead, pattern: number, walk: Walk): void {
  const values = read.used.flatMap((one) => (one.value === null || one.kind === "path" || one.kind === "out" ? [] : [one.value]));
  const named = read.used.flatMap((one) => (one.value !== null && (one.kind === "path" || one.kind === "out") ? [one.value] : []));
  const brought = read.used.flatMap((one) => (one.value !== null && record.brings?.split(" ").includes(one.name) ? [one.value] : []));
  const scripts = [...read.operands.slice(0, pattern), ...brought];
  const free = pattern > 0 || record.operands === "pattern" || record.operands === "edits" ? scripts : read.operands;
  const isWild = (arg: Arg, index: number): boolean =>
    arg.glob >= 0 &&
    // Digits in brackets stand for a digit.
    /[*?[]/.test(arg.value.replace(/\[\d*\]/g, "")) &&
    (index < pattern || (record.like !== undefined && (index === 0 || record.first !== true)) || (index === 0 && record.ordered === true));
  const unlike = likened(record, read).filter((arg) => record.like !== undefined && (arg.kind === "free" || !record.like.test(arg.value)));
  const bad = [
    ...read.operands.filter(isWild),
    ...[...free, ...values, ...named].filter((arg) => record.never?.test(arg.value) === true),
    ...(record.never === undefined ? [] : free.filter((arg) => arg.kind === "free")),
  ];
  for (const arg of unlike) {
    walk.seen.changes = true;
    const [code, text] = record.otherwise ?? ["unknown", "is not something that is known to be harmless"];
    if (arg.kind === "free") ask(walk, "dynamic", `could not read what ${show(`${called} ${arg.text}`)} does`);
    else ask(walk, code, `${show(`${called} ${arg.text}`)} ${text}`);
  }
  for (const arg of new Set(bad)) {
    walk.seen.changes = true;
    ask(
      walk,
      arg.kind === "free" ? "dynamic" : "unknown",
      `${show(`${called} ... ${arg.text}`)} is not something that is known to be harmless`,
    );
  }
  for (const script of record.language === undefined ? [] : scripts) {
    if (record.language === "sed") judgeSed(script, walk);
    else judgeAwk(script, walk);
  }
  if (
    pattern === 1 &&
    (record.harmless !== true || scripts[0]?.loose === true) &&
    record.language === undefined &&
    scripts.some((arg) => arg.kind === "free" && arg.value.startsWith("$"))
  )
    ask(walk, "dynamic", `could not read what ${show(scripts[0]?.text ?? "")} means to ${show(called)}`);
}

/** `*` may match a file that is named like an option. */
function judgeWildcards(record: Listed, read: OptionsRead, walk: Walk): void {
  if (record.harmless === true || record.ordered === true) return;
  for (const arg of read.operands.slice(0, read.endedAt)) {
    if (arg.glob === 0 && !(record.runs === true && /\.\w+$/.test(arg.value)))
      ask(walk, "dynamic", `${show(arg.text)} may match a file that is named like an option`);
  }
}
