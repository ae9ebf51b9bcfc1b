import { setTimeout as sleep } from "node:timers/promises";
import type { Checkpoint } from "../../src/core/checkpoint.ts";
import type { Corridor } from "../support/corridor.ts";
import { type RoleProcess, parentOf, spawnRole } from "../support/crew.ts";

/** Keeps so many gateways and workers alive, whoever kills them, and counts who was killed where. */

export type Role = "gateway" | "worker";

/** A checkpoint and the how manieth time. */
export interface At {
  name: Checkpoint;
  nth: number;
}

export interface Keeper {
  /** How often whom, where: `worker after-run-started`, `redis at random`. */
  kills: Map<string, number>;
  /** Kills one of its kind at random; it is replaced. */
  kill(victim: Role | "runner" | "redis"): Promise<void>;
  /** Kills whoever is armed; from now on nobody is. */
  disarm(): Promise<void>;
  /** Rejects when one of them ended otherwise than by SIGKILL. */
  failed: Promise<never>;
  /** Kills all and replaces nobody. */
  end(): Promise<void>;
}

export interface Plan {
  count: Record<Role, number>;
  /** Where the next process in the nth place of this role is to be killed; `armed`: where others are. */
  arm(role: Role, nth: number, armed: Checkpoint[]): At | null;
  /** A process was killed where it was armed. */
  hit(name: Checkpoint): void;
  /** More environment for that process. */
  env?(role: Role, nth: number): Record<string, string>;
  random(): number;
}

interface Place {
  role: Role;
  nth: number;
  member: RoleProcess | null;
  at: At | null;
  /** We killed it ourselves. */
  struck: boolean;
}

/** Started while Redis is away, a process ends; more often than this it is no accident. */
const NOT_STARTED = 3;
const MOST_TRIES = 30;

export function startKeeper(deck: Corridor, plan: Plan): Keeper {
  const kills = new Map<string, number>();
  const places: Place[] = [];
  let isArming = true;
  let ended = false;
  const note = (what: string): void => void kills.set(what, (kills.get(what) ?? 0) + 1);

  async function keep(place: Place): Promise<void> {
    for (let tries = 0; !ended; ) {
      const { role, nth } = place;
      const armed = places.flatMap(({ at }) => at?.name ?? []);
      place.at = isArming ? plan.arm(role, nth, armed) : null;
      place.struck = false;
      const kill: Record<string, string> = place.at ? { DECKHAND_KILL_AT: `${place.at.name}:${place.at.nth}` } : {};
      const member = (place.member = spawnRole(deck, role, { ...plan.env?.(role, nth), ...kill }));
      const how = await Promise.race([member.gone, runnerGone(place, member)]);
      await member.kill();
      if (ended) return;
      tries = how === NOT_STARTED ? tries + 1 : 0;
      if (how === NOT_STARTED && tries <= MOST_TRIES) await sleep(200);
      else if (how === "SIGKILL" || how === "runner") hit(place, how);
      else throw new Error(`a ${role} ended with ${how}: ${member.said()}`);
    }
  }

  function hit({ at, role, struck }: Place, how: string): void {
    const isRunners = at?.name.startsWith("runner-") ?? false;
    if (at === null || struck || isRunners !== (how === "runner")) return;
    note(`${isRunners ? "runner" : role} ${at.name}`);
    plan.hit(at.name);
  }

  const pick = <T>(from: T[]): T | undefined => from[Math.floor(plan.random() * from.length)];
  for (const role of ["gateway", "worker"] as const)
    for (let nth = 0; nth < plan.count[role]; nth += 1) places.push({ role, nth, member: null, at: null, struck: false });
  const keeping = Promise.all(places.map(keep));
  const failed = keeping.then(async () => await new Promise<never>(() => {}));
  failed.catch(() => {}); // nobody may be waiting
  return {
    kills,
    failed,
    async kill(victim) {
      if (victim === "redis") {
        note("redis at random");
        await deck.redis.kill();
        return await deck.redis.restart();
      }
      const met = pick(places.filter(({ role, member }) => role === (victim === "gateway" ? "gateway" : "worker") && member !== null));
      const runner = victim === "runner" ? met?.member?.runner() : undefined;
      if (!met || (victim === "runner" && runner === undefined)) return;
      note(`${victim} at random`);
      if (runner !== undefined) return void process.kill(runner, "SIGKILL");
      met.struck = true;
      await met.member?.kill();
    },
    async disarm() {
      isArming = false;
      const armed = places.filter(({ at }) => at !== null);
      for (const place of armed) place.struck = true;
      await Promise.all(armed.map(async ({ member }) => await member?.kill()));
    },
    async end() {
      ended = true;
      await Promise.all(places.map(async ({ member }) => await member?.kill()));
      await keeping.catch(() => {}); // `failed` has told
    },
  };
}

/** For whoever is armed for its runner; a runner that was killed otherwise is replaced by its worker. */
async function runnerGone({ at }: Place, member: RoleProcess): Promise<"runner"> {
  if (!at?.name.startsWith("runner-") || !(await member.ready)) return await new Promise(() => {});
  const pid = member.runner();
  while (pid !== undefined && parentOf(pid) === member.pid) await sleep(50);
  return "runner";
}
