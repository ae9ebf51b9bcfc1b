import type { Person } from "./entry.ts";

/** A workspace as access sees it. `users` and `approvers` null: the general lists hold. */
export interface AccessWorkspace {
  name: string;
  /** Channel keys; empty: see `workspacesOf`. */
  channels: string[];
  users: string[] | null;
  approvers: string[] | null;
}

/** Who may do what, where. Nobody may do anything that is not listed. */
export interface Access {
  users: string[];
  approvers: string[];
  workspaces: AccessWorkspace[];
  /** Names of the models that people may choose; none when left out. */
  models?: string[];
}

/** `slack:U1` names one person, `discord:role:7` a role, `slack:*` every full member of the platform. */
export function isListed(list: string[], person: Person): boolean {
  if (person.kind === "bot") return false;
  if (list.includes(person.key)) return true;
  if (person.kind !== "member") return false;
  const platform = person.key.split(":")[0] as string;
  return list.includes(`${platform}:*`) || person.roles.some((role) => list.includes(role));
}

export function mayAsk(access: Access, person: Person, workspace: string): boolean {
  return isListed(find(access, workspace)?.users ?? access.users, person);
}

/** Both the list that the card named and today's list must hold the person. */
export function mayPress(access: Access, person: Person, workspace: string, listedOnCard: string[]): boolean {
  return isListed(listedOnCard, person) && isListed(approversOf(access, workspace), person);
}

export function approversOf(access: Access, workspace: string): string[] {
  return find(access, workspace)?.approvers ?? access.approvers;
}

/** Names of the workspaces of a channel, its default first. A single workspace without channels serves all. */
export function workspacesOf(access: Access, channel: string): string[] {
  const [only] = access.workspaces;
  if (access.workspaces.length === 1 && only && only.channels.length === 0) return [only.name];
  return access.workspaces.filter((w) => w.channels.includes(channel)).map((w) => w.name);
}

export type Picked = { workspace: string; text: string } | { problem: string };

/**
 * `in NAME` or `in NAME:` at the start of a message picks a workspace among the channel's; the rest are the
 * words. A word that is no workspace at all is prose ("in short, ..."), unless a colon says that it is meant.
 */
export function pickWorkspace(access: Access, channel: string, text: string): Picked {
  const here = workspacesOf(access, channel);
  const match = /^\s*in\s+([a-z0-9-]+)(\s*[:,]|\s)\s*(?=\S)/i.exec(text);
  const name = match?.[1]?.toLowerCase();
  const known = name !== undefined && access.workspaces.some((w) => w.name === name);
  if (match && name && (known || match[2]?.trim() === ":")) {
    if (here.includes(name)) return { workspace: name, text: text.slice(match[0].length) };
    return { problem: `There is no workspace "${name}" for this channel.${here.length ? ` Here you can use: ${here.join(", ")}.` : ""}` };
  }
  const [first] = here;
  if (!first) return { problem: "No workspace is set up for this channel. Whoever runs Deckhand can add one in DECKHAND_CHANNELS." };
  return { workspace: first, text };
}

export type Chosen = { use?: string; text: string } | { problem: string };

/**
 * `use MODEL` as a whole message or at its beginning chooses a model; the rest are the words. A word that is no model is
 * prose ("use tabs, not spaces"), unless it stands alone or a colon says that it is meant.
 */
export function pickModel({ models = [] }: Access, text: string): Chosen {
  const match = /^\s*use\s+(\S+)([\s\S]*)$/i.exec(text);
  if (models.length < 2 || !match) return { text };
  const [, word = "", rest = ""] = match;
  const name = word.replace(/[:,]$/, "");
  const use = [word, name].flatMap((each) => models.find((model) => model.toLowerCase() === each.toLowerCase()) ?? [])[0];
  if (use !== undefined) return { use, text: rest.trim() };
  if (rest.trim() !== "" && !word.endsWith(":")) return { text };
  return { problem: `There is no model "${name}" to choose here. You can use: ${models.join(", ")}.` };
}

function find(access: Access, workspace: string): AccessWorkspace | undefined {
  return access.workspaces.find((w) => w.name === workspace);
}
