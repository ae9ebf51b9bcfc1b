import type { Usage } from "./entry.ts";

/** What a model costs, in US dollars per million tokens (so in millionths of a dollar per token). */
export interface Price {
  input: number;
  /** For input that the service had kept; `input` when left out. */
  cached?: number;
  output: number;
}

/** When somebody last looked at the built-in prices. */
export const PRICES_AS_OF = "2026-01";

/** A few well-known prices; `prices` in deckhand.yaml goes before them. A model that is in neither has an unknown cost. */
export const PRICES: Readonly<Record<string, Price>> = {
  "gpt-5": { input: 1.25, cached: 0.125, output: 10 },
  "gpt-5-mini": { input: 0.25, cached: 0.025, output: 2 },
  "gpt-5-nano": { input: 0.05, cached: 0.005, output: 0.4 },
  "gpt-4o": { input: 2.5, cached: 1.25, output: 10 },
  "gpt-4o-mini": { input: 0.15, cached: 0.075, output: 0.6 },
};

/** Tokens and millionths of a US dollar; `cost` null: not known. */
export interface Spent {
  tokens: number;
  cost: number | null;
}

/** How much may be spent; null: as much as it takes. */
export interface Budget {
  tokens: number | null;
  usd: number | null;
}

/** What one request cost, in millionths of a US dollar; null when the price or the figures are unknown. */
export function costOf(usage: Usage, price: Price | undefined): number | null {
  const { prompt, completion, cached } = usage;
  if (!price || prompt === null || completion === null) return null;
  const kept = Math.min(cached ?? 0, prompt);
  return Math.round((prompt - kept) * price.input + kept * (price.cached ?? price.input) + completion * price.output);
}

/** All tokens of one request; `estimated` when the endpoint does not count them. */
export function tokensOf(usage: Usage, estimated: number): number {
  return usage.prompt === null && usage.completion === null ? estimated : (usage.prompt ?? estimated) + (usage.completion ?? 0);
}

/** Adds up; once a part is unknown the whole is at least what is known. */
export function plus(a: Spent, b: Spent): Spent {
  return { tokens: a.tokens + b.tokens, cost: a.cost === null && b.cost === null ? null : (a.cost ?? 0) + (b.cost ?? 0) };
}

/** Why nothing more may be spent before somebody agrees, in words; null while there is room for `next` tokens more. */
export function overspent(what: string, spent: Spent, budget: Budget, next: number): string | null {
  if (budget.tokens !== null && spent.tokens + next > budget.tokens) {
    return `${what} would take more than ${budget.tokens.toLocaleString("en-US")} tokens (${spent.tokens.toLocaleString("en-US")} so far)`;
  }
  if (budget.usd !== null && spent.cost !== null && spent.cost >= budget.usd * 1_000_000) {
    return `${what} has cost ${dollars(spent.cost)}, of ${dollars(budget.usd * 1_000_000)}`;
  }
  return null;
}

/** `$0.42`; small amounts with as many digits as say something. */
export function dollars(micro: number | null): string {
  if (micro === null) return "unknown";
  const usd = micro / 1_000_000;
  return `$${usd >= 0.1 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`;
}
