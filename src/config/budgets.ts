import { z } from "zod";
import { type Budget, type Limits, type Prices, SHIPPED } from "../core/spending.ts";

/** How far work goes before people are asked, and what models cost: the pieces of `deckhand.yaml` for that. */

const SAY = {
  steps: "must be a whole number from 1 to 10000",
  minutes: "must be a number above 0, at most 10080 (a week)",
  tokens: "must be a whole number above 0, or none",
  usd: "must be a number of US dollars, 0.01 or more, or none",
  price: "must be US dollars per million tokens, 0 or more",
};

/** `none`: as much as it takes. */
const TOKENS = z.union([z.literal("none"), z.int(SAY.tokens).positive(SAY.tokens)], SAY.tokens).optional();
const USD = z.union([z.literal("none"), z.number().min(0.01, SAY.usd)], SAY.usd).optional();
const BUDGET = { tokens: TOKENS, usd: USD };

export const BUDGETS = z.strictObject({
  turn: z
    .strictObject({
      steps: z.int(SAY.steps).min(1, SAY.steps).max(10_000, SAY.steps).optional(),
      minutes: z.number(SAY.minutes).positive(SAY.minutes).max(10_080, SAY.minutes).optional(),
      ...BUDGET,
    })
    .optional(),
  thread: z.strictObject(BUDGET).optional(),
  day: z.strictObject(BUDGET).optional(),
});

const PRICE = z.number(SAY.price).nonnegative(SAY.price);

/** By the names of models, as in OPENAI_MODEL. */
export const PRICES = z.record(z.string(), z.strictObject({ input: PRICE, cached: PRICE.optional(), output: PRICE }));

/** What is not said is as shipped. */
export function limitsOf({ turn = {}, thread = {}, day = {} }: z.infer<typeof BUDGETS> = {}): Limits {
  const { steps = SHIPPED.turn.steps, minutes } = turn;
  const calls = Math.round((steps * SHIPPED.turn.calls) / SHIPPED.turn.steps);
  const ms = minutes === undefined ? SHIPPED.turn.ms : minutes * 60_000;
  return {
    turn: { steps, calls, ms, ...budgetOf(turn, SHIPPED.turn) },
    thread: budgetOf(thread, SHIPPED.thread),
    day: budgetOf(day, SHIPPED.day),
  };
}

function budgetOf({ tokens, usd }: { [K in keyof Budget]?: number | "none" | undefined }, shipped: Budget): Budget {
  return { tokens: tokens === "none" ? null : (tokens ?? shipped.tokens), usd: usd === "none" ? null : (usd ?? shipped.usd) };
}

export function pricesOf(written: z.infer<typeof PRICES> = {}): Prices {
  return Object.fromEntries(
    Object.entries(written).map(([name, { input, cached, output }]) => [
      name,
      { input, output, ...(cached === undefined ? {} : { cached }) },
    ]),
  );
}
