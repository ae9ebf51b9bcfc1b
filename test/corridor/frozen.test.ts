import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type Crew, type RoleProcess, crewOf } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { processesWith, uniqueSleep } from "../support/workspace.ts";

/** A worker that stands still for longer than its locks last (a blocked event loop, a paused machine), and then goes on. */

/** As long as the lock of the corridor's tests and two looks for what is stalled. */
const FROZEN_MS = 3_000;

const SLEEP = uniqueSleep();
let slow = 0;
const rules: Rule[] = [
  ...["deposed", "alone", "often", "briefly"].map((word) => ({
    when: new RegExp(`command ${word}`),
    steps: [
      () => bash(`echo ${word} >> fx.txt; ${SLEEP}`),
      () => bash(`echo ${word}-2 >> fx.txt`),
      ({ results }: { results: string[] }) => say(`Results of ${word}: ${results.join(" / ")}`),
    ],
  })),
  { when: /think/, steps: [() => (slow-- > 0 ? { ...say("thought at last"), delayMs: FROZEN_MS / 2 } : say("thought at last"))] },
  { when: /hello/, steps: [() => say("hello back")] },
];

let deck: Corridor;
let crew: Crew;
let worker: RoleProcess;
let channels = 0;

beforeAll(async () => {
  deck = await openCorridor({ rules, start: false });
  crew = crewOf(deck);
  [worker] = await Promise.all([crew.start("worker"), crew.here("gateway")]);
});
afterAll(() => crew.end());

const mention = (text: string): Promise<Said> => deck.mention(text, { channel: `C${++channels}` });
const of = <T extends Entry["type"]>(log: Entry[], type: T): Entry<T>[] => log.filter((entry): entry is Entry<T> => entry.type === type);
const effects = (word: string): string[] =>
  deck.files
    .read("fx.txt")
    .split("\n")
    .filter((line) => line.startsWith(word));

/** Asks for a command that does not end by itself, and waits until it runs. */
async function running(word: string): Promise<Said> {
  const said = await mention(`command ${word}`);
  await until("it runs", () => deck.files.has("fx.txt") && effects(word).length > 0);
  return said;
}

async function freeze(ms: number): Promise<void> {
  process.kill(worker.pid, "SIGSTOP");
  await sleep(ms);
  process.kill(worker.pid, "SIGCONT");
}

/** Nothing twice, and no worker that was deposed has written afterwards. */
async function isAsPromised(said: Said, ...sent: string[]): Promise<Entry[]> {
  expect(breaks(await settled(() => audit(deck, said, sent)))).toEqual([]);
  const log = await said.entries();
  const epochs = log.flatMap(({ epoch }) => (epoch > 0 ? [epoch] : []));
  expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
  return log;
}

test("a worker that is frozen while its command runs is deposed by another one, its runner ends the command; it writes nothing when it comes back, and works on", async () => {
  const said = await running("deposed");
  const runner = worker.runner();
  const other = await crew.start("worker");
  process.kill(worker.pid, "SIGSTOP");
  await until("its command is gone", () => processesWith(SLEEP).length === 0, 30_000);
  expect(worker.runner()).toBe(runner);
  await until("the other has taken over", async () => of(await said.entries(), "run-ended").length === 1, 60_000);
  process.kill(worker.pid, "SIGCONT");
  await said.shows(/Results of deposed: /);
  await other.kill();
  // Whatever it still had to tell of the command came before it could serve.
  await (await mention("hello")).shows(/hello back/);
  const log = await isAsPromised(said, "command deposed");
  expect(of(log, "run-ended").map(({ how }) => how)).toEqual(["interrupted", "exited"]);
  expect(effects("deposed")).toEqual(["deposed", "deposed-2"]);
});

test("one that is alone takes its own lost work up again, once, and keeps one answer of the model, whoever asked", async () => {
  const said = await running("alone");
  slow = 1;
  const before = deck.model.requests.length;
  const thought = await mention("think");
  await until("the model is asked", () => deck.model.requests.length > before);
  await freeze(FROZEN_MS);
  await Promise.all([said.shows(/Results of alone: /), thought.shows(/thought at last/)]);
  // The answer to the first request may still come.
  await sleep(1_000);
  const log = await isAsPromised(said, "command alone");
  expect(of(log, "run-ended").map(({ how }) => how)).toEqual(["interrupted", "exited"]);
  expect(effects("alone")).toEqual(["alone", "alone-2"]);
  // The end of the run that lost its lock does not cost the next one its own, again and again.
  expect(log.at(-1)?.epoch).toBeLessThanOrEqual(3);
  expect(of(await isAsPromised(thought, "think"), "model")).toHaveLength(1);
});

test("one that freezes again and again still comes to an end", async () => {
  const said = await running("often");
  await freeze(FROZEN_MS);
  await sleep(300);
  await freeze(FROZEN_MS);
  await said.shows(/Results of often: /);
  expect(of(await isAsPromised(said, "command often"), "run-started")).toHaveLength(2);
  expect(effects("often").toSorted()).toEqual(["often", "often-2"]);
});

test("one that stands still for less than its lock keeps its command", async () => {
  await worker.kill();
  worker = await crew.start("worker", { DECKHAND_LOCK_MS: "20000" });
  const said = await running("briefly");
  await freeze(FROZEN_MS);
  // By now it has beaten, and its lock was renewed.
  await sleep(1_000);
  expect(processesWith(SLEEP)).not.toEqual([]);
  expect(of(await said.entries(), "run-ended")).toEqual([]);
});
