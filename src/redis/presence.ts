import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { messageOf } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Trace } from "../core/ports.ts";
import { LIMITS } from "../limits.ts";
import { type Connection, connect, script } from "./connect.ts";
import { KEYS } from "./keys.ts";

/** A worker process that serves a workspace now. Times are milliseconds since 1970. */
export interface Worker {
  id: string;
  /** The id of its host; see `hostId`. */
  host: string;
  /** The name of its machine, for people. */
  name: string;
  pid: number;
  since: number;
  /** When it last said so, by Redis's clock. */
  beat: number;
}

/** What a worker says of itself: the same words at each beat, so that they name it. */
type Said = Omit<Worker, "beat"> & { lasts: number };

/** What stands for workers that have just ended. */
const ENDED = "ended";

interface Announcement {
  workspaces: string[];
  host: string;
  trace: Trace;
  /** Milliseconds without a beat after which it does not count any more. */
  lastsMs?: number;
}

export interface Presence {
  /** It does not serve this one any more. Never rejects: what Redis is not told lapses. */
  leave(workspace: string): Promise<void>;
  /** It serves nothing any more. Never rejects. */
  end(): Promise<void>;
}

/** Announces this process as a worker of these workspaces, again and again until its end. Rejects with REDIS_DOWN. */
export async function announce(connection: Connection, options: Announcement): Promise<Presence> {
  const { host, trace, lastsMs = LIMITS.presence } = options;
  const present = script(connection, "present.lua");
  const since = Date.now();
  const me = JSON.stringify({ id: randomUUID(), host, name: hostname(), pid: process.pid, since, lasts: lastsMs } satisfies Said);
  const served = new Set(options.workspaces);

  async function say(workspaces: string[], ended: boolean): Promise<void> {
    if (workspaces.length > 0) await present(workspaces.map(KEYS.workers), [me, lastsMs, ended ? 1 : 0]);
  }
  async function beat(): Promise<void> {
    // One that fails is one that did not come.
    await say([...served], false).catch((thrown: unknown) => trace.warn("beat-failed", { error: messageOf(thrown) }));
  }
  await say([...served], false);
  const beats = setInterval(() => void beat(), lastsMs / 3);
  // Redis was away for longer than we last: people are told no longer than needed.
  const back = (): void => void beat();
  connection.client.on("ready", back);

  async function leave(workspaces: string[]): Promise<void> {
    for (const workspace of workspaces) served.delete(workspace);
    await say(workspaces, true).catch((thrown: unknown) => trace.info("farewell-failed", { error: messageOf(thrown) }));
  }
  return {
    leave: async (workspace) => await leave([workspace]),
    async end() {
      clearInterval(beats);
      connection.client.off("ready", back);
      await leave([...served]);
    },
  };
}

/** Whether a workspace is served. Its last worker counts for one lapse more after its end. */
export function presence(connection: Connection): Pick<Log, "isServed"> {
  const workers = script(connection, "workers.lua");
  return {
    isServed: async (workspace) => ((await workers([KEYS.workers(workspace)], [])) as string[]).length > 0,
  };
}

/** The workers of each of these workspaces now. Changes nothing. Throws REDIS_DOWN. */
export async function readWorkers(url: string, trace: Trace, workspaces: string[]): Promise<Map<string, Worker[]>> {
  const connection = connect(url, trace, "presence");
  const workers = script(connection, "workers.lua");
  try {
    const all = new Map<string, Worker[]>();
    for (const workspace of workspaces) all.set(workspace, workersOf((await workers([KEYS.workers(workspace)], [])) as string[]));
    return all;
  } finally {
    await connection.close();
  }
}

/** From member, score, member, score. */
function workersOf(pairs: string[]): Worker[] {
  return pairs.flatMap((said, at) => {
    if (at % 2 === 1 || said === ENDED) return [];
    const { lasts, ...worker } = JSON.parse(said) as Said;
    return [{ ...worker, beat: Number(pairs[at + 1]) - lasts }];
  });
}
