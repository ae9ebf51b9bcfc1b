import { createHash } from "node:crypto";
import { chmodSync, chownSync, closeSync, fchownSync, lstatSync, mkdirSync, mkdtempSync, openSync, readdirSync } from "node:fs";
import { renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { DeckhandError, messageOf } from "../core/errors.ts";
import { within } from "../core/gate/paths.ts";
import { HOME } from "./bwrap-args.ts";
import type { RunUser } from "./launch.ts";
import { seccompProgram } from "./seccomp.ts";

/** What one conversation keeps between its commands. */
export interface Folders {
  /** What holds the others, and nothing else. */
  base: string;
  tmp: string;
  home: string;
  sess: string;
}

/** The state folder itself and the folders in it that all conversations share. Throws STATE_UNUSABLE. */
export function prepareState(stateDir: string): void {
  try {
    for (const name of ["c", "cache", "etc", "lock", "net", "run", "spool"]) mkdirSync(join(stateDir, name), { recursive: true });
    // Not ours to close, only to open: it may have been there before us.
    const { mode } = statSync(stateDir);
    if ((mode & 0o111) !== 0o111) chmodSync(stateDir, (mode & 0o7777) | 0o111);
    for (const name of ["c", "lock", "net"]) passThrough(join(stateDir, name));
    for (const name of ["cache", "run", "spool"]) chmodSync(join(stateDir, name), 0o700);
    chmodSync(join(stateDir, "etc"), 0o755);
  } catch (thrown) {
    throw new DeckhandError("STATE_UNUSABLE", messageOf(thrown), { cause: thrown });
  }
}

/** A conversation's folders: its run user's own, in a folder that this user cannot change. */
export function conversationFolders(stateDir: string, conversation: string, user: RunUser): Folders {
  const base = folderOf(stateDir, conversation, user);
  if (!isFolder(base, PASS_THROUGH)) {
    mkdirSync(base, { recursive: true });
    passThrough(base);
  }
  // The janitor goes by the last use.
  const now = new Date();
  utimesSync(base, now, now);
  const own = (name: string) => {
    const path = join(base, name);
    if (isFolder(path, OWN, user.uid)) return path;
    mkdirSync(path, { recursive: true, mode: OWN });
    give(path, user);
    return path;
  };
  return { base, tmp: own("tmp"), home: own("home"), sess: own("sess") };
}

/** Each run user's own: what another one left in there would be closed to this one, or in its way. */
export function folderOf(stateDir: string, conversation: string, user: RunUser): string {
  return join(stateDir, "c", `${digest(conversation)}.${user.uid}.${user.gid}`);
}

/** All folders of a conversation, and whose they are; of every conversation without one. */
export function keptFolders(stateDir: string, conversation?: string): { base: string; user: RunUser }[] {
  const wanted = conversation === undefined ? "" : `${digest(conversation)}.`;
  const drop = process.getuid?.() === 0;
  return readdirSync(join(stateDir, "c"))
    .filter((name) => name.startsWith(wanted))
    .flatMap((name) => {
      const [, uid, gid] = /^[0-9a-f]+\.(\d+)\.(\d+)$/.exec(name) ?? [];
      if (uid === undefined || gid === undefined || uid === "0") return [];
      return [{ base: join(stateDir, "c", name), user: { uid: Number(uid), gid: Number(gid), drop } }];
    });
}

/** A home that nobody has been in, for one run. */
export function freshHome(base: string, user: RunUser): string {
  const path = mkdtempSync(join(base, "home-"));
  give(path, user);
  return path;
}

/** The file for the beginning of a command's output; the same for the same call, so that another worker finds it. */
export function spoolFile(stateDir: string, conversation: string, call: string): string {
  return join(stateDir, "spool", `${digest(`${conversation} ${call}`)}.out`);
}

/** Looked at first: nearly always it is there, and making it again costs four times as much. */
function isFolder(path: string, mode: number, uid?: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && (stat.mode & 0o7777) === mode && (uid === undefined || stat.uid === uid);
}

const PASS_THROUGH = 0o711;
const OWN = 0o700;

function give(path: string, user: RunUser): void {
  chmodSync(path, OWN);
  if (user.drop) chownSync(path, user.uid, user.gid);
}

/** The file whose lock lets one command at a time into a workspace; the same for every worker of this state folder. */
export function lockFile(stateDir: string, workspace: string, user: RunUser): string {
  const path = join(stateDir, "lock", digest(workspace));
  const fd = openSync(path, "a", 0o600);
  if (user.drop) fchownSync(fd, user.uid, user.gid);
  closeSync(fd);
  return path;
}

/** Writes the seccomp program, in one step so that no command ever reads half of it. */
export function seccompFile(stateDir: string): string {
  const path = join(stateDir, "seccomp.bpf");
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, seccompProgram(process.arch));
  renameSync(fresh, path);
  return path;
}

/**
 * A workspace below /tmp or the home is mounted into the conversation's own folder, where earlier commands could
 * have put a link in the way. Throws WORKSPACE_REFUSED then.
 */
export function checkMountPoint(workspace: string, folders: Pick<Folders, "tmp" | "home">): void {
  for (const [mount, folder] of [
    ["/tmp", folders.tmp],
    [HOME, folders.home],
  ] as const) {
    if (!within(workspace, mount)) continue;
    let at = folder;
    for (const part of relative(mount, workspace).split(sep)) {
      at = join(at, part);
      const stat = lstatSync(at, { throwIfNoEntry: false });
      if (stat === undefined) break;
      if (!stat.isDirectory()) throw new DeckhandError("WORKSPACE_REFUSED", `${workspace} (${at} is in its way)`);
    }
  }
}

function passThrough(folder: string): void {
  chmodSync(folder, PASS_THROUGH);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
