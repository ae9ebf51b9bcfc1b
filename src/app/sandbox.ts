import { accessSync, constants, mkdirSync } from "node:fs";
import { delimiter } from "node:path";
import type { Config } from "../config.ts";
import { DeckhandError, NotStarted, messageOf } from "../core/errors.ts";
import { within } from "../core/gate/paths.ts";
import type { Hands } from "../core/hands.ts";
import type { Trace } from "../core/ports.ts";
import { AGENTS, type Sandbox } from "../core/sandbox.ts";
import { LIMITS } from "../limits.ts";
import { realpathOf } from "../system.ts";

/** The measured sandbox. It takes longest of all that a start needs, so this imports little and is begun first. */

/** Said in every thread and terminal where it is so. */
export const NO_SANDBOX = "Commands here run WITHOUT a sandbox (DECKHAND_SANDBOX=none).";

export interface OpenSandbox {
  sandbox: Sandbox;
  workspaces: Hands["workspaces"];
}

/** Checks each workspace and measures the sandbox in it; `meanwhile` is called when that only has to be waited for. Throws NotStarted: without both, nothing may run. */
export async function openSandbox(
  config: Config,
  list: { name: string; path: string }[],
  trace?: Trace,
  meanwhile?: () => void,
): Promise<OpenSandbox> {
  // What commands can write must not be what starts them.
  const inside = (folder: string): boolean => [...list, ...config.workspaces].some((w) => within(realpathOf(folder) ?? folder, w.path));
  const path = config.path.filter((folder) => !inside(folder)).join(delimiter);
  const { stateDir, runAs, secrets, apart } = config;
  const others = [...list, ...config.workspaces].map((workspace) => workspace.path);
  const extras = new Map(config.workspaces.map((workspace) => [workspace.path, workspace]));
  const options = {
    ...{ stateDir, runAs, secrets, apart, others, extras, floodBytes: config.floodBytes, quietMs: config.lockMs },
    ...(path ? { path } : {}),
    ...(trace ? { warn: trace.warn } : {}),
  };
  const sandbox =
    config.sandbox === "none"
      ? (await import("../sandbox/none.ts")).noneSandbox(options)
      : (await import("../sandbox/bwrap.ts")).bwrapSandbox(options);
  const workspaces: OpenSandbox["workspaces"] = new Map();
  const problems: string[] = makeState(config.stateDir);
  for (const { name, path: folder } of problems.length > 0 ? [] : list) {
    const report = await sandbox.selfTest(folder, meanwhile);
    const credentials = Object.entries(extras.get(folder)?.credentials ?? {}).flatMap(([key, { host }]) =>
      host ? [{ name: key, host }] : [],
    );
    if (report.ok) workspaces.set(name, { path: folder, badge: report.badge, credentials });
    else problems.push(...report.problems);
    // Read ahead, on the side: the first request of a conversation does not wait for it.
    if (report.ok) void sandbox.notes(folder, AGENTS);
  }
  if (problems.length === 0) return { sandbox, workspaces };
  await sandbox.close();
  throw new NotStarted([...new Set(problems)]);
}

/** Measures again what may have changed since: where a wall is missing now, nothing runs until it stands again. */
export async function measureAgain({ sandbox, workspaces }: OpenSandbox, trace: Trace): Promise<void> {
  for (const [name, place] of workspaces) {
    const { ok, badge, problems } = await sandbox.selfTest(place.path);
    if (ok) place.badge = badge;
    if (ok) delete place.closed;
    else place.closed = problems.join(" ");
    if (!ok) trace.error("sandbox-failed", { workspace: name, problems });
  }
  await sandbox.tidy(LIMITS.retention);
}

function makeState(folder: string): string[] {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return [];
  } catch (thrown) {
    return [new DeckhandError("STATE_UNUSABLE", messageOf(thrown)).line()];
  }
}
