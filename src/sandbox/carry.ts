import { Buffer } from "node:buffer";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { Carried } from "../core/sandbox.ts";
import { LIMITS } from "../limits.ts";
import { keepable, readExports } from "./variables.ts";

/** Where commands see the folder that they leave their state in. */
export const SESS = "/run/sess";

/** The supervisor's lines for a command `$1` whose state carries over; `$2` is what `carrying` gives. */
export const RUN_CARRYING = `export BASH_ENV=/dev/fd/3; exec /bin/bash --norc --noprofile -c -- "$1" bash 2>&1 3<<carried
$2
carried
`;

/**
 * What a command leaves stands in records, two files of each kind. One of the two is whole at every moment: a command
 * writes into the other one. A record is its round, a NUL, what it says, a NUL, `=` and the round again, a NUL; what
 * follows is older. Rounds go 0, 1, 2, 0: each knows its predecessor, and no half-written record ends in its own round.
 */
type Kind = "cwd" | "env";

/** Why a file's record does not count: it is no file, or not whole, or more than may be kept. */
type Flaw = "odd" | "broken" | "large";

const ROUNDS = 3;
/** The ends of a record: two rounds, their NULs and the sign. */
const FRAME = 6;
const SIZES: Record<Kind, number> = { cwd: LIMITS.carriedFolder, env: LIMITS.carriedBytes };

/**
 * The script that a command's bash reads before the command, as BASH_ENV: nothing of the command itself is changed. At
 * its end it writes where it is and, with `variables`, what it exports. `sess`: the folder that both go to, as we see it.
 */
export function carrying(sess: string, variables: boolean): string {
  const lines = [
    // Alone in their line: with `set -v` bash prints each line of a trap as it comes to it. The backslash is for aliases.
    String.raw`{ \builtin set +evx; \builtin trap - DEBUG ERR; \builtin shopt -u expand_aliases; } >/dev/null 2>&1`,
    // Without the trap a `ulimit -f` of the command's would end bash here, and change the command's exit code.
    `{ builtin set +u; builtin trap "" XFSZ; builtin umask 077`,
    record(sess, "cwd", String.raw`{ builtin pwd -P || builtin printf "%s\n" "$PWD"; }`),
    ...(variables ? [record(sess, "env", "builtin export -p")] : []),
    "} >/dev/null 2>&1",
  ];
  // The last line sets $_ to what it is without all this.
  return ["exec 3<&-", "unset BASH_ENV", `trap '${lines.join("\n")}' EXIT`, ": /bin/bash"].join("\n");
}

/** The lines that write one record, over the older of the two and without cutting it first, which costs more than all else. */
function record(sess: string, kind: Kind, words: string): string {
  const { file, round } = latest(sess, kind).next;
  const path = join(SESS, file);
  // An earlier command may have put a link here, to what only this one may write, or a FIFO, which would hold it up.
  const unfit = `-L ${path} || -e ${path} && ! -f ${path}`;
  return `[[ ${unfit} ]] || { builtin printf "${round}\\0" && ${words} && builtin printf "\\0=${round}\\0"; } 1<>${path}`;
}

/**
 * What the conversation's commands left in `sess` for the next one. Whatever stands there was written by them: nothing
 * of it is believed. `given`: the variables that the sandbox sets itself, which are no news. Never throws.
 */
export function readCarried(sess: string, workspace: string, given: Readonly<Record<string, string>>): Carried {
  const place = latest(sess, "cwd");
  const exported = latest(sess, "env");
  const { cwd, note } = place.body === null ? { cwd: workspace, note: null } : folder(place.body, workspace);
  const { env, notes } = keepable(readExports(exported.body ?? "") ?? new Map(), given);
  const flaws = [
    ...(place.flaw === null ? [] : ["The folder that the last command ended in could not be read; it counts as not changed."]),
    ...(exported.flaw === null ? [] : [`${UNREAD[exported.flaw]}; the variables are those from before it.`]),
  ];
  return { cwd, env, notes: [...flaws, ...(note === null ? [] : [note]), ...notes] };
}

const UNREAD: Record<Flaw, string> = {
  odd: "What the last command exported could not be read",
  broken: "What the last command exported could not be read",
  large: `What the last command exported is too much to keep (over ${LIMITS.carriedVariables} variables or ${LIMITS.carriedBytes} bytes)`,
};

interface Latest {
  /** The newest whole record's words, one character for each byte. */
  body: string | null;
  /** Why there is something newer that does not count. */
  flaw: Flaw | null;
  /** What the next command writes. */
  next: { file: string; round: number };
}

function latest(sess: string, kind: Kind): Latest {
  const files = [`${kind}-0`, `${kind}-1`].map((file) => ({ file, ...readRecord(join(sess, file), kind) }));
  const whole = files.flatMap(({ file, record }) => (record === null ? [] : [{ file, ...record }]));
  const newest = whole.find((one) => whole.every((other) => other === one || follows(other.round) === one.round)) ?? whole[0];
  const free = files.find(({ file, flaw }) => file !== newest?.file && flaw !== "odd")?.file ?? newest?.file ?? `${kind}-0`;
  return {
    body: newest?.body ?? null,
    flaw: files.find(({ flaw }) => flaw !== null)?.flaw ?? null,
    next: { file: free, round: follows(newest?.round ?? 0) },
  };
}

function follows(round: number): number {
  return (round + 1) % ROUNDS;
}

function readRecord(path: string, kind: Kind): { record: { round: number; body: string } | null; flaw: Flaw | null } {
  const bytes = readStart(path, SIZES[kind] + FRAME);
  if (bytes === null || bytes === "odd") return { record: null, flaw: bytes };
  const [round = "", body = "", mark] = bytes.toString("latin1").split("\0", 3);
  if (/^[012]$/.test(round) && mark === `=${round}`) {
    const count = kind === "env" ? readExports(body)?.size : 0;
    if (count !== undefined && count <= LIMITS.carriedVariables) return { record: { round: Number(round), body }, flaw: null };
    return { record: null, flaw: count === undefined ? "broken" : "large" };
  }
  return { record: null, flaw: bytes.length === SIZES[kind] + FRAME ? "large" : "broken" };
}

/** The first bytes of a file; null when it is not there. A link, a FIFO, a folder: `odd`, and nothing is waited for. */
function readStart(path: string, most: number): Buffer | null | "odd" {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ENOENT" ? null : "odd";
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return "odd";
    const bytes = Buffer.alloc(Math.min(stat.size, most));
    return bytes.subarray(0, readSync(fd, bytes));
  } catch {
    return "odd"; // A broken disk: what it holds is as good as not there.
  } finally {
    closeSync(fd);
  }
}

/** Where the next command starts: in the folder that the last one ended in, if that is one of the workspace's own. */
function folder(body: string, workspace: string): { cwd: string; note: string | null } {
  const back = (what: string) => ({ cwd: workspace, note: `The folder that you were in ${what}; commands start in the workspace again.` });
  const left = readable(body);
  if (left === null) return back("has a name that cannot be kept");
  if (left === workspace) return { cwd: workspace, note: null };
  const inside = short(relative(workspace, left));
  if (!isAbsolute(left) || /^\.\.(\/|$)/.test(inside)) return back(`(${short(left)}) is not in the workspace`);
  try {
    if (realpathSync(left) !== left) return back(`(${inside}) has become a link`);
    return lstatSync(left).isDirectory() ? { cwd: left, note: null } : back(`(${inside}) is no folder any more`);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    return back(`(${inside}) ${code === "ENOENT" || code === "ENOTDIR" ? "is gone" : "cannot be reached"}`);
  }
}

/** A path as text; null for one that cannot be shown as it is: no UTF-8, or with signs that are not seen. */
function readable(body: string): string | null {
  const path = Buffer.from(body.replace(/\n$/, ""), "latin1");
  const text = path.toString("utf8");
  return path.length < LIMITS.carriedFolder && path.equals(Buffer.from(text)) && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? text : null;
}

function short(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}
