import { utf8 } from "./cut.ts";
import type { NewEntry } from "./entry.ts";
import { messageOf } from "./errors.ts";
import type { Hands } from "./hands.ts";
import { pause } from "./pause.ts";
import { patiently, type Session } from "./session.ts";
import { beyond, costOf, dayOf, NOTHING, overspent, plus, priceOf, type Spent, spentBy } from "./spending.ts";

/** Bytes of a summary that one token stands for. */
const SUMMARY_BYTES = 3.5;

/**
 * Makes one request of the model within the limits: what it will take at least is booked before it, what it took after it.
 * A crash in between only counts too much. Gives what came of the request, with its cost; or the `paused` of a limit that
 * it would pass.
 */
export async function withinBudget(
  session: Session,
  hands: Hands,
  signal: AbortSignal,
  ask: () => Promise<NewEntry[]>,
): Promise<NewEntry[]> {
  const { tokens } = session.history.tokens();
  const cost = costOf({ prompt: tokens, completion: 0, cached: null }, priceOf(askedNow(session, hands), hands.prices));
  const least: Spent = { tokens, cost };
  const booked = await book(least, session, hands, signal);
  if (booked === null) return [];
  if ("type" in booked) return [booked];
  const news = (await ask()).map((entry) => withCost(entry, tokens, session, hands));
  const spent = news.map(spentBy).reduce(plus, NOTHING);
  // As far as anybody knows, a request that was stopped in the middle is paid for.
  if (spent.tokens > 0 || !signal.aborted)
    await booked.correct({ tokens: spent.tokens, cost: spent.cost ?? (spent.tokens > 0 ? cost : null) });
  return news;
}

interface Booked {
  /** What it really took; never rejects. */
  correct: (spent: Spent) => Promise<void>;
}

/** Null: somebody stopped the work before it could be booked. */
async function book(least: Spent, session: Session, hands: Hands, signal: AbortSignal): Promise<Booked | NewEntry<"paused"> | null> {
  const { turn, spent, allowed } = session.state;
  const { limits, log, clock, ids, trace } = hands;
  // Whoever lets the work go on lets it make a request at least.
  const free = isLetGoOn(session);
  const over = (what: string, taken: Spent, budget: Parameters<typeof overspent>[2]): string | null =>
    free ? null : overspent(what, taken, budget, least);
  const turnOver = over("this turn", turn?.spent ?? NOTHING, limits.turn);
  if (turnOver) return pause(turnOver, session, hands);
  const threadOver = over("this thread", spent, beyond(limits.thread, allowed.thread));
  if (threadOver) return pause(threadOver, session, hands, "thread");
  if (limits.day.tokens === null && limits.day.usd === null) return { correct: async () => {} };
  const day = dayOf(clock.now());
  const request = ids.token();
  try {
    const all = await patiently(() => log.spend(day, request, least), clock, signal);
    const others = { tokens: all.tokens - least.tokens, cost: all.cost === null ? null : all.cost - (least.cost ?? 0) };
    const budget = beyond(limits.day, allowed.day?.day === day ? allowed.day : NOTHING);
    const dayOver = over("all threads together, today (UTC),", others, budget);
    if (dayOver) {
      await patiently(() => log.spend(day, request, NOTHING), clock, signal);
      return pause(dayOver, session, hands, { day, ...others });
    }
  } catch (thrown) {
    if (signal.aborted) return null;
    throw thrown;
  }
  return {
    async correct(taken) {
      await patiently(() => log.spend(day, request, taken), clock, signal).catch((thrown: unknown) => {
        trace.info("spent-not-corrected", { conversation: session.conversation, error: messageOf(thrown) });
      });
    },
  };
}

function isLetGoOn({ entries }: Session): boolean {
  const last = entries.findLast((entry) => entry.type === "model" || (entry.type === "choice" && entry.choice === "continue"));
  return last?.type === "choice";
}

/** The model of the next request, as in `by` of its answers. */
function askedNow({ state }: Session, hands: Hands): string | undefined {
  return hands.modelFor(state).name;
}

function withCost(entry: NewEntry, estimated: number, session: Session, hands: Hands): NewEntry {
  if (entry.type === "model") {
    const cost = costOf(entry.usage, priceOf(entry.by, hands.prices));
    return { ...entry, ...(cost === null ? {} : { cost }), ...(entry.usage.prompt === null ? { estimated } : {}) };
  }
  if (entry.type !== "compacted" || entry.summary === undefined) return entry;
  const usage = { prompt: entry.tokens, completion: Math.ceil(utf8(entry.summary) / SUMMARY_BYTES), cached: null };
  const cost = costOf(usage, priceOf(askedNow(session, hands), hands.prices));
  return cost === null ? entry : { ...entry, cost };
}
