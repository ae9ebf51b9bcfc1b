import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { App, Role } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import { logTrace } from "../../src/system.ts";
import type { Corridor } from "./corridor.ts";
import { startHere } from "./here.ts";
import { processesWith } from "./workspace.ts";

/** One process of the product, which may die whenever it likes. */
export interface RoleProcess {
  pid: number;
  /** False when it ended before it was ready. */
  ready: Promise<boolean>;
  /** The signal or the code that it ended with. */
  gone: Promise<string | number | null>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves as `gone`. */
  end(): Promise<string | number | null>;
  /** Its runner, once it is ready; undefined when it has none. */
  runner(): number | undefined;
  /** The end of what it said. */
  said(): string;
}

/** What tests start on a deck. */
export interface Crew {
  /** A process of its own, ready. */
  start(role: Role, env?: Record<string, string>): Promise<RoleProcess>;
  /** The role in this process, which is much cheaper; for whoever is not to be killed. Its `stop` may be called twice. */
  here(role: Role): Promise<App>;
  /** Ends all of them, and the decks. */
  end(): Promise<void>;
}

/** `beside`: other platforms on that deck. */
export function crewOf(deck: Corridor, ...beside: Corridor[]): Crew {
  const processes: RoleProcess[] = [];
  const apps: App[] = [];
  return {
    async start(role, env) {
      const started = spawnRole(deck, role, env);
      processes.push(started);
      return await isReady(started);
    },
    async here(role) {
      const config = await loadConfig(deck.env);
      const app = await startHere(deck.env, role, logTrace(config.logLevel, config.secrets));
      let stopped: Promise<void> | null = null;
      const once: App = { stop: () => (stopped ??= app.stop()) };
      apps.push(once);
      return once;
    },
    async end() {
      await Promise.all([...processes.map((each) => each.kill()), ...apps.map((app) => app.stop())]);
      for (const each of [...beside, deck]) await each.close();
    },
  };
}

/** Starts `bin/deckhand start --role ROLE` with more environment; does not wait for it. */
export function spawnRole(deck: Corridor, role: Role, env: Record<string, string> = {}): RoleProcess {
  return roleOf(spawn("bin/deckhand", ["start", "--role", role], { env: { ...deck.env, ...env }, stdio: ["ignore", "pipe", "pipe"] }));
}

/** As `spawnRole`; waits until it is ready, and throws what it said when it never was. */
export async function startRole(deck: Corridor, role: Role, env: Record<string, string> = {}): Promise<RoleProcess> {
  return await isReady(spawnRole(deck, role, env));
}

async function isReady(started: RoleProcess): Promise<RoleProcess> {
  if (!(await started.ready)) throw new Error(`ended with ${await started.gone} before it was ready: ${started.said()}`);
  return started;
}

/** A child that says `is ready` on one of its channels. */
export function roleOf(child: ChildProcess): RoleProcess {
  const { promise: ready, resolve } = Promise.withResolvers<boolean>();
  const gone = new Promise<string | number | null>((end) => child.once("exit", (code, signal) => end(signal ?? code)));
  void gone.then(() => resolve(false));
  let said = "";
  const hear = (data: Buffer): void => {
    said = `${said}${String(data)}`.slice(-4000);
    if (said.includes("is ready")) resolve(true);
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  const end = async (signal: NodeJS.Signals): Promise<string | number | null> => {
    child.kill(signal);
    return await gone;
  };
  return {
    pid: child.pid ?? 0,
    ready,
    gone,
    kill: async () => void (await end("SIGKILL")),
    end: () => end("SIGTERM"),
    runner: () => processesWith("runner-main.ts").find((pid) => parentOf(pid) === child.pid),
    said: () => said,
  };
}

/** NaN when it has ended meanwhile. */
export function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return Number.NaN;
  }
}
