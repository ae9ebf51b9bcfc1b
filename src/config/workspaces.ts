import { within } from "../core/gate/paths.ts";
import type { Credential } from "./extras.ts";

/** The workspaces of all settings together. */

export interface Workspace {
  name: string;
  /** Absolute. */
  path: string;
  /** Channel keys such as `slack:C1`. A single workspace without channels serves all of them. */
  channels: string[];
  /** Null: the general list holds. */
  users: string[] | null;
  approvers: string[] | null;
  /** Absolute paths that every command may read, such as a toolchain. */
  read: string[];
  /** Where every command may connect without asking. */
  network: { host: string; port: number }[];
  /** By name: what an approved command may get. */
  credentials: Record<string, Credential>;
}

/** What a workspace is that only has a name and a path. */
const BARE = { channels: [], users: null, approvers: null, read: [], network: [], credentials: {} };

interface Given {
  /** From DECKHAND_WORKSPACES. */
  short: { name: string; path: string }[];
  /** From `deckhand.yaml`. */
  long: Workspace[];
  /** From DECKHAND_CHANNELS. */
  channels: { channel: string; workspace: string }[];
  configFile: string;
}

/** All workspaces, so ordered that a channel's default comes before its others. */
export function joinWorkspaces(given: Given, problems: string[]): Workspace[] {
  const all: Workspace[] = [...given.short.map((w) => ({ ...w, ...structuredClone(BARE) })), ...given.long];
  const byName = new Map<string, Workspace>();
  for (const workspace of all) {
    if (byName.has(workspace.name))
      problems.push(`DECKHAND_WORKSPACES: "${workspace.name}" is there twice; name it once, here or in ${given.configFile}`);
    byName.set(workspace.name, workspace);
  }
  for (const { channel, workspace } of given.channels) {
    const found = byName.get(workspace);
    if (!found) problems.push(`DECKHAND_CHANNELS: ${channel}=${workspace}: there is no workspace "${workspace}"; ${known(all)}`);
    else if (!found.channels.includes(channel)) found.channels.push(channel);
  }
  problems.push(...overlaps(all, given.configFile));
  return ordered(all, given.channels, problems);
}

function known(all: Workspace[]): string {
  return all.length > 0 ? `there are ${all.map((w) => w.name).join(", ")}` : "set DECKHAND_WORKSPACES=name=/path";
}

/** Two workspaces that share files would not see each other's commands; and commands must not reach our own settings. */
function overlaps(all: Workspace[], configFile: string): string[] {
  const problems: string[] = [];
  for (const [place, inner] of all.entries()) {
    const outer = all.find((w, at) => within(inner.path, w.path) && (w.path !== inner.path || at < place));
    if (outer) problems.push(`DECKHAND_WORKSPACES: "${inner.name}" lies inside "${outer.name}"; give each workspace a folder of its own`);
    if (within(configFile, inner.path)) {
      problems.push(
        `DECKHAND_CONFIG: ${configFile} lies inside the workspace "${inner.name}", where commands could change it; move one of them`,
      );
    }
  }
  return problems;
}

function ordered(all: Workspace[], channels: Given["channels"], problems: string[]): Workspace[] {
  const names = channels.map((c) => c.workspace);
  const place = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  for (const [at, { channel, workspace }] of channels.entries()) {
    const after = channels.slice(at + 1).find((c) => c.channel === channel && place(c.workspace) < place(workspace));
    if (after) {
      problems.push(
        `DECKHAND_CHANNELS: ${channel} names ${workspace} before ${after.workspace}, another channel the other way round; keep one order`,
      );
    }
  }
  return all.toSorted((a, b) => place(a.name) - place(b.name));
}
