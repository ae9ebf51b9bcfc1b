import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, type Stats } from "node:fs";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { DeckhandError } from "../core/errors.ts";
import { type RunUser, SYSTEM_PATH } from "./launch.ts";

const execute = promisify(execFile);

/** With nothing of our environment: it holds secrets, and the program may be another user's. */
async function exec(file: string, args: string[], path = SYSTEM_PATH): Promise<string> {
  const { stdout } = await execute(file, args, { cwd: "/", env: { PATH: path } });
  return stdout;
}

/**
 * Whom commands run as in a folder: `runAs` (name, uid or uid:gid), else the folder's owner when we are root, else
 * ourselves. Throws RUN_AS when that would be root, CONFIG when `runAs` names nobody or cannot be followed.
 */
export async function runUser(folder: string, stat: Stats, runAs: string | null): Promise<RunUser> {
  const own = process.getuid?.() ?? 0;
  if (own !== 0) {
    const self = { uid: own, gid: process.getgid?.() ?? own, drop: false };
    if (runAs !== null && (await named(runAs)).uid !== own) {
      throw new DeckhandError("CONFIG", `DECKHAND_RUN_AS=${runAs} needs a Deckhand that root started`);
    }
    return self;
  }
  const user = runAs === null ? await owner(stat) : await named(runAs);
  if (user.uid !== 0) return { ...user, drop: true };
  if (runAs !== null) throw new DeckhandError("RUN_AS", `DECKHAND_RUN_AS=${runAs} is root`);
  const to = someUser();
  throw new DeckhandError("RUN_AS", `the workspace ${folder} belongs to root; \`chown -R ${to} ${folder}\` mends it`);
}

async function owner(stat: Stats): Promise<{ uid: number; gid: number }> {
  const known = await lookUp(String(stat.uid));
  return { uid: stat.uid, gid: notRoot(known?.gid, stat.gid, stat.uid) };
}

async function named(runAs: string): Promise<{ uid: number; gid: number }> {
  const [, user, group] = /^([^:]+)(?::(\d+))?$/.exec(runAs) ?? [];
  if (user === undefined) throw new DeckhandError("CONFIG", `DECKHAND_RUN_AS=${runAs} is not a user`);
  const known = await lookUp(user);
  const uid = known?.uid ?? (/^\d+$/.test(user) ? Number(user) : undefined);
  if (uid === undefined) throw new DeckhandError("CONFIG", `DECKHAND_RUN_AS=${runAs}: there is no such user`);
  return { uid, gid: notRoot(group === undefined ? known?.gid : Number(group), uid) };
}

/** The first group that is not root's. */
function notRoot(...groups: (number | undefined)[]): number {
  return groups.find((group) => group !== undefined && group !== 0) ?? 0;
}

/** Asks the system, so that accounts of a directory service count too. Null when there is no such user. */
async function lookUp(user: string): Promise<{ uid: number; gid: number } | null> {
  try {
    const found = /^uid=(\d+)\S* gid=(\d+)/.exec(await exec("id", ["--", user]));
    return found === null ? null : { uid: Number(found[1]), gid: Number(found[2]) };
  } catch (thrown) {
    if (typeof (thrown as { code?: unknown }).code === "number") return null;
    throw thrown;
  }
}

/** A likely owner for the advice: the first ordinary account of this machine. */
function someUser(): string {
  return accounts().find(({ uid }) => uid >= 1000 && uid < 60_000)?.name ?? "1000:1000";
}

interface Account {
  name: string;
  uid: number;
  /** Absolute. */
  home: string;
}

function accounts(file = "/etc/passwd"): Account[] {
  const lines = (existsSync(file) ? readFileSync(file, "utf8") : "").matchAll(/^([^:\n]+):[^:\n]*:(\d+):[^:\n]*:[^:\n]*:(\/[^:\n]*)/gm);
  return [...lines].map(([, name = "", uid, home = ""]) => ({ name, uid: Number(uid), home }));
}

/** The homes of people: of root, of every ordinary account of this machine, and our own. */
export function homes(passwd?: string): { folder: string; name: string }[] {
  const own = process.getuid?.() ?? 0;
  const people = accounts(passwd).filter(({ uid }) => uid === 0 || uid >= 1000 || uid === own);
  if (!people.some(({ uid }) => uid === own)) people.push(...ourselves());
  // Accounts that nobody logs in to are often at home in the root.
  return people.filter(({ home }) => home !== "/").map(({ name, home }) => ({ folder: home, name }));
}

/** Of a directory service, perhaps. */
function ourselves(): Account[] {
  try {
    const { username, uid, homedir } = userInfo();
    return homedir.startsWith("/") ? [{ name: username, uid, home: homedir }] : [];
  } catch {
    return []; // a uid without an account has no home
  }
}

/**
 * Tried as that user: the first folder on the way that it cannot pass, or the path itself when it cannot do there
 * what it needs; null when all is well. Throws SANDBOX_TOOL without setpriv.
 */
export async function closedTo(user: RunUser, path: string, need: "write" | "pass", search?: string): Promise<string | null> {
  const parents: string[] = [];
  for (let at = dirname(path); parents[0] !== at; at = dirname(at)) parents.unshift(at);
  if (!user.drop) return closedToUs(path, parents, need);
  const use = need === "write" ? `[ -r "$p" ] && [ -w "$p" ]` : ":";
  const script = `for p; do [ -x "$p" ] || { printf %s "$p"; exit; }; done; ${use} || printf %s "$p"`;
  const become = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  try {
    const closed = await exec("setpriv", [...become, "/bin/sh", "-c", script, "sh", ...parents, path], search);
    return closed === "" ? null : closed;
  } catch (thrown) {
    throw new DeckhandError("SANDBOX_TOOL", "setpriv", { cause: thrown });
  }
}

function closedToUs(path: string, parents: string[], need: "write" | "pass"): string | null {
  const closed = (at: string, mode: number) => {
    try {
      accessSync(at, mode);
      return false;
    } catch {
      // Whatever the reason, we cannot use it; the caller names the folder.
      return true;
    }
  };
  const { R_OK, W_OK, X_OK } = constants;
  return parents.find((at) => closed(at, X_OK)) ?? (closed(path, need === "write" ? R_OK | W_OK | X_OK : X_OK) ? path : null);
}
