import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Corridor, openBeside, openCorridor } from "../support/corridor.ts";
import { until } from "../support/redis.ts";
import { processesWith } from "../support/workspace.ts";
import { gather } from "./evidence.ts";
import { type Keeper, type Plan, startKeeper } from "./keeper.ts";
import { type People, pressAll, RULES, type Where } from "./play.ts";
import { refill } from "./refill.ts";
import { type Found, verify } from "./verifier.ts";

/** On each platform. A look through all channels after an absence goes gently, so few of them. */
const CHANNELS = 5;

/** A whole deck on both platforms at once whose processes are killed, with people who write and press. */
export interface Scene {
  deck: Corridor;
  keeper: Keeper;
  people: People;
  /** Milliseconds since the first process was started. */
  ms(): number;
  /** By turns on the one platform and on the other. */
  where(index: number): Where;
  /** Waits until it is so; rejects after `ms`, and when a process ended by itself. */
  until(what: string, isSo: () => boolean, ms: number): Promise<void>;
  /**
   * Nobody begins anything new, and nobody is killed any more: waits until nothing is broken, or for `ms`; with `allDecided`
   * also until nobody is waited for.
   */
  rest(ms: number, how?: { allDecided: boolean }): Promise<Found>;
  close(): Promise<void>;
}

export async function openScene(plan: Plan): Promise<Scene> {
  const twin = { retryDelaysMs: [0, 1_000, 5_000] };
  const deck = await openCorridor({ platform: "slack", start: false, rules: RULES, twin });
  const decks = [deck, await openBeside(deck, "discord", twin)];
  const places = Array.from({ length: CHANNELS }, (_, index) =>
    decks.map((each): Where => ({ deck: each, channel: `C${index + 1}` })),
  ).flat();
  deck.env["DECKHAND_CHANNELS"] = places.map((place) => `${place.deck.stage.channel(place.channel)}=api`).join();
  const began = Date.now();
  const keeper = startKeeper(deck, plan);
  const [quiet, over] = [new AbortController(), new AbortController()];
  const people: People = { random: plan.random, quiet: quiet.signal, talks: [] };
  const pressing = pressAll(people, over.signal);
  const refilling = refillAlways(deck, people, over.signal);

  async function close(): Promise<void> {
    quiet.abort();
    over.abort();
    await Promise.all([pressing, refilling]);
    await keeper.end();
    await until("no process is left", () => processesWith(deck.env["DECKHAND_STATE"] ?? "").length === 0);
    for (const each of decks.reverse()) await each.close();
  }

  const scene: Scene = {
    ...{ deck, keeper, people, close },
    ms: () => Date.now() - began,
    where: (index) => places[index % places.length] as Where,
    until: async (what, isSo, ms) => await Promise.race([keeper.failed, until(what, isSo, ms)]),
    async rest(ms, { allDecided } = { allDecided: false }) {
      quiet.abort();
      await keeper.disarm();
      return await Promise.race([keeper.failed, comeToRest(scene, ms, allDecided)]);
    },
  };
  try {
    // Nobody hears what was said before the very first start.
    await scene.until("somebody hears", () => decks.every(({ stage }) => stage.isHeard()), 60_000);
    return scene;
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** It must stay so for a moment. */
async function comeToRest({ deck, people }: Scene, ms: number, allDecided: boolean): Promise<Found> {
  const saids = people.talks.map(({ said }) => said);
  const end = Date.now() + ms;
  for (let rests = false; ; await sleep(rests ? 1_000 : 300)) {
    const found = verify(await gather(deck, saids));
    await Promise.all(found.aside.map(async (conversation) => await retry(deck, conversation)));
    const isFine = found.breaks.length === 0 && !(allDecided && found.counts.parked > 0);
    if ((isFine && rests) || (!isFine && Date.now() > end)) return found;
    rests = isFine;
  }
}

/** What an operator does about a conversation whose worker died again and again, by its fault or not. */
async function retry(deck: Corridor, conversation: string): Promise<void> {
  await promisify(execFile)("bin/deckhand", ["retry", conversation], { env: deck.env });
}

/** Now and then while people talk, so that budgets run out, too; all the time when all that is left is to post. */
async function refillAlways(deck: Corridor, { quiet }: People, done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    await refill(deck);
    await sleep(quiet.aborted ? 200 : 2_000, undefined, { signal: done }).catch(() => {}); // over
  }
}
