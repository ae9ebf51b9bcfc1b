import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Corridor } from "./corridor.ts";
import { processesWith } from "./workspace.ts";

/** One process of the product, which may die whenever it likes. */
export interface Member {
  pid: number;
  /** False when it ended before it was ready. */
  ready: Promise<boolean>;
  /** The signal or the code that it ended with. */
  gone: Promise<string | number | null>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Its runner, once it is ready; undefined when it has none. */
  runner(): number | undefined;
  /** What it said on its error channel. */
  said(): string;
}

/** Starts `bin/deckhand start --role ROLE` with more environment. */
export function startMember(deck: Corridor, role: "gateway" | "worker", env: Record<string, string> = {}): Member {
  const child = spawn("bin/deckhand", ["start", "--role", role], { env: { ...deck.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const { promise: ready, resolve } = Promise.withResolvers<boolean>();
  const gone = new Promise<string | number | null>((end) => child.once("exit", (code, signal) => end(signal ?? code)));
  void gone.then(() => resolve(false));
  child.stdout.on("data", (data: Buffer) => String(data).includes("is ready") && resolve(true));
  let said = "";
  child.stderr.on("data", (data: Buffer) => (said = `${said}${String(data)}`.slice(-4000)));
  return {
    pid: child.pid ?? 0,
    ready,
    gone,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
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
