import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Role } from "../../src/app.ts";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { KEYS } from "../../src/redis/keys.ts";
import { audit, breaks, settled } from "./audit.ts";
import { type Corridor, type Said, openCorridor } from "./corridor.ts";
import { startHere } from "./here.ts";
import { type LossyProxy, keptTrace, lossyProxy, until } from "./redis.ts";
import type { Platform } from "./stage.ts";

/** The whole product with its log lines kept, and a hand on its Redis. */
export interface Troubled {
  deck: Corridor;
  admin: Redis;
  /** Between the product and its Redis; does nothing where the options do not ask for it. */
  proxy: LossyProxy;
  /** Fields of the log lines of that name, since the test began. */
  told(event: string): Record<string, unknown>[];
}

interface TroubledOptions {
  platform: Platform;
  /** The lock on a conversation. */
  lockMs?: number;
  env?: Record<string, string>;
  /** Redis is behind a proxy, and gateway and worker have connections of their own, as in two processes. */
  apart?: boolean;
}

const WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/**
 * What people may ask, each once on a deck: `do WORD` runs by itself and leaves WORD in fx.txt, `slow WORD` does that and takes
 * 3 s more, `ask WORD` waits for a press first. Each is answered `WORD is answered`.
 */
const RULES: Rule[] = WORDS.flatMap((word) => [
  { when: new RegExp(`do ${word}$`), steps: [() => bash(`echo ${word} >> fx.txt`), () => say(`${word} is answered`)] },
  { when: new RegExp(`slow ${word}$`), steps: [() => bash(`echo ${word} >> fx.txt; sleep 3; echo end`), () => say(`${word} is answered`)] },
  { when: new RegExp(`ask ${word}$`), steps: [() => bash(`rm -f old; echo ${word} >> fx.txt`), () => say(`${word} is answered`)] },
]);

/** One for all tests of a block: each begins with nothing told and the chat's budgets full, in which it need not wait. */
export function troubled(options: TroubledOptions): () => Troubled {
  let all: Awaited<ReturnType<typeof openTroubled>>;
  beforeAll(async () => void (all = await openTroubled(options)));
  beforeEach(() => all.begin());
  afterAll(() => all.close());
  return () => all;
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

async function openTroubled({ platform, lockMs = 2_000, env = {}, apart = false }: TroubledOptions) {
  const deck = await openCorridor({
    platform,
    rules: RULES,
    start: false,
    env: { DECKHAND_LOCK_MS: String(lockMs), ...env },
    twin: { retryDelaysMs: [0, 500, 1_000] }, // Slack's; over after a second and a half
  });
  const trace = keptTrace();
  const proxy = await lossyProxy(deck.redis.port);
  const environment = apart ? { ...deck.env, REDIS_URL: proxy.url } : deck.env;
  const roles: Role[] = apart ? ["gateway", "worker"] : ["all"];
  const apps = await Promise.all(roles.map((role) => startHere(environment, role, trace)));
  const admin = new Redis(deck.redis.url, { retryStrategy: () => 100 });
  admin.on("error", () => {}); // its server is killed on purpose
  let since = 0;
  return {
    ...{ deck, admin, proxy },
    told: (event: string) =>
      trace.events
        .slice(since)
        .filter((each) => each.event === event)
        .map(({ fields }) => fields),
    async begin(): Promise<void> {
      since = trace.events.length;
      await renewBudgets(admin);
    },
    async close(): Promise<void> {
      for (const app of apps.toReversed()) await app.stop();
      admin.disconnect();
      await proxy.stop();
      await deck.close();
    },
  };
}

/** What was posted so far does not count any more. */
export async function renewBudgets(admin: Redis): Promise<void> {
  const keys = await admin.keys(`${KEYS.bucket("")}*`);
  if (keys.length > 0) await admin.del(...keys);
}

/** Waits until each conversation is at rest as promised; gives what then is not so. `sent`: what was asked in each. */
export async function breaksOf(deck: Corridor, ...asked: [said: Said, sent: string][]): Promise<string[]> {
  const all = await Promise.all(asked.map(async ([said, sent]) => breaks(await settled(() => audit(deck, said, [sent]), 60_000))));
  return all.flat();
}
