import { existsSync, lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, normalize, resolve } from "node:path";
import { asDeckhandError, DeckhandError } from "../core/errors.ts";
import { within } from "../core/gate/paths.ts";
import type { RunUser } from "./launch.ts";
import { closedTo, homes, runUser } from "./user.ts";

export interface WorkspaceOptions {
  /** Deckhand's state folder. */
  stateDir: string;
  /** DECKHAND_RUN_AS: a user's name, a uid or uid:gid; null for the folder's owner. */
  runAs: string | null;
  /** Files and folders of ours (the program, the configuration): neither in a workspace nor around one. */
  apart?: string[];
  /** The folders of all workspaces, this one among them or not: none lies in another. */
  others?: readonly string[];
  /** The list of this machine's accounts; /etc/passwd when it is not said. */
  passwd?: string;
  /** Where bwrap, setpriv and the like are looked up. */
  path?: string;
}

export type Workspace = { ok: true; path: string; uid: number; gid: number; user: RunUser } | { ok: false; error: DeckhandError };

/** The system's own: neither they nor anything below them. */
export const SYSTEM = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr"];
/** Folders that hold other people's folders: not themselves. */
export const SHARED = ["/", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var", "/var/lib", "/var/tmp"];

/** Whether a folder can be a workspace, and whom its commands run as. Never throws. */
export async function checkWorkspace(path: string, options: WorkspaceOptions): Promise<Workspace> {
  try {
    const stat = checkPlace(path, options);
    checkNeighbours(path, options);
    const user = await runUser(path, stat, options.runAs);
    const closed = await closedTo(user, path, "write", options.path);
    if (closed !== null) throw unusable(path, user, closed, stat.uid);
    return { ok: true, path, uid: user.uid, gid: user.gid, user };
  } catch (thrown) {
    return { ok: false, error: asDeckhandError(thrown) };
  }
}

/** Throws when the folder is not there or not one that may be a workspace at all. Cheap: asked before every run. */
export function checkPlace(path: string, { stateDir }: Pick<WorkspaceOptions, "stateDir">): Stats {
  if (!isAbsolute(path)) throw refuse(path, "not an absolute path");
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new DeckhandError("WORKSPACE_MISSING", path);
  const real = realpathSync.native(path);
  if (real !== path) throw refuse(path, real === normalize(path) ? `write it as ${real}` : `it leads to ${real}`);
  if (!stat.isDirectory()) throw refuse(path, "not a folder");
  if (SHARED.includes(path) || SYSTEM.some((folder) => within(path, folder))) throw refuse(path, "a system folder");
  if (holds(path, stateDir) || holds(stateDir, path)) throw refuse(path, "Deckhand's state folder is in the way");
  return stat;
}

function refuse(path: string, why: string): DeckhandError {
  return new DeckhandError("WORKSPACE_REFUSED", `${path} (${why})`);
}

/** Throws when commands in the workspace would reach what is not theirs, or others would reach into it. */
function checkNeighbours(path: string, { apart = [], others = [], passwd }: WorkspaceOptions): void {
  for (const own of apart) {
    if (holds(path, own)) throw refuse(path, `it contains ${own}`);
    if (holds(own, path)) throw refuse(path, `it lies in ${own}, which is Deckhand's own`);
  }
  for (const other of others.filter((each) => each !== path)) {
    const [inside, around] = [holds(other, path), holds(path, other)];
    if (inside || around) throw refuse(path, `it ${inside && around ? "is" : inside ? "lies in" : "contains"} the workspace ${other}`);
  }
  for (const home of homes(passwd)) checkHome(path, home);
}

/**
 * A home holds keys, tokens and what starts at the next login, most of it in hidden folders (~/.ssh, ~/.config/x): neither
 * a home nor anything above it nor one of its hidden folders can be a workspace. An ordinary folder below a home
 * (~/work/api) can, because that is where people keep their repositories.
 */
function checkHome(path: string, { folder, name }: { folder: string; name: string }): void {
  const way = wayTo(path);
  const at = way.findIndex(({ id }) => id === idOf(folder));
  const below = at > 0 ? (way[at - 1]?.path ?? "") : "";
  if (at === 0) throw refuse(path, `it is the home of ${name}; choose a folder below it`);
  if (holds(path, folder)) throw refuse(path, `it contains ${folder}, the home of ${name}`);
  if (basename(below).startsWith(".")) throw refuse(path, `${below} is for the settings and keys of ${name}`);
}

/**
 * Whether `inner` is `outer` or lies in it, by whatever path one comes: links are followed, and a folder that is mounted in
 * two places has one number.
 */
export function holds(outer: string, inner: string): boolean {
  const wanted = idOf(outer);
  return wanted !== null && wayTo(inner).some(({ id }) => id === wanted);
}

function idOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null; // not there, or closed to us
  }
}

/** The folders from a path up to the root, beginning with the first that is there. */
function wayTo(path: string): { path: string; id: string | null }[] {
  let at = resolve(path);
  while (!existsSync(at)) at = dirname(at);
  const way = [];
  for (at = realpathSync.native(at); ; at = dirname(at)) {
    way.push({ path: at, id: idOf(at) });
    if (at === dirname(at)) return way;
  }
}

function unusable(path: string, user: RunUser, closed: string, owner: number): DeckhandError {
  const own = owner === user.uid ? `\`chmod u+rwx ${path}\`` : `\`chown -R ${user.uid}:${user.gid} ${path}\``;
  const how = closed === path ? own : `${closed} is closed to it: \`chmod o+x ${closed}\``;
  return new DeckhandError("WORKSPACE_UNUSABLE", `${path} (uid ${user.uid}; ${how})`);
}
