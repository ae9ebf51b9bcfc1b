import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { messageOf } from "../core/errors.ts";
import { BUDGETS, limitsOf, PRICES, pricesOf } from "./budgets.ts";
import { CREDENTIALS, HOSTS, PATHS, readCredentials, type Variables } from "./extras.ts";
import { MODEL_NAME, MODELS, readModels } from "./named-models.ts";
import { readRules, RULES } from "./rules.ts";
import type { Structure } from "./structure.ts";
import { CHANNEL, PERSON, SAY, WORKSPACE, workspacePath } from "./values.ts";

/** The file `deckhand.yaml`. Loaded only where there is one: its parsers take a part of the start. */

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
