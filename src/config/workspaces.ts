import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { messageOf } from "../core/errors.ts";
import { within } from "../core/gate/paths.ts";
import type { Limits, Prices } from "../core/spending.ts";
import type { StandingRule } from "../core/rules.ts";
import { BUDGETS, limitsOf, PRICES, pricesOf } from "./budgets.ts";
import { CREDENTIALS, type Credential, HOSTS, PATHS, readCredentials, type Variables } from "./extras.ts";
import { MODEL_NAME, MODELS, type Models, readModels } from "./models.ts";
import { readRules, RULES } from "./rules.ts";
import { CHANNEL, PERSON, SAY, WORKSPACE, workspacePath } from "./values.ts";

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

const PEOPLE = z.array(z.string().regex(PERSON, SAY.person)).optional();

/** The form of `deckhand.yaml`. */
const FILE = z.strictObject({
  workspaces: z
    .record(
      z.string().regex(WORKSPACE, SAY.workspace),
      z.strictObject({
        path: z.string().refine((text) => workspacePath(text) !== null, SAY.path),
        channels: z.array(z.string().regex(CHANNEL, SAY.channel)).optional(),
        users: PEOPLE,
        approvers: PEOPLE,
        read: PATHS.optional(),
        network: HOSTS.optional(),
        credentials: CREDENTIALS.optional(),
        model: MODEL_NAME.optional(),
      }),
    )
    .optional(),
  channels: z.record(z.string().regex(CHANNEL, SAY.channel), z.strictObject({ model: MODEL_NAME })).optional(),
  models: MODELS.optional(),
  fallback: MODEL_NAME.optional(),
  rules: RULES.optional(),
  limits: BUDGETS.optional(),
  prices: PRICES.optional(),
});

/** What `deckhand.yaml` says. Its rules are tried where they hold, once all workspaces are known. */
export interface Structure {
  workspaces: Workspace[];
  rules(all: Workspace[]): StandingRule[];
  limits: Limits;
  prices: Prices;
  models: Omit<Models, "open">;
}

const NO_MODELS = { all: [], workspaces: {}, channels: {}, fallback: null };
export const NO_FILE: Structure = { workspaces: [], rules: () => [], limits: limitsOf(), prices: pricesOf(), models: NO_MODELS };

/** `deckhand.yaml`, with the secrets that it names; what is wrong with it goes to `problems`, with line and column. */
export function readYaml(file: string, text: string, variables: Variables, problems: string[]): Structure {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const checked = document.errors.length > 0 ? null : FILE.safeParse(document.toJS() ?? {});
  problems.push(...document.errors.map((error) => `${file}: ${messageOf(error)}`));
  const report = (path: readonly PropertyKey[], problem: string): void => {
    const { line, col } = lines.linePos(placeOf(document, path));
    problems.push(`${file}: ${[...path, problem].join(": ")} (line ${line}, column ${col})`);
  };
  for (const issue of checked?.error?.issues ?? []) {
    const why = issue.code === "invalid_key" ? (issue.issues[0] ?? issue) : issue;
    report(issue.path, why.message);
  }
  const workspaces = Object.entries(checked?.data?.workspaces ?? {}).map(([name, w]) => ({
    name,
    path: workspacePath(w.path) as string,
    channels: w.channels ?? [],
    users: w.users ?? null,
    approvers: w.approvers ?? null,
    read: w.read ?? [],
    network: w.network ?? [],
    credentials: readCredentials(w.credentials ?? {}, variables, (problem) => report(["workspaces", name, "credentials"], problem)),
  }));
  return {
    workspaces,
    rules: (all) => readRules(checked?.data?.rules ?? [], all, report),
    limits: limitsOf(checked?.data?.limits),
    prices: pricesOf(checked?.data?.prices),
    models: {
      all: readModels(checked?.data?.models ?? {}, variables, (name, problem) => report(["models", name], problem)),
      workspaces: modelsIn(checked?.data?.workspaces),
      channels: modelsIn(checked?.data?.channels),
      fallback: checked?.data?.fallback ?? null,
    },
  };
}

function modelsIn(places: Record<string, { model?: string | undefined }> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(places).flatMap(([name, { model }]) => (model === undefined ? [] : [[name, model]])));
}

/** Where the innermost part of a path begins that is there; what is missing stands in what should have it. */
function placeOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

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
