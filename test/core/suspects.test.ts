import { expect, test } from "vitest";
import { ownTurn } from "../../src/core/suspects.ts";
import { LIMITS } from "../../src/limits.ts";

/** A clock whose sleepers are woken by hand. */
function handClock() {
  const sleepers: { ms: number; wake: () => void }[] = [];
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    sleepers.push({ ms, wake: resolve });
    if (signal?.aborted) resolve();
    signal?.addEventListener("abort", () => resolve());
    await promise;
  };
  return { sleepers, clock: { now: () => 0, sleep } };
}

/** Asks for a turn and notes when it has come. */
function asking(clock: { now: () => number; sleep: (ms: number, signal?: AbortSignal) => Promise<void> }, signal: AbortSignal) {
  const asked = { turn: null as (() => void) | null };
  void ownTurn(clock, signal).then((end) => (asked.turn = end));
  return asked;
}

const settle = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;

test("suspects come one after the other, each when the one before has got on", async () => {
  const { clock } = handClock();
  const [first, second] = [asking(clock, never), asking(clock, never)];
  await settle();
  expect([first.turn, second.turn]).toEqual([expect.any(Function), null]);
  first.turn?.();
  await settle();
  expect(second.turn).toEqual(expect.any(Function));
  second.turn?.();
});

test("one that neither gets on nor dies keeps the next ones only for a while", async () => {
  const { clock, sleepers } = handClock();
  const [, second] = [asking(clock, never), asking(clock, never)];
  await settle();
  expect(sleepers.map(({ ms }) => ms)).toEqual([LIMITS.suspectTime]);
  sleepers[0]?.wake();
  await settle();
  expect(second.turn).toEqual(expect.any(Function));
  second.turn?.();
});

test("who is told to let go waits no longer, and keeps nobody", async () => {
  const { clock } = handClock();
  const end = new AbortController();
  const [first, second, third] = [asking(clock, never), asking(clock, end.signal), asking(clock, never)];
  end.abort();
  await settle();
  expect([second.turn, third.turn]).toEqual([expect.any(Function), null]);
  first.turn?.();
  await settle();
  expect(third.turn).toEqual(expect.any(Function));
  third.turn?.();
});
