import { expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { knownEntries } from "../../src/core/known.ts";

/** A log that can be read, and what was read of it: after which entry. */
function readable() {
  const logs = new Map<string, Entry[]>();
  const asked: number[] = [];
  return {
    asked,
    write(thread: string, texts: string[], at = 1) {
      const log = logs.get(thread) ?? [];
      logs.set(thread, log);
      for (const text of texts) log.push({ v: 1, seq: log.length + 1, at, epoch: 0, type: "failed", code: "x", text, answers: [] });
    },
    lose: (thread: string, from: number) => logs.get(thread)?.splice(from - 1),
    log: (thread: string) => logs.get(thread),
    read: async (thread: string, after: number) => {
      asked.push(after);
      return structuredClone((logs.get(thread) ?? []).slice(after));
    },
  };
}

test("of a thread that was read only the end is read again, and what it gives is the whole log", async () => {
  const { asked, write, log, read } = readable();
  const { entriesOf } = knownEntries({ read });
  write("a", ["one", "two"]);
  expect(await entriesOf("a")).toEqual(log("a"));
  write("a", ["three"]);
  const [first] = await entriesOf("a");
  expect(await entriesOf("a")).toEqual(log("a"));
  expect((await entriesOf("a"))[0]).toBe(first);
  expect(asked).toEqual([0, 1, 2, 2]);
});

test("a log whose end was lost and written anew is read anew", async () => {
  const { write, lose, log, read } = readable();
  const { entriesOf } = knownEntries({ read });
  write("a", ["one", "two", "three"]);
  await entriesOf("a");
  lose("a", 2);
  expect(await entriesOf("a")).toEqual(log("a"));
  write("a", ["another two"], 2);
  await entriesOf("a");
  lose("a", 2);
  write("a", ["a third two", "three"], 3);
  expect(await entriesOf("a")).toEqual(log("a"));
});

test("what was read longest ago is forgotten when there is too much, and read anew", async () => {
  const { asked, write, log, read } = readable();
  const { entriesOf } = knownEntries({ read }, 300);
  for (const thread of ["a", "b", "c"]) write(thread, ["x".repeat(50)]);
  for (const thread of ["a", "b", "a", "c"]) await entriesOf(thread);
  asked.length = 0;
  expect(await entriesOf("a")).toEqual(log("a"));
  expect(await entriesOf("b")).toEqual(log("b"));
  expect(asked).toEqual([0, 0]);
});

test("one that is forgotten while its end is read counts with all of it", async () => {
  const { asked, write, read } = readable();
  const goOn = Promise.withResolvers<void>();
  let slow = false;
  const slowly: typeof read = async (thread, after) => {
    if (slow && thread === "a") await goOn.promise;
    return await read(thread, after);
  };
  const { entriesOf } = knownEntries({ read: slowly }, 400);
  for (const thread of ["a", "b", "c"]) write(thread, ["x".repeat(10), "y".repeat(10)]);
  await entriesOf("a");
  slow = true;
  const late = entriesOf("a");
  for (const thread of ["b", "c"]) await entriesOf(thread);
  goOn.resolve();
  await late;
  asked.length = 0;
  // There is room for two.
  for (const thread of ["a", "c", "b"]) await entriesOf(thread);
  expect(asked).toEqual([1, 1, 0]);
});

test("a request that was among what was read is known, by its id and its thread", async () => {
  const opened = { v: 1, seq: 1, at: 1, epoch: 0, type: "opened", platform: "slack", thread: "a", channel: "slack:C1", workspace: "w" };
  const asked = { v: 1, seq: 2, at: 1, epoch: 1, type: "approval-asked", approval: "ap1" };
  const { entriesOf, requestOf } = knownEntries({ read: async () => [opened, asked] as Entry[] });
  expect(requestOf("ap1", "a")).toBeNull();
  await entriesOf("a");
  expect(requestOf("ap1", "a")).toEqual({ conversation: "a", workspace: "w", channel: "slack:C1", asked });
  expect([requestOf("ap2", "a"), requestOf("ap1", "b")]).toEqual([null, null]);
});
