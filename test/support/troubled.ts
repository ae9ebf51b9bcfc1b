import { Redis } from "ioredis";
import { type App, startApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "./audit.ts";
import { type Corridor, type Said, openCorridor } from "./corridor.ts";
import { keptTrace, until } from "./redis.ts";
import type { Platform } from "./stage.ts";

/** The whole product with its log lines kept, and a hand on its Redis. */
interface Troubled {
  deck: Corridor;
  admin: Redis;
  /** Fields of the log lines of that name. */
  told(event: string): Record<string, unknown>[];
  close(): Promise<void>;
}

interface TroubledOptions {
  platform: Platform;
  /** The lock on a conversation. */
  lockMs?: number;
  env?: Record<string, string>;
  /** Slack's retries; over after a second and a half when left out. */
  retryDelaysMs?: number[];
  /** Where the product finds its Redis instead: behind a proxy. */
  redisUrl?: (port: number) => Promise<string>;
}

const WORDS = ["one", "two", "three", "four", "five"];

/**
 * What people may ask: `do WORD` runs by itself and leaves WORD in fx.txt, `slow WORD` does that and takes 3 s more,
 * `ask WORD` waits for a press first. Each is answered `WORD is answered`.
 */
export const RULES: Rule[] = WORDS.flatMap((word) => [
  { when: new RegExp(`do ${word}$`), steps: [() => bash(`echo ${word} >> fx.txt`), () => say(`${word} is answered`)] },
  { when: new RegExp(`slow ${word}$`), steps: [() => bash(`echo ${word} >> fx.txt; sleep 3; echo end`), () => say(`${word} is answered`)] },
  { when: new RegExp(`ask ${word}$`), steps: [() => bash(`rm -f old; echo ${word} >> fx.txt`), () => say(`${word} is answered`)] },
]);

/** Opens it, plays, and closes it whatever came of it. */
export async function during(options: TroubledOptions, play: (all: Troubled) => Promise<void>): Promise<void> {
  const all = await openTroubled(options);
  try {
    await play(all);
  } finally {
    await all.close();
  }
}

/** Waits until there is such an entry in the log. */
export async function isIn(said: Said, type: Entry["type"]): Promise<void> {
  await until(`there is a ${type}`, async () => {
    const log = await said.entries().catch((): Entry[] => []); // Redis may be away
    return log.some((entry) => entry.type === type);
  });
}

/** How the runs of a conversation have ended. */
export async function endsOf(said: Said): Promise<string[]> {
  return (await said.entries()).flatMap((entry) => (entry.type === "run-ended" ? [entry.how] : []));
}

async function openTroubled(options: TroubledOptions): Promise<Troubled> {
  const { platform, lockMs = 2_000, env = {}, retryDelaysMs = [0, 500, 1_000] } = options;
  const deck = await openCorridor({
    platform,
    rules: RULES,
    start: false,
    env: { DECKHAND_LOCK_MS: String(lockMs), ...env },
    twin: { retryDelaysMs },
  });
  const trace = keptTrace();
  const redisUrl = (await options.redisUrl?.(deck.redis.port)) ?? deck.redis.url;
  const app: App = await startApp(loadConfig({ ...deck.env, REDIS_URL: redisUrl }), "all", trace);
  const admin = new Redis(deck.redis.url, { retryStrategy: () => 100 });
  admin.on("error", () => {}); // its server is killed on purpose
  return {
    deck,
    admin,
    told: (event) => trace.events.filter((each) => each.event === event).map(({ fields }) => fields),
    async close() {
      await app.stop();
      admin.disconnect();
      await deck.close();
    },
  };
}

/** Waits until each conversation is at rest as promised; gives what then is not so. `sent`: what was asked in each. */
export async function breaksOf(deck: Corridor, ...asked: [said: Said, sent: string][]): Promise<string[]> {
  const all = await Promise.all(asked.map(async ([said, sent]) => breaks(await settled(() => audit(deck, said, [sent]), 60_000))));
  return all.flat();
}
