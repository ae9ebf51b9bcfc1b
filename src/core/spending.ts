import { LIMITS } from "../limits.ts";
import type { NewEntry, Usage } from "./entry.ts";

/** What a model costs, in US dollars per million tokens (so in millionths of a dollar per token). */
export interface Price {
  input: number;
  /** For input that the service had kept; `input` when left out. */
  cached?: number;
  output: number;
}

/** By the names of models. */
export type Prices = Readonly<Record<string, Price>>;

/** When somebody last looked at the built-in prices. */
const PRICES_AS_OF = "2026-01";

/** A few well-known prices; `prices` in deckhand.yaml goes before them. A model that is in neither has an unknown cost. */
const PRICES: Prices = {
  "gpt-5": { input: 1.25, cached: 0.125, output: 10 },
  "gpt-5-mini": { input: 0.25, cached: 0.025, output: 2 },
  "gpt-5-nano": { input: 0.05, cached: 0.005, output: 0.4 },
  "gpt-4o": { input: 2.5, cached: 1.25, output: 10 },
  "gpt-4o-mini": { input: 0.15, cached: 0.075, output: 0.6 },
};

/** Where the built-in prices hold: another service may give any model such a name. */
const VENDOR = "api.openai.com";

/** Tokens and millionths of a US dollar; `cost` null: not known. */
export interface Spent {
  tokens: number;
  cost: number | null;
}

export const NOTHING: Spent = { tokens: 0, cost: null };

/** How much may be spent; null: as much as it takes. */
export interface Budget {
  tokens: number | null;
  usd: number | null;
}

/** How far work goes before people are asked; `ms` of model and command time. */
export interface Limits {
  turn: Budget & { steps: number; calls: number; ms: number };
  thread: Budget;
  /** Of all conversations and workers together, UTC. */
  day: Budget;
}

/** What holds where deckhand.yaml says nothing. */
export const SHIPPED: Limits = {
  turn: { steps: LIMITS.stepsPerTurn, calls: LIMITS.callsPerTurn, ms: LIMITS.activePerTurn, tokens: LIMITS.tokensPerTurn, usd: null },
  thread: { tokens: LIMITS.tokensPerThread, usd: null },
  day: { tokens: null, usd: null },
};

/** The price of a model that is named as in `by` of its answers (`gpt-5 at api.openai.com`). */
export function priceOf(by: string | undefined, prices: Prices): Price | undefined {
  const [name = "", where] = (by ?? "").split(/ at (?=\S+$)/);
  if (Object.hasOwn(prices, name)) return prices[name];
  return where === VENDOR && Object.hasOwn(PRICES, name) ? PRICES[name] : undefined;
}

/** What one request cost, in millionths of a US dollar; null when the price or the figures are unknown. */
export function costOf(usage: Usage, price: Price | undefined): number | null {
  const { prompt, completion, cached } = usage;
  if (!price || prompt === null || completion === null) return null;
  const kept = Math.min(cached ?? 0, prompt);
  return Math.round((prompt - kept) * price.input + kept * (price.cached ?? price.input) + completion * price.output);
}

/** All tokens of one request; `estimated` stands for those of the prompt where the endpoint does not count them. */
function tokensOf({ prompt, completion }: Usage, estimated: number): number {
  return (prompt ?? estimated) + (completion ?? 0);
}

/** What this entry stands for; nothing for one that is no request. */
export function spentBy(entry: NewEntry): Spent {
  if (entry.type === "model" && entry.again === undefined) {
    return { tokens: tokensOf(entry.usage, entry.estimated ?? 0), cost: entry.cost ?? null };
  }
  if (entry.type === "compacted" && entry.summary !== undefined) return { tokens: entry.tokens, cost: entry.cost ?? null };
  return NOTHING;
}

/** Adds up; once a part is unknown the whole is at least what is known. */
export function plus(a: Spent, b: Spent): Spent {
  return { tokens: a.tokens + b.tokens, cost: a.cost === null && b.cost === null ? null : (a.cost ?? 0) + (b.cost ?? 0) };
}

/** The budget of who has been allowed as much again when so much was taken. */
export function beyond({ tokens, usd }: Budget, from: Spent): Budget {
  return { tokens: tokens === null ? null : tokens + from.tokens, usd: usd === null ? null : usd + (from.cost ?? 0) / MICRO };
}

/** Why `next` may not be spent before somebody agrees, in words; null while there is room for it. */
export function overspent(what: string, spent: Spent, budget: Budget, next: Spent): string | null {
  const all = plus(spent, next);
  if (budget.tokens !== null && all.tokens > budget.tokens) {
    return `${what} would take more than ${count(budget.tokens)} tokens (${count(spent.tokens)} so far)`;
  }
  if (budget.usd !== null && all.cost !== null && all.cost >= budget.usd * MICRO) {
    return `${what} would cost more than ${dollars(budget.usd * MICRO)}${spent.cost ? ` (${dollars(spent.cost)} so far)` : ""}`;
  }
  return null;
}

/** The day of a time in milliseconds, UTC: `2026-11-30`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

const MICRO = 1_000_000;

/** Millionths as `$0.42`; small amounts with as many digits as say something. */
export function dollars(micro: number | null): string {
  if (micro === null) return "unknown";
  const usd = micro / MICRO;
  return `$${usd >= 0.1 || usd === 0 ? usd.toFixed(2) : String(Number(usd.toPrecision(2)))}`;
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

/** The limits in one line, for `deckhand doctor`. */
export function limitsLine({ turn, thread, day }: Limits): string {
  const steps = `${turn.steps} steps, ${turn.ms / 60_000} min`;
  return `a turn ${[steps, ...budgetParts(turn)].join(", ")}; a thread ${budgetLine(thread)}; a day ${budgetLine(day)}`;
}

/** Whether some limit is in money. */
export function countsMoney({ turn, thread, day }: Limits): boolean {
  return [turn, thread, day].some(({ usd }) => usd !== null);
}

/** A price in words, with its source. */
export function priceLine(by: string, prices: Prices): string | null {
  const price = priceOf(by, prices);
  if (!price) return null;
  const source = Object.values(prices).includes(price) ? "deckhand.yaml" : `built in, as of ${PRICES_AS_OF}`;
  const cached = price.cached === undefined ? "" : `, $${price.cached} cached`;
  return `$${price.input} in${cached}, $${price.output} out per million tokens (${source})`;
}

function budgetLine(budget: Budget): string {
  return budgetParts(budget).join(", ") || "as much as it takes";
}

function budgetParts({ tokens, usd }: Budget): string[] {
  return [...(tokens === null ? [] : [`${count(tokens)} tokens`]), ...(usd === null ? [] : [dollars(usd * MICRO)])];
}
