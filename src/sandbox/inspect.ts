import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { LISTED_PATHS, listed, runsByItself } from "../core/autorun.ts";
import { gitKeyDoes } from "../core/git-keys.ts";
import { visible } from "../core/visible.ts";
import { LIMITS } from "../limits.ts";

const GIVEN = `WHAT='${LISTED_PATHS}' MOST=${LIMITS.inspectThings} PATIENCE=${LIMITS.inspectWork}`;

/**
 * A command that lists what later runs by itself in the folder where it runs, for `readInspection`. It writes nothing
 * and runs nothing of what it finds; it follows links only inside, and must itself be run in the sandbox.
 */
export const INSPECT = `${GIVEN}\n${readFileSync(new URL("inspect.sh", import.meta.url), "utf8")}`;

interface Found {
  /** `closed`: a folder of the run user's own that it has closed to itself. */
  kind: "file" | "folder" | "link" | "closed" | "other";
  /** May be run as a program; for a link, what it leads to may be. */
  program: boolean;
  /** Changes when its content does; for a link also with what it leads to. */
  mark: string;
  /** Where a link leads, as it says itself. */
  target: string;
}

/**
 * What a workspace holds of files that run by themselves. Paths are relative to it. One that is no UTF-8 begins with
 * NUL, so that nothing can take it for a path, and has its bytes as characters.
 */
export interface Inspection {
  /** Not everything was seen, or nothing at all. */
  cut: boolean;
  /** The workspace. */
  root: string;
  found: Map<string, Found>;
  /** Git's folders: `.git`, those of submodules and worktrees, bare repositories. */
  git: Set<string>;
  /** Folders that a configuration names for hooks. */
  hooks: Set<string>;
  /** Configurations and their entries; one that git cannot read is missing. */
  config: Map<string, { key: string; value: string }[]>;
  /** Where each `.git` that is a file leads, as it says itself. */
  leads: Map<string, string>;
  /** Links and the paths inside that they lead to. */
  links: Map<string, string>;
  /** Paths that listed links lead to, and who runs those. */
  led: Map<string, string>;
}

const KINDS: Record<string, Found["kind"]> = { f: "file", d: "folder", l: "link", X: "closed" };

/** Reads what INSPECT has printed. Never throws: what it does not understand is an inspection that was cut. */
export function readInspection(printed: Uint8Array): Inspection {
  const seen: Inspection = {
    ...{ cut: true, root: "", found: new Map(), git: new Set(), hooks: new Set(), config: new Map(), leads: new Map() },
    ...{ links: new Map(), led: new Map() },
  };
  const hashes = new Map<string, string>();
  for (const [type, ...fields] of records(Buffer.from(printed))) {
    if (type?.toString() === "H") for (const line of fields) hashes.set(pathOf(line.subarray(66)), line.toString("latin1", 0, 64));
    else note(seen, type?.toString() ?? "", fields);
  }
  for (const [path, hash] of hashes) update(seen, path, hash);
  for (const [link, real] of seen.links) {
    const to = seen.found.get(real);
    const who = listed(link);
    if (who !== null) seen.led.set(real, who);
    update(seen, link, `${seen.found.get(link)?.target} ${to?.mark}`, to?.program);
  }
  return seen;
}

/** Fields end with NUL, records with an empty field. */
function* records(bytes: Buffer): Generator<Buffer[]> {
  let fields: Buffer[] = [];
  for (let at = 0, end = bytes.indexOf(0); end >= 0; at = end + 1, end = bytes.indexOf(0, at)) {
    if (end > at) fields.push(bytes.subarray(at, end));
    else {
      if (fields.length > 0) yield fields;
      fields = [];
    }
  }
}

function note(seen: Inspection, type: string, [first, second, third, ...rest]: Buffer[]): void {
  if (first === undefined) return;
  const path = pathOf(first);
  if (type === "R") seen.root = path;
  else if (type === "F") seen.git.add(path);
  else if (type === "K") seen.hooks.add(path);
  else if (type === "C")
    seen.config.set(
      path,
      [second, third, ...rest].flatMap((entry) => (entry === undefined ? [] : [setting(entry)])),
    );
  else if (type === "Z") seen.cut = first.toString() !== "whole";
  else if (second === undefined) return;
  else if (type === "G") seen.leads.set(path, second.toString().slice(1).trimEnd());
  else if (type === "L") seen.links.set(path, pathOf(second));
  else if (type === "E") seen.found.set(path, found(second.toString(), third?.toString().slice(1) ?? ""));
}

function found(stat: string, target: string): Found {
  const [type = "", mode = "", , size, changed] = stat.split(" ");
  const kind = KINDS[type] ?? "other";
  const program = kind === "link" || (kind === "file" && (Number.parseInt(mode, 8) & 0o111) !== 0);
  // A folder's own times change with everything in it.
  const mark = kind === "link" ? target : kind === "file" ? `${size} ${changed}` : "";
  return { kind, program, mark, target };
}

/** `key\nvalue`, or a key alone, which counts as true. */
function setting(entry: Buffer): { key: string; value: string } {
  const [key = "", ...lines] = entry.toString().slice(1).split("\n");
  return { key, value: lines.length === 0 ? "true" : lines.join("\n") };
}

function update(seen: Inspection, path: string, mark: string, program?: boolean): void {
  const one = seen.found.get(path);
  if (one !== undefined) seen.found.set(path, { ...one, mark, program: program ?? one.program });
}

function pathOf(bytes: Buffer): string {
  const text = bytes.toString();
  const path = Buffer.from(text).equals(bytes) ? text : `\0${bytes.toString("latin1")}`;
  return path.replace(/^(\0?)\.\//, "$1");
}

// ---- what a path is ----------------------------------------------------------------------------------------------

/** In a git folder: `hooks`, `hooks/pre-commit`, `config`, `info/attributes` and their like. Null for other paths. */
function gitPart(seen: Inspection, path: string): string | null {
  const folder = [dirname(path), dirname(dirname(path))].find((one) => seen.git.has(one));
  const part = folder === undefined || folder === "." ? path : path.slice(folder.length + 1);
  return folder !== undefined && /^(?:hooks(?:\/[^/]+)?|config(?:\.worktree)?|info(?:\/attributes)?|commondir)$/.test(part) ? part : null;
}

function isHook(seen: Inspection, path: string): boolean {
  // Where a configuration names a folder of scripts, only what could be the name of a hook.
  const named = seen.hooks.has(dirname(path)) && /^[a-z0-9-]+$/.test(basename(path));
  return named || (gitPart(seen, path)?.startsWith("hooks/") ?? false);
}

/** Who runs a listed file, or one that a listed link leads to. */
function whoRuns(seen: Inspection, path: string): string | null {
  if (seen.led.size === 0) return listed(path);
  const led = [path, ...ancestors(path)].find((one) => seen.led.has(one));
  return listed(path) ?? (led === undefined ? null : (seen.led.get(led) ?? null));
}

function ancestors(path: string): string[] {
  const all: string[] = [];
  for (let at = dirname(path); at !== "."; at = dirname(at)) all.push(at);
  return all;
}

function byDepth(a: string, b: string): number {
  return a.split("/").length - b.split("/").length || (a < b ? -1 : 1);
}

/** For a sentence: one line, nothing hidden, no password of an address, not long. */
function show(text: string): string {
  const bytes = text.startsWith("\0") ? text.slice(1).replace(/[^ -~]/g, (c) => `\\x${c.charCodeAt(0).toString(16)}`) : text;
  const line = visible(bytes.replace(/\/\/[^/@\s]+@/g, "//...@"))
    .replaceAll("\n", "⟨U+000A⟩")
    .replaceAll("\t", "⟨U+0009⟩");
  return line.length > 100 ? `${line.slice(0, 60)}...${line.slice(-37)}`.toWellFormed() : line;
}

// ---- before a command that nobody approved -----------------------------------------------------------------------

/** No argument of a program can name it. */
const unmountable = (path: string) => path.startsWith("\0");

/**
 * What to mount once more for a command that nobody approved, parents first: `pin` as it is, so that it cannot be moved
 * away, else read-only. No links. What is more than can be mounted is only told afterwards; when it is not known what
 * there is, everything (`.`) is read-only.
 */
export function protectedPaths(seen: Inspection): { path: string; pin: boolean }[] {
  if (seen.cut) return [{ path: ".", pin: false }];
  const kept = new Set(keptPaths(seen));
  const pins = new Set<string>();
  for (const path of kept) {
    for (let at = dirname(path); isOnTheWay(seen, at); at = dirname(at)) pins.add(at);
  }
  return [...[...kept].map((path) => ({ path, pin: false })), ...[...pins].map((path) => ({ path, pin: true }))]
    .filter(({ path, pin }) => !unmountable(path) && !(pin && kept.has(path)) && !ancestors(path).some((one) => kept.has(one)))
    .toSorted((a, b) => byDepth(a.path, b.path));
}

/** Folders that would bring a new beginning if they were moved away: git's, and ones like `.github`. */
function isOnTheWay(seen: Inspection, path: string): boolean {
  return path !== "." && (runsByItself(path) !== null || [path, ...ancestors(path)].some((one) => seen.git.has(one)));
}

function keptPaths(seen: Inspection): string[] {
  const first = new Set([...seen.hooks, ...seen.config.keys()]);
  const then = new Set([...seen.links].flatMap(([link, real]) => (isHook(seen, link) ? [real] : [])));
  for (const [path, { kind }] of seen.found) {
    if (kind === "link") continue;
    const part = gitPart(seen, path);
    if (kind === "closed" || seen.leads.has(path) || (part !== null && part !== "info")) first.add(path);
    else if (whoRuns(seen, path) !== null) then.add(path);
  }
  const all = new Set([...[...first].toSorted(byDepth), ...[...then].toSorted(byDepth)]);
  return [...all].filter((path) => !ancestors(path).some((one) => all.has(one))).slice(0, LIMITS.inspectKept);
}

/**
 * Why a command that nobody approved must not start here, null when it may: git's own files that are links, or whose
 * names cannot be mounted, cannot be kept from it.
 */
export function refusal(seen: Inspection): string | null {
  for (const [path, { kind, target }] of [...seen.found].toSorted(([a], [b]) => byDepth(a, b))) {
    const own = basename(path) === ".git" || gitPart(seen, path)?.startsWith("hooks/") === false;
    if (own && kind === "link") return `${show(path)} is a link to ${show(target)}, so it cannot be kept from the command`;
  }
  const odd = keptPaths(seen).find(unmountable);
  return odd === undefined ? null : `${show(odd)} cannot be kept from the command, because of its name`;
}

// ---- after a command ---------------------------------------------------------------------------------------------

/** What is new or changed of what later runs by itself, one short sentence each; what matters most comes first. */
export function changesThatRun(before: Inspection, after: Inspection): string[] {
  const found = [...after.found.keys()].toSorted(byDepth);
  // In what was not there before, only what runs is told.
  const fresh = new Set([...after.git].filter((folder) => !before.cut && !before.git.has(folder)));
  const old = found.filter((path) => !fresh.has(dirname(path)) && !fresh.has(dirname(dirname(path))));
  const sentences = [
    ...[...fresh].toSorted(byDepth).flatMap((folder) => freshRepository(folder, found, after)),
    ...old.flatMap((path) => hookChange(path, before, after)),
    ...[...after.config.keys()].toSorted(byDepth).flatMap((path) => configChanges(path, before, after)),
    ...found.flatMap((path) => leadChange(path, before, after)),
    ...old.flatMap((path) => fileChange(path, before, after)),
  ];
  const more = sentences.length - LIMITS.inspectTold;
  if (more > 0) sentences.splice(LIMITS.inspectTold, more, `and ${more} more`);
  if (before.cut || after.cut) sentences.push("not everything could be looked through for files that run by themselves");
  return sentences;
}

/** What it is when it runs; null when there is no hook, or one that git ignores. */
function hookMark(seen: Inspection, path: string): string | null {
  const one = seen.found.get(path);
  return one?.program === true && isHook(seen, path) ? one.mark : null;
}

function freshRepository(folder: string, found: string[], after: Inspection): string[] {
  const hooks = found.filter((path) => dirname(dirname(path)) === folder && hookMark(after, path) !== null);
  return hooks.length === 0 ? [] : [`new ${folder === ".git" ? "" : "nested "}repository with hooks: ${show(folder)}`];
}

function hookChange(path: string, before: Inspection, after: Inspection): string[] {
  const [was, is] = [hookMark(before, path), hookMark(after, path)];
  if (is === null || is === was || (was === null && before.cut)) return [];
  return [`${was === null ? "new" : "changed"} hook: ${show(path)}`];
}

function configChanges(path: string, before: Inspection, after: Inspection): string[] {
  const was = before.config.get(path);
  if (was === undefined && before.cut) return [];
  const known = new Set(was?.map(({ key, value }) => `${key}\n${value}`));
  return (after.config.get(path) ?? []).flatMap(({ key, value }) => {
    const does = known.has(`${key}\n${value}`) ? null : gitKeyDoes(key, value);
    // A submodule's folder names its own place in the work tree.
    const own = key === "core.worktree" && isInside(after, dirname(path), value);
    return does === null || own ? [] : [`${show(path)} ${does}: ${show(`${key}=${value}`)}`];
  });
}

function leadChange(path: string, before: Inspection, after: Inspection): string[] {
  const [was, is] = [before.leads.get(path), after.leads.get(path)];
  if (is === undefined || is === was || (was === undefined && before.cut)) return [];
  const to = is.replace(/^gitdir: /, "");
  return isInside(after, dirname(path), to) ? [] : [`${show(path)} now leads to ${show(to)}`];
}

function isInside(seen: Inspection, from: string, to: string): boolean {
  return `${to.startsWith("/") ? join(to) : join(seen.root, from, to)}/`.startsWith(`${seen.root}/`);
}

function fileChange(path: string, before: Inspection, after: Inspection): string[] {
  const [was, is] = [before.found.get(path), after.found.get(path)];
  if (is === undefined || is.kind === "folder" || (was === undefined && before.cut)) return [];
  if (is.kind === "closed") return was?.kind === "closed" ? [] : [`new folder that cannot be looked into: ${show(path)}`];
  if (isHook(after, path) || after.config.has(path) || after.leads.has(path)) return [];
  const git = basename(path) === ".git" || gitPart(after, path) !== null;
  const who = git ? "git reads from it what to start" : whoRuns(after, path);
  if (who === null || (was?.kind === is.kind && was.mark === is.mark)) return [];
  // What a listed link leads to is told under its own name.
  if (is.kind === "link" && was?.target === is.target && !git) return [];
  if (is.kind === "link" && was?.target !== is.target) return [`${show(path)} is now a link to ${show(is.target)} (${who})`];
  return [`${show(path)} ${was?.kind === is.kind ? "changed" : "is new"} (${who})`];
}
