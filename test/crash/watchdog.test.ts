import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, parentOf, startRole } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { processesWith } from "../support/workspace.ts";

/** A worker that stands still for longer than its lock has lost its conversations: its runner ends its commands. */

const LONG = "sleep 1173";
const rules = [
  { when: /long$/, steps: [() => bash(`echo begun >> fx.txt; ${LONG}`), () => say("went on")] },
  { when: /short$/, steps: [() => bash("echo short"), () => say("served")] },
];

let deck: Corridor;
const running: RoleProcess[] = [];

async function start(role: "gateway" | "worker"): Promise<RoleProcess> {
  const started = await startRole(deck, role);
  running.push(started);
  return started;
}

afterEach(async () => {
  for (const role of running.splice(0)) await role.kill();
  await deck.close();
});

test("a stopped worker's command is ended, another worker goes on, and the first one, awake again, adds nothing and serves on", async () => {
  deck = await openCorridor({ rules, start: false });
  const [, first] = await Promise.all([start("gateway"), start("worker")]);
  const said = await deck.mention("long");
  await until("the command runs", () => deck.files.has("fx.txt"), 60_000);
  const runner = processesWith("runner-main.ts").find((pid) => parentOf(pid) === first?.pid) as number;
  const second = await start("worker");
  process.kill(first?.pid as number, "SIGSTOP");
  await until("the command is gone", () => processesWith(LONG).length === 0, 30_000);
  expect(processesWith("runner-main.ts")).toContain(runner);
  await said.shows(/went on/, 60_000);
  const before = await said.entries();
  process.kill(first?.pid as number, "SIGCONT");
  await second.kill();
  const next = await deck.mention("short");
  await next.shows(/served/, 60_000);
  // Whatever the first one still had to tell of the command came before it could serve.
  expect(await said.entries()).toEqual(before);
  expect(before.filter(({ type }) => type === "run-ended")).toMatchObject([{ how: "interrupted" }]);
  expect(deck.files.read("fx.txt")).toBe("begun\n");
}, 180_000);

test("a worker that stands still for less than its lock keeps its command", async () => {
  deck = await openCorridor({ rules, start: false, env: { DECKHAND_LOCK_MS: "20000" } });
  const [, worker] = await Promise.all([start("gateway"), start("worker")]);
  await deck.mention("long");
  await until("the command runs", () => deck.files.has("fx.txt"), 60_000);
  process.kill(worker?.pid as number, "SIGSTOP");
  await sleep(3_000);
  process.kill(worker?.pid as number, "SIGCONT");
  await sleep(1_000);
  expect(processesWith(LONG).length).toBeGreaterThan(0);
}, 120_000);
