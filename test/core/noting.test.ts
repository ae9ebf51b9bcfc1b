import { expect, it } from "vitest";
import { notedTogether } from "../../src/core/noting.ts";
import type { Rules } from "../../src/core/rules.ts";
import { memoryLog } from "../../src/memory.ts";
import { systemClock } from "../../src/system.ts";

function counted(failure?: Error) {
  const { rules } = memoryLog(systemClock);
  const notes = { count: 0 };
  const slow: Rules = {
    ...rules,
    async note(...args) {
      notes.count += 1;
      if (failure) throw failure;
      await rules.note(...args);
    },
  };
  return { rules: notedTogether(slow, systemClock), notes };
}

const judged = (command: string) => [{ command, cwd: "/w" }];

it("what is judged within a moment is noted together, with each time that a rule decided", async () => {
  const { rules, notes } = counted();
  const both = [rules.note("w", judged("ls"), ["w: ls"], 1), rules.note("w", judged("ls -l"), ["w: ls"], 2)];
  expect(notes.count).toBe(0);
  await Promise.all(both);
  expect(notes.count).toBe(1);
  expect((await rules.recent("w")).map(({ command }) => command)).toEqual(["ls -l", "ls"]);
  expect((await rules.hits()).get("w: ls")?.count).toBe(2);
});

it("who asks for what was judged last has it, though it was not noted yet", async () => {
  const { rules, notes } = counted();
  const both = [rules.note("w", judged("ls"), [], 1), rules.note("other", judged("pwd"), [], 1)];
  expect(await rules.recent("w")).toEqual(judged("ls"));
  expect(notes.count).toBe(1);
  await Promise.all(both);
});

it("all whose words could not be noted are told", async () => {
  const { rules } = counted(new Error("away"));
  const both = [rules.note("w", judged("ls"), [], 1), rules.note("w", judged("pwd"), [], 1)];
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
