import { expect, test } from "vitest";
import { isEntry } from "../../src/core/entry.ts";
import type { Model } from "../../src/core/ports.ts";
import { systemClock } from "../../src/system.ts";
import { openGuarded } from "../support/guarded.ts";

const usage = { prompt: null, completion: null, cached: null };

/** A model that thinks until it is let go, and then, when it is asked for the nth time, answers. */
function thinking(answersAt: number): Model & { asked: number; ended: number } {
  const model = {
    ...{ name: "m", asked: 0, ended: 0, window: async () => 100_000 },
    async ask(_: unknown, { signal }: { signal: AbortSignal }) {
      model.asked += 1;
      if (model.asked >= answersAt) return { text: "at last", calls: [], finish: "stop" as const, usage, model: "m" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      model.ended += 1;
      throw signal.reason;
    },
  };
  return model;
}

test("a request that is under way is ended when the turn's time is used up, and people are asked whether to go on", async () => {
  const model = thinking(2);
  const deck = openGuarded({ model, limits: { turn: { ms: 300 } }, hands: { clock: systemClock } });
  await deck.say("go");
  await deck.work();
  expect(await deck.last()).toMatchObject({ type: "paused", text: expect.stringMatching(/^I have paused: it worked for [\d.]+ minutes/) });
  expect((await deck.posts()).at(-1)).toContain("[Continue] [Stop]");
  expect([model.asked, model.ended]).toEqual([1, 1]);
  await deck.choose("continue");
  await deck.work();
  expect(await deck.last()).toMatchObject({ type: "final", text: "at last" });
  expect((await deck.entries()).filter((entry) => isEntry(entry, "paused"))).toHaveLength(1);
});

test("a stop during such a request is a stop", async () => {
  const model = thinking(9);
  const deck = openGuarded({ model, limits: { turn: { ms: 60_000 } }, hands: { clock: systemClock } });
  await deck.say("go");
  const work = deck.work();
  await expect.poll(() => model.asked).toBe(1);
  await deck.say("stop");
  await work;
  expect(await deck.last()).toMatchObject({ type: "final", reason: "stopped" });
  expect((await deck.entries()).some((entry) => isEntry(entry, "paused"))).toBe(false);
});
