import { existsSync, lstatSync, realpathSync, type Stats } from "node:fs";
import { isAbsolute, normalize, resolve, sep } from "node:path";
import { asDeckhandError, DeckhandError } from "../core/errors.ts";
import type { RunUser } from "./launch.ts";
import { closedTo, runUser } from "./user.ts";

export interface WorkspaceOptions {
  /** Deckhand's state folder. */
  stateDir: string;
  /** DECKHAND_RUN_AS: a user's name, a uid or uid:gid; null for the folder's owner. */
  runAs: string | null;
  /** Other files and folders of ours (the configuration) that must not lie inside. */
  apart?: string[];
  /** Where bwrap, setpriv and the like are looked up. */
  path?: string;
}

export type Workspace = { ok: true; path: string; uid: number; gid: number; user: RunUser } | { ok: false; error: DeckhandError };

/** The system's own: neither they nor anything below them. */
const SYSTEM = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr"];
/** Folders that hold other people's folders: not themselves. */
const SHARED = ["/", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var", "/var/lib", "/var/tmp"];

/** Whether a folder can be a workspace, and whom its commands run as. Never throws. */
export async function checkWorkspace(path: string, options: WorkspaceOptions): Promise<Workspace> {
  try {
    const stat = checkPlace(path, options);
    const user = await runUser(path, stat, options.runAs);
    const closed = await closedTo(user, path, "write", options.path);
    if (closed !== null) throw unusable(path, user, closed, stat.uid);
    return { ok: true, path, uid: user.uid, gid: user.gid, user };
  } catch (thrown) {
    return { ok: false, error: asDeckhandError(thrown) };
  }
}

/** Throws when the folder is not there or not one that may be a workspace. Cheap: asked before every run. */
export function checkPlace(path: string, options: WorkspaceOptions): Stats {
  const refuse = (why: string) => new DeckhandError("WORKSPACE_REFUSED", `${path} (${why})`);
  if (!isAbsolute(path)) throw refuse("not an absolute path");
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new DeckhandError("WORKSPACE_MISSING", path);
  const real = realpathSync(path);
  if (real !== path) throw refuse(real === normalize(path) ? `write it as ${real}` : `it leads to ${real}`);
  if (!stat.isDirectory()) throw refuse("not a folder");
  if (SHARED.includes(path) || SYSTEM.some((folder) => contains(folder, path))) throw refuse("a system folder");
  const state = existsSync(options.stateDir) ? realpathSync(options.stateDir) : resolve(options.stateDir);
  if (contains(path, state) || contains(state, path)) throw refuse("Deckhand's state folder is in the way");
  for (const own of options.apart ?? []) if (contains(path, own)) throw refuse(`it contains ${own}`);
  return stat;
}

/** Whether `path` is `folder` or lies in it. Both absolute and normal. */
export function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function unusable(path: string, user: RunUser, closed: string, owner: number): DeckhandError {
  const own = owner === user.uid ? `\`chmod u+rwx ${path}\`` : `\`chown -R ${user.uid}:${user.gid} ${path}\``;
  const how = closed === path ? own : `${closed} is closed to it: \`chmod o+x ${closed}\``;
  return new DeckhandError("WORKSPACE_UNUSABLE", `${path} (uid ${user.uid}; ${how})`);
}
