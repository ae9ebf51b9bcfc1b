import { expect, it } from "vitest";
import { noteSoon, recentlyJudged } from "../../src/core/noting.ts";
import type { Rules } from "../../src/core/rules.ts";
import { memoryLog } from "../../src/memory.ts";
import { systemClock } from "../../src/system.ts";
import { keptTrace, until } from "../support/redis.ts";

const { signal } = new AbortController();

function counted() {
  const log = memoryLog(systemClock);
  const notes = { count: 0 };
  const rules: Rules = {
    ...log.rules,
    note: async (...args) => {
      notes.count += 1;
      await log.rules.note(...args);
    },
  };
  return { hands: { log: { ...log, rules }, clock: systemClock, trace: keptTrace() }, rules, notes };
}

const judged = (...commands: string[]) => ({ commands: commands.map((command) => ({ command, cwd: "/w" })), decided: ["w: ls"] });

it("what is judged within a moment is noted together, with each time that a rule decided", async () => {
  const { hands, rules, notes } = counted();
  noteSoon("w", judged("ls"), hands);
  noteSoon("w", judged("ls -l"), hands);
  expect(notes.count).toBe(0);
  await until("it is noted", async () => notes.count === 1);
  expect((await rules.recent("w")).map(({ command }) => command)).toEqual(["ls -l", "ls"]);
  expect((await rules.hits()).get("w: ls")?.count).toBe(2);
});

it("who asks for what was judged last has it, though it was not noted yet", async () => {
  const { hands } = counted();
  noteSoon("w", judged("ls"), hands);
  noteSoon("other", judged("pwd"), hands);
  expect(await recentlyJudged("w", hands, signal)).toEqual([{ command: "ls", cwd: "/w" }]);
});
