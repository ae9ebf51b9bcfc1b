import { randomUUID } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { DeckhandError, messageOf, NotStarted } from "../core/errors.ts";
import type { Trace } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { connect, script } from "./connect.ts";
import { KEYS } from "./keys.ts";
import { announce, type Presence } from "./presence.ts";

/** Who has a workspace. */
export interface Claim {
  /** The id of the host; see `hostId`. */
  host: string;
  /** The name of its machine, for people. */
  name: string;
  /** Milliseconds since 1970. */
  since: number;
}

export interface Claims {
  /**
   * Does something in a workspace while it is ours. The signal aborts with `given`, and when the claim is no longer
   * sure, early enough to end before another host can have it. Rejects with WORKSPACE_CLAIMED when it is not ours, with
   * REDIS_DOWN when that cannot be known.
   */
  during(workspace: string, given: AbortSignal, act: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Says from now on, until `close`, that this process serves those that are ours. Rejects with REDIS_DOWN. */
  announce(): Promise<void>;
  /** Renews nothing any more. The claims stay for the other workers of this host, or lapse. */
  close(): Promise<void>;
}

interface ClaimOptions {
  url: string;
  trace: Trace;
  /** See `hostId`. */
  host: string;
  workspaces: string[];
  /** Hears once of a workspace that another host has taken; it is not asked for again. */
  lost: (workspace: string) => void;
  /** How long a claim lasts without a worker. */
  ttlMs?: number;
  /** How long an announcement lasts. */
  presenceMs?: number;
}

/**
 * Claims workspaces for this host and renews that until `close`. Throws NotStarted when another host has one of them, and
 * then claims none; REDIS_DOWN when it cannot be known.
 */
export async function claimWorkspaces(options: ClaimOptions): Promise<Claims> {
  const { url, trace, host, workspaces, ttlMs = LIMITS.claim } = options;
  const connection = connect(url, trace, "claim");
  const claim = script(connection, "claim.lua");

  /** The workspaces that others have. */
  async function ask(names: string[]): Promise<{ workspace: string; by: Claim }[]> {
    if (names.length === 0) return [];
    const taken = await claim(names.map(KEYS.host), [host, hostname(), Date.now(), ttlMs]);
    return (taken as [number, string, string, string][]).map(([at, ...by]) => ({ workspace: names[at - 1] as string, by: claimOf(by) }));
  }

  const asked = performance.now();
  try {
    const taken = await ask(workspaces);
    if (taken.length > 0) throw new NotStarted(taken.map(({ workspace, by }) => claimed(workspace, by).line()));
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
  let presence: Presence | undefined;
  const lost = (workspace: string): void => {
    void presence?.leave(workspace);
    options.lost(workspace);
  };
  const held = new Map(workspaces.map((workspace) => [workspace, hold(workspace, ask, ttlMs, { ...options, lost })]));
  for (const each of held.values()) each.until(asked);
  const beat = setInterval(() => void Promise.all([...held.values()].map((each) => each.renew())), ttlMs / 6);
  return {
    async during(workspace, given, act) {
      const signal = await (held.get(workspace) as Held).sure();
      await act(AbortSignal.any([given, signal]));
      // What it was not allowed to end is rung again.
      if (signal.aborted && !given.aborted) throw signal.reason;
    },
    async announce() {
      const ours = workspaces.filter((workspace) => held.get(workspace)?.isLost() === false);
      presence = await announce(connection, { host, trace, workspaces: ours, lastsMs: options.presenceMs ?? LIMITS.presence });
    },
    async close() {
      clearInterval(beat);
      for (const each of held.values()) each.end();
      await presence?.end();
      await connection.close();
    },
  };
}

/** This host's claim on one workspace. */
interface Held {
  /** It was renewed by a question asked at this moment of `performance.now`. */
  until(asked: number): void;
  /** Never rejects. */
  renew(): Promise<void>;
  /** Rejects when it is not ours. */
  sure(): Promise<AbortSignal>;
  /** Another host has it. */
  isLost(): boolean;
  end(): void;
}

type Ask = (names: string[]) => Promise<{ by: Claim }[]>;

function hold(workspace: string, ask: Ask, ttlMs: number, { trace, lost }: ClaimOptions): Held {
  let controller = new AbortController();
  let deadline: NodeJS.Timeout | undefined;
  let gone: DeckhandError | null = null;
  let ended = false;

  function until(asked: number): void {
    if (ended) return;
    clearTimeout(deadline);
    // A sixth is left for the commands to end in.
    deadline = setTimeout(lapse, Math.max(0, asked + (ttlMs * 5) / 6 - performance.now()));
    if (!controller.signal.aborted) return;
    controller = new AbortController();
    trace.info("workspace-again", { workspace });
  }
  function lapse(): void {
    trace.warn("workspace-unsure", { workspace });
    controller.abort(new DeckhandError("REDIS_DOWN", `the claim on the workspace ${workspace} could not be renewed`));
  }
  function lose(by: Claim): void {
    gone = claimed(workspace, by);
    clearTimeout(deadline);
    controller.abort(gone);
    trace.error("workspace-lost", { workspace, error: gone.line() });
    lost(workspace);
  }
  async function question(): Promise<void> {
    const asked = performance.now();
    const [taken] = await ask([workspace]);
    if (gone !== null || ended) return;
    if (taken) lose(taken.by);
    else until(asked);
  }
  return {
    until,
    async renew() {
      if (gone !== null) return;
      // A beat that fails is one that did not come: the deadline decides.
      await question().catch((thrown: unknown) => trace.warn("claim-not-renewed", { workspace, error: messageOf(thrown) }));
    },
    async sure() {
      if (controller.signal.aborted && gone === null) await question();
      if (gone !== null) throw gone;
      return controller.signal;
    },
    isLost: () => gone !== null,
    end() {
      ended = true;
      clearTimeout(deadline);
    },
  };
}

/** Who has each of these workspaces now; null for nobody. Changes nothing. Throws REDIS_DOWN. */
export async function readClaims(url: string, trace: Trace, workspaces: string[]): Promise<Map<string, Claim | null>> {
  const connection = connect(url, trace, "claim");
  try {
    const claims = new Map<string, Claim | null>();
    for (const workspace of workspaces) {
      const fields = await connection.ask((client) => client.hmget(KEYS.host(workspace), "host", "name", "since"));
      claims.set(workspace, fields[0] ? claimOf(fields) : null);
    }
    return claims;
  } finally {
    await connection.close();
  }
}

function claimOf([host, name, since]: (string | null | undefined)[]): Claim {
  return { host: host ?? "", name: name ?? "", since: Number(since) };
}

/** WORKSPACE_CLAIMED, for a workspace that another host has; `more` is what else is known of it there. */
export function claimed(workspace: string, { name, since }: Claim, more = ""): DeckhandError {
  const at = new Date(since).toISOString().slice(0, 16).replace("T", " ");
  return new DeckhandError("WORKSPACE_CLAIMED", `${workspace}: ${name}, since ${at} UTC${more && `, ${more}`}`);
}

/**
 * The id of this host: that of its state folder, made when there is none. All workers that share the folder are one host,
 * also in containers with names of their own. Throws STATE_UNUSABLE.
 */
export function hostId(stateDir: string): string {
  const file = join(stateDir, "host-id");
  try {
    if (!existsSync(file)) writeOnce(file, `${randomUUID()}\n`);
    const id = readFileSync(file, "utf8").trim();
    if (/^[0-9a-f-]{36}$/.test(id)) return id;
  } catch (thrown) {
    throw new DeckhandError("STATE_UNUSABLE", messageOf(thrown), { cause: thrown });
  }
  throw new DeckhandError("STATE_UNUSABLE", `${file} is damaged; remove it`);
}

/** Whoever is first wins, and nobody ever sees half of it. */
function writeOnce(file: string, text: string): void {
  const fresh = `${file}.${randomUUID()}`;
  writeFileSync(fresh, text, { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(fresh, file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  } finally {
    rmSync(fresh);
  }
}
