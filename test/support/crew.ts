import { type Corridor, type RoleProcess, startRole } from "./corridor.ts";
import { processesWith } from "./workspace.ts";
import { readFileSync } from "node:fs";

export type Victim = "gateway" | "worker" | "runner" | "redis";

/** The product in processes of its own, any of which can be killed. */
export interface Crew {
  /** SIGKILL to one of its kind; resolves when it is back. */
  kill(victim: Victim): Promise<void>;
  end(): Promise<void>;
}

/** Starts so many gateways and workers. `choose` picks whom a kill meets. */
export async function startCrew(deck: Corridor, each = 1, choose: <T>(from: T[]) => T | undefined = (from) => from[0]): Promise<Crew> {
  const roles = Array.from({ length: each }, () => ["gateway", "worker"] as const).flat();
  const crew = new Set<{ role: "gateway" | "worker"; process: RoleProcess }>();
  const add = async (role: "gateway" | "worker"): Promise<void> => void crew.add({ role, process: await startRole(deck, role) });
  await Promise.all(roles.map(add));
  return {
    async kill(victim) {
      if (victim === "redis") return await deck.redis.kill().then(() => deck.redis.restart());
      if (victim === "runner") {
        const workers = [...crew].filter(({ role }) => role === "worker").map(({ process: worker }) => worker.pid);
        const pid = choose(processesWith("runner-main.ts").filter((runner) => workers.includes(parentOf(runner))));
        if (pid !== undefined) process.kill(pid, "SIGKILL");
        return;
      }
      const met = choose([...crew].filter(({ role }) => role === victim));
      if (!met) return;
      crew.delete(met);
      await met.process.kill();
      await add(victim);
    },
    async end() {
      await Promise.all([...crew].map(({ process: each }) => each.kill()));
    },
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
