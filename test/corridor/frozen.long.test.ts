import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { until } from "../support/redis.ts";

/** A worker that stands still for longer than its locks last (a blocked event loop, a paused machine), and then goes on. */

/** Longer than lock and stalled check of the corridor's tests together. */
const FROZEN_MS = 4_000;

let slow = 0;
const rules: Rule[] = [
  {
    when: /command/,
    steps: [
      // It does not end by itself.
      () => bash("echo one >> fx.txt; until [ -e go ]; do sleep 0.1; done"),
      () => bash("echo two >> fx.txt"),
      ({ results }) => say(`Results: ${results.join(" / ")}`),
    ],
  },
  { when: /think/, steps: [() => (slow-- > 0 ? { ...say("thought at last"), delayMs: FROZEN_MS / 2 } : say("thought at last"))] },
  { when: /hello/, steps: [() => say("hello back")] },
];

let deck: Corridor;
const roles: RoleProcess[] = [];

async function start(role: "gateway" | "worker"): Promise<RoleProcess> {
  const started = await startRole(deck, role);
  roles.push(started);
  return started;
}

afterEach(async () => {
  for (const role of roles.splice(0)) await role.kill();
  await deck.close();
});

const of = <T extends Entry["type"]>(log: Entry[], type: T): Entry<T>[] => log.filter((entry): entry is Entry<T> => entry.type === type);

/** Nothing twice, and no worker that was deposed has written afterwards. */
async function isAsPromised(said: Said, ...sent: string[]): Promise<Entry[]> {
  expect(breaks(await settled(() => audit(deck, said, sent)))).toEqual([]);
  const log = await said.entries();
  const epochs = log.flatMap(({ epoch }) => (epoch > 0 ? [epoch] : []));
  expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
  return log;
}

async function open(): Promise<RoleProcess> {
  deck = await openCorridor({ rules, start: false });
  await start("gateway");
  return await start("worker");
}

describe("a worker that is frozen while its command runs", () => {
  test("is deposed by another one; it writes nothing when it comes back, and works on", async () => {
    const worker = await open();
    const said = await deck.mention("command");
    await until("it runs", () => deck.files.has("fx.txt"));
    const other = await start("worker");
    process.kill(worker.pid, "SIGSTOP");
    await until("the other has taken over", async () => of(await said.entries(), "run-ended").length === 1, 60_000);
    process.kill(worker.pid, "SIGCONT");
    await said.shows(/Results: /, 60_000);
    await sleep(1_000);
    const log = await isAsPromised(said, "command");
    expect(of(log, "run-ended").map(({ how }) => how)).toEqual(["interrupted", "exited"]);
    expect(deck.files.read("fx.txt")).toBe("one\ntwo\n");
    await other.kill();
    await (await deck.mention("hello", { channel: "C2" })).shows(/hello back/);
  }, 150_000);

  test("takes its own lost work up again when it is alone, once", async () => {
    const worker = await open();
    const said = await deck.mention("command");
    await until("it runs", () => deck.files.has("fx.txt"));
    process.kill(worker.pid, "SIGSTOP");
    await sleep(FROZEN_MS);
    process.kill(worker.pid, "SIGCONT");
    await said.shows(/Results: /, 60_000);
    const log = await isAsPromised(said, "command");
    expect(of(log, "run-ended").map(({ how }) => how)).toEqual(["interrupted", "exited"]);
    expect(deck.files.read("fx.txt")).toBe("one\ntwo\n");
    // The end of the run that lost its lock does not cost the next one its own, again and again.
    expect(log.at(-1)?.epoch).toBeLessThanOrEqual(3);
  }, 150_000);
});

test("a worker that is frozen while the model thinks keeps one answer, whoever asked", async () => {
  const worker = await open();
  slow = 1;
  const said = await deck.mention("think");
  await until("the model is asked", () => deck.model.requests.length === 1);
  process.kill(worker.pid, "SIGSTOP");
  await sleep(FROZEN_MS);
  process.kill(worker.pid, "SIGCONT");
  await said.shows(/thought at last/);
  await sleep(1_000);
  expect(of(await isAsPromised(said, "think"), "model")).toHaveLength(1);
}, 150_000);

test("a worker that freezes again and again still comes to an end", async () => {
  const worker = await open();
  const said = await deck.mention("command");
  await until("it runs", () => deck.files.has("fx.txt"));
  for (let times = 0; times < 2; times += 1) {
    process.kill(worker.pid, "SIGSTOP");
    await sleep(FROZEN_MS);
    process.kill(worker.pid, "SIGCONT");
    await sleep(300);
  }
  await said.shows(/Results: /, 60_000);
  const log = await isAsPromised(said, "command");
  expect(of(log, "run-started")).toHaveLength(2);
  expect(deck.files.read("fx.txt").split("\n").sort()).toEqual(["", "one", "two"]);
}, 150_000);
