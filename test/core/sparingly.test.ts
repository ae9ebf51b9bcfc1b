import { expect, test } from "vitest";
import type { Clock } from "../../src/core/ports.ts";
import { sparingly } from "../../src/core/sparingly.ts";

/** A clock whose sleeps end when the test says so, or when their signal aborts. */
function handClock(): Clock & { pass(): Promise<void> } {
  let sleeping: (() => void)[] = [];
  return {
    now: () => 0,
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        sleeping.push(resolve);
        signal?.addEventListener("abort", () => resolve());
      }),
    async pass() {
      for (const wake of sleeping.splice(0)) wake();
      sleeping = [];
      await settled();
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function bench() {
  const rings: string[] = [];
  const clock = handClock();
  const hurry = new AbortController();
  const rung = sparingly((conversation) => rings.push(conversation), 100, clock, hurry.signal);
  return { rings, clock, hurry, appended: (conversation: string, urgent = false) => rung(conversation, urgent) };
}

test("the first ring goes at once, those that follow soon become one, and each conversation has its own", async () => {
  const { rings, clock, appended } = bench();
  for (const conversation of ["a", "a", "b", "a"]) appended(conversation);
  expect(rings).toEqual(["a", "b"]);
  await clock.pass();
  expect(rings).toEqual(["a", "b", "a"]);
  await clock.pass();
  expect(rings).toEqual(["a", "b", "a"]);
  appended("b");
  expect(rings).toEqual(["a", "b", "a", "b"]);
});

test("what is urgent does not wait, and takes along what did", async () => {
  const { rings, clock, appended } = bench();
  for (const urgent of [false, false, true, true]) appended("a", urgent);
  expect(rings).toEqual(["a", "a", "a"]);
  await clock.pass();
  expect(rings).toEqual(["a", "a", "a"]);
});

test("whoever stops rings at once for what still waits, and for all that comes after it", async () => {
  const { rings, hurry, appended } = bench();
  for (const conversation of ["a", "a"]) appended(conversation);
  hurry.abort();
  await settled();
  expect(rings).toEqual(["a", "a"]);
  for (const conversation of ["a", "a"]) appended(conversation);
  expect(rings).toEqual(["a", "a", "a", "a"]);
});
