import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NOTHING } from "../../src/core/spending.ts";
import { LOGS, type LogDoor } from "./log-doors.ts";

describe.each(LOGS)("what a day took, in the %s log", (_name, open) => {
  let door: LogDoor;
  beforeAll(async () => {
    door = await open();
  });
  afterAll(() => door.close());

  let days = 0;
  const newDay = (): string => `2026-11-${String((days += 1)).padStart(2, "0")}`;

  test("is the sum over all requests, of each what it was booked with last", async () => {
    const day = newDay();
    expect(await door.log.spend(day, "a", { tokens: 1_000, cost: null })).toEqual({ tokens: 1_000, cost: null });
    expect(await door.log.spend(day, "b", { tokens: 500, cost: 70 })).toEqual({ tokens: 1_500, cost: 70 });
    expect(await door.log.spend(day, "a", { tokens: 1_200, cost: 30 })).toEqual({ tokens: 1_700, cost: 100 });
    expect(await door.log.spend(day, "b", NOTHING)).toEqual({ tokens: 1_200, cost: 30 });
  });

  test("counts an act that is repeated once, and a look changes nothing", async () => {
    const day = newDay();
    for (let times = 0; times < 3; times += 1) await door.log.spend(day, "a", { tokens: 10, cost: 5 });
    expect(await door.log.spend(day, "look", NOTHING)).toEqual({ tokens: 10, cost: 5 });
  });

  test("is of that day alone", async () => {
    await door.log.spend(newDay(), "a", { tokens: 10, cost: 5 });
    expect(await door.log.spend(newDay(), "a2", NOTHING)).toEqual(NOTHING);
  });

  test("is right when many book at once", async () => {
    const day = newDay();
    await Promise.all(Array.from({ length: 50 }, (_, n) => door.log.spend(day, `r${n}`, { tokens: 2_000_000, cost: 3 })));
    await Promise.all(Array.from({ length: 50 }, (_, n) => door.log.spend(day, `r${n}`, { tokens: n, cost: 1 })));
    expect(await door.log.spend(day, "look", NOTHING)).toEqual({ tokens: 1_225, cost: 50 });
  });

  test("stays a sum whatever a request is booked with", async () => {
    const day = newDay();
    await door.log.spend(day, "a", { tokens: 100, cost: 1 });
    const odd = [1e308, 1e19, 1e17, -1e9, -1e308, Number.NaN, Number.POSITIVE_INFINITY];
    for (const [nth, figure] of odd.entries()) {
      const { tokens, cost } = await door.log.spend(day, `odd${nth}`, { tokens: figure, cost: figure });
      expect([tokens, cost].every((sum) => Number.isSafeInteger(sum) && Number(sum) >= 1)).toBe(true);
    }
    for (const nth of odd.keys()) await door.log.spend(day, `odd${nth}`, NOTHING);
    expect(await door.log.spend(day, "b", { tokens: 1.5, cost: 0.4 })).toEqual({ tokens: 101, cost: 1 });
  });
});
