import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type CorridorOptions, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { processesWith, uniqueSleep } from "../support/workspace.ts";

/** What SIGTERM does to a process at each point of its work: nothing is lost, nothing runs twice, nobody waits in vain. */

const SLEEP = uniqueSleep();
const LONG = { DECKHAND_GRACE_MS: "20000" };

/** The first so many requests are answered only in a minute; nobody waits for that. */
let slow = 0;
const rules: Rule[] = [
  { when: /think/, steps: [() => (slow-- > 0 ? { ...say("too late"), delayMs: 60_000 } : say("thought about it"))] },
  { when: /second/, steps: [() => bash("echo second >> fx.txt"), ({ lastResult }) => say(`Second: ${lastResult}`)] },
  { when: /endless/, steps: [() => bash(`echo endless >> fx.txt; ${SLEEP}`), ({ lastResult }) => say(`Result: ${lastResult}`)] },
  { when: /wait for it/, steps: [() => bash("echo waits >> fx.txt; until [ -e go ]; do sleep 0.1; done"), () => say("it came")] },
  { when: /hello/, steps: [() => say("hello back")] },
];

let deck: Corridor;
const roles: RoleProcess[] = [];

async function open(options: Partial<CorridorOptions> = {}): Promise<void> {
  deck = await openCorridor({ rules, start: false, ...options });
}

async function start(role: "gateway" | "worker" | "all"): Promise<RoleProcess> {
  const started = await startRole(deck, role);
  roles.push(started);
  return started;
}

afterEach(async () => {
  for (const role of roles.splice(0)) await role.kill();
  await deck.close();
});

async function has(said: Said, type: Entry["type"]): Promise<void> {
  await until(`${type} is in the log`, async () => (await said.entries()).some((entry) => entry.type === type));
}

const of = <T extends Entry["type"]>(log: Entry[], type: T): Entry<T>[] => log.filter((entry): entry is Entry<T> => entry.type === type);

/** Ends it with SIGTERM; gives the exit code and how long that took. */
async function end(role: RoleProcess): Promise<{ code: string | number | null; ms: number }> {
  const since = performance.now();
  const code = await role.end();
  const ms = Math.round(performance.now() - since);
  console.log(`${expect.getState().currentTestName}: ended after ${ms} ms`);
  return { code, ms };
}

/** What waits may end, once everybody has heard the signal. */
async function letGo(): Promise<void> {
  await sleep(1_500);
  deck.files.write("go", "");
}

async function isAsPromised(said: Said, ...sent: string[]): Promise<void> {
  expect(breaks(await settled(() => audit(deck, said, sent)))).toEqual([]);
}

describe("SIGTERM to a worker", () => {
  test("while the model thinks: the request is given up at once, the next worker asks again, and any number may leave like that", async () => {
    await open({ env: LONG });
    await start("gateway");
    slow = 5;
    const said = await deck.mention("think");
    const redis = new Redis(deck.redis.url);
    for (let asked = 1; asked <= 5; asked += 1) {
      const worker = await start("worker");
      await until("the model is asked", () => deck.model.requests.length === asked);
      const { code, ms } = await end(worker);
      expect(code).toBe(0);
      // It had 20 seconds for commands; none ran.
      expect(ms).toBeLessThan(15_000);
      expect(deck.model.requests.at(-1)?.gone).toBe(true);
      expect(of(await said.entries(), "model")).toEqual([]);
    }
    expect(await redis.hget(`{dh}:c:${said.conversation}`, "takeovers")).toBe("0");
    await redis.quit();
    await start("worker");
    await said.shows(/thought about it/);
    await isAsPromised(said, "think");
    expect(of(await said.entries(), "model")).toHaveLength(1);
  }, 120_000);

  test("while a command runs: it ends as usual, nothing more is begun, others go on meanwhile, and the next worker takes over from there", async () => {
    await open({ env: LONG });
    await start("gateway");
    const worker = await start("worker");
    const said = await deck.mention("wait for it");
    await until("it runs", () => deck.files.has("fx.txt"));
    await start("worker");
    const ended = end(worker);
    const other = await deck.mention("hello", { channel: "C2" });
    await other.shows(/hello back/);
    await letGo();
    expect(await ended).toMatchObject({ code: 0 });
    await said.shows(/it came/);
    await isAsPromised(said, "wait for it");
    const log = await said.entries();
    expect(of(log, "run-ended")).toMatchObject([{ how: "exited", exit: 0 }]);
    const [run, answer] = [of(log, "run-ended")[0], of(log, "model")[1]];
    expect(answer?.epoch).toBeGreaterThan(run?.epoch ?? 0);
    expect(said.posts().some(({ text }) => /nterrupted/.test(text))).toBe(false);
  }, 120_000);

  test("while a command runs for longer than the grace: it is ended, which is told, and it is not run again", async () => {
    await open({ env: { DECKHAND_GRACE_MS: "1000" } });
    await start("gateway");
    const worker = await start("worker");
    const said = await deck.mention("endless");
    await until("it runs", () => deck.files.has("fx.txt"));
    expect(await end(worker)).toMatchObject({ code: 0 });
    expect(processesWith(SLEEP)).toEqual([]);
    expect((await said.entries()).at(-1)).toMatchObject({ type: "run-ended", how: "interrupted", why: "restart" });
    await said.shows(/^ *\| \$ echo endless[^]*Interrupted by a restart of Deckhand after \d\.\d s\. .*it was not run again\./);
    await start("worker");
    await said.shows(/Result: .*interrupted by a restart of Deckhand.*not known how far this command came/s);
    await isAsPromised(said, "endless");
    expect(deck.files.read("fx.txt")).toBe("endless\n");
  }, 120_000);

  test("while a command waits for the workspace: nothing is said of it, and the next worker runs it", async () => {
    await open({ env: LONG });
    await start("gateway");
    const worker = await start("worker");
    const first = await deck.mention("wait for it");
    await until("the first runs", () => deck.files.has("fx.txt"));
    const second = await deck.mention("second", { channel: "C2" });
    await has(second, "judged");
    await sleep(200);
    const ended = end(worker);
    await letGo();
    expect(await ended).toMatchObject({ code: 0 });
    expect((await second.entries()).at(-1)?.type).toBe("judged");
    expect(of(await first.entries(), "run-ended")).toMatchObject([{ how: "exited" }]);
    expect(deck.files.read("fx.txt")).toBe("waits\n");
    await start("worker");
    await Promise.all([first.shows(/it came/), second.shows(/Second: /)]);
    await isAsPromised(first, "wait for it");
    await isAsPromised(second, "second");
  }, 120_000);

  test("and SIGKILL before it has ended: the command may have run, and is not run again", async () => {
    await open({ env: LONG });
    await start("gateway");
    const worker = await start("worker");
    const said = await deck.mention("endless");
    await until("it runs", () => deck.files.has("fx.txt"));
    const gone = worker.end();
    await sleep(500);
    await worker.kill();
    await gone;
    await until("its command is gone", () => processesWith(SLEEP).length === 0);
    await start("worker");
    await said.shows(/Result: .*not known how far this command came/s);
    await isAsPromised(said, "endless");
    expect(of(await said.entries(), "run-ended")).toMatchObject([{ how: "interrupted" }]);
    expect(deck.files.read("fx.txt")).toBe("endless\n");
  }, 120_000);

  test.each(["SIGTERM", "SIGINT"] as const)(
    "and a second signal (%s): it ends at once, and its command with it",
    async (second) => {
      await open({ env: LONG });
      await start("gateway");
      const worker = await start("worker");
      const said = await deck.mention("endless");
      await until("it runs", () => deck.files.has("fx.txt"));
      const gone = worker.end();
      await sleep(500);
      const since = performance.now();
      process.kill(worker.pid, second);
      await gone;
      expect(performance.now() - since).toBeLessThan(5_000);
      await until("its command is gone", () => processesWith(SLEEP).length === 0);
      await start("worker");
      await said.shows(/Result: .*not known how far this command came/s);
    },
    120_000,
  );
});

describe("SIGTERM to a gateway", () => {
  test("lets a post under way end, which is not sent again", async () => {
    await open();
    const gateway = await start("gateway");
    await start("worker");
    deck.twin.fault({ method: "chat.postMessage", delayMs: 1_500, within: "hello back" });
    const said = await deck.mention("hello");
    await has(said, "final");
    await sleep(500);
    expect(await end(gateway)).toMatchObject({ code: 0 });
    expect(said.posts().filter(({ text }) => text === "hello back")).toHaveLength(1);
    await start("gateway");
    await isAsPromised(said, "hello");
  }, 120_000);

  test("acknowledges nothing that it did not keep: the next gateway hears it", async () => {
    await open({ twin: { retryDelaysMs: [500, 1_000, 2_000, 4_000] } });
    const gateway = await start("gateway");
    await start("worker");
    const saids = Array.from({ length: 12 }, (_, index) => deck.mention("hello", { channel: `C${index + 1}` }));
    await end(gateway);
    saids.push(...Array.from({ length: 12 }, (_, index) => deck.mention("hello", { channel: `C${index + 13}` })));
    await start("gateway");
    for (const said of await Promise.all(saids)) await isAsPromised(said, "hello");
  }, 120_000);
});

test("SIGTERM to a process that does all: people still read how its command ended", async () => {
  await open({ env: LONG });
  const all = await start("all");
  const said = await deck.mention("wait for it");
  await until("it runs", () => deck.files.has("fx.txt"));
  const ended = end(all);
  await letGo();
  expect(await ended).toMatchObject({ code: 0 });
  expect(said.posts().some(({ text }) => /\| \$ echo waits[^]*exit 0 · /.test(text))).toBe(true);
  await start("all");
  await said.shows(/it came/);
  await isAsPromised(said, "wait for it");
}, 120_000);
