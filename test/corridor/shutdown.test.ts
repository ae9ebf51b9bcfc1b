import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type Crew, type RoleProcess, crewOf } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { processesWith, uniqueSleep } from "../support/workspace.ts";

/** What SIGTERM does to a process at each point of its work: nothing is lost, nothing runs twice, nobody waits in vain. */

const SLEEP = uniqueSleep();
const LONG = { DECKHAND_GRACE_MS: "20000" };
const SHORT = { DECKHAND_GRACE_MS: "1000" };

/** The first so many requests are answered only in a minute; nobody waits for that. */
let slow = 0;
const rules: Rule[] = [
  { when: /think/, steps: [() => (slow-- > 0 ? { ...say("too late"), delayMs: 60_000 } : say("thought about it"))] },
  { when: /second/, steps: [() => bash("echo second >> fx.txt"), ({ lastResult }) => say(`Second: ${lastResult}`)] },
  ...["grace", "kill", "twice"].map((word) => ({
    when: new RegExp(`endless ${word}`),
    steps: [
      () => bash(`echo ${word} >> fx.txt; ${SLEEP}`),
      ({ lastResult }: { lastResult: string }) => say(`Result of ${word}: ${lastResult}`),
    ],
  })),
  { when: /wait for it/, steps: [() => bash("echo waits >> fx.txt; until [ -e go ]; do sleep 0.1; done"), () => say("it came")] },
  { when: /hello/, steps: [() => say("hello back")] },
];

async function has(said: Said, type: Entry["type"]): Promise<void> {
  await until(`${type} is in the log`, async () => (await said.entries()).some((entry) => entry.type === type));
}

async function runs(deck: Corridor, word: string): Promise<void> {
  await until(`${word} runs`, () => deck.files.has("fx.txt") && deck.files.read("fx.txt").split("\n").includes(word));
}

const of = <T extends Entry["type"]>(log: Entry[], type: T): Entry<T>[] => log.filter((entry): entry is Entry<T> => entry.type === type);

/** Until the first SIGTERM has come to its handler: from then on it catches none, and a second one ends it. */
async function heard({ pid }: RoleProcess): Promise<void> {
  const catches = (): boolean => {
    const caught = /^SigCgt:\s+(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${caught}`) & (1n << BigInt(constants.signals.SIGTERM - 1))) > 0n;
  };
  await until("the signal is heard", () => !catches());
}

async function isAsPromised(deck: Corridor, said: Said, ...sent: string[]): Promise<void> {
  expect(breaks(await settled(() => audit(deck, said, sent)))).toEqual([]);
}

describe("SIGTERM to a worker", () => {
  let deck: Corridor;
  let crew: Crew;
  /** What the test before has left for the next one: it serves, and has nothing to do. */
  let spare: { process: RoleProcess; env: object } | null = null;
  let channels = 0;

  beforeAll(async () => {
    deck = await openCorridor({ rules, start: false, env: LONG });
    crew = crewOf(deck);
    await crew.here("gateway");
  });
  afterAll(() => crew.end());

  const mention = (text: string): Promise<Said> => deck.mention(text, { channel: `C${++channels}` });

  async function next(env = LONG): Promise<void> {
    spare = { process: await crew.start("worker", env), env };
  }
  async function worker(env = LONG): Promise<RoleProcess> {
    if (spare?.env !== env) await spare?.process.kill();
    if (spare?.env !== env) await next(env);
    const taken = (spare as NonNullable<typeof spare>).process;
    spare = null;
    return taken;
  }

  test("while the model thinks: the request is given up at once, the next worker asks again, and that counts as no try", async () => {
    slow = 1;
    const before = deck.model.requests.length;
    const said = await mention("think");
    const leaving = await worker();
    await until("the model is asked", () => deck.model.requests.length > before);
    const since = performance.now();
    expect(await leaving.end()).toBe(0);
    // It had 20 seconds for commands; none ran.
    expect(performance.now() - since).toBeLessThan(15_000);
    expect(deck.model.requests[before]?.gone).toBe(true);
    expect(of(await said.entries(), "model")).toEqual([]);
    const redis = new Redis(deck.redis.url);
    expect(await redis.hget(`{dh}:c:${said.conversation}`, "takeovers")).toBe("0");
    await redis.quit();
    await next();
    await said.shows(/thought about it/);
    await isAsPromised(deck, said, "think");
    expect(of(await said.entries(), "model")).toHaveLength(1);
  });

  test("while a command runs and another one waits for the workspace: the first ends as usual, nothing is said of the second, others go on meanwhile, and the next worker takes over from there", async () => {
    const leaving = await worker();
    const first = await mention("wait for it");
    await runs(deck, "waits");
    const second = await mention("second");
    await has(second, "judged");
    const ended = leaving.end();
    await heard(leaving);
    await next(SHORT);
    const other = await mention("hello");
    await other.shows(/hello back/);
    deck.files.write("go", "");
    expect(await ended).toBe(0);
    await Promise.all([first.shows(/it came/), second.shows(/Second: /)]);
    await isAsPromised(deck, first, "wait for it");
    await isAsPromised(deck, second, "second");
    const logs = await Promise.all([first.entries(), second.entries()]);
    for (const log of logs) expect(of(log, "run-ended")).toMatchObject([{ how: "exited", exit: 0 }]);
    const [run, answer] = [of(logs[0], "run-ended")[0], of(logs[0], "model")[1]];
    expect(answer?.epoch).toBeGreaterThan(run?.epoch ?? 0);
    const [judged, start] = [of(logs[1], "judged")[0], of(logs[1], "run-started")[0]];
    expect(start?.epoch).toBeGreaterThan(judged?.epoch ?? 0);
    expect([first, second].flatMap((said) => said.posts()).some(({ text }) => /nterrupted/.test(text))).toBe(false);
  });

  test("while a command runs for longer than the grace: it is ended, which is told, and it is not run again", async () => {
    const leaving = await worker(SHORT);
    const said = await mention("endless grace");
    await runs(deck, "grace");
    expect(await leaving.end()).toBe(0);
    expect(processesWith(SLEEP)).toEqual([]);
    expect((await said.entries()).at(-1)).toMatchObject({ type: "run-ended", how: "interrupted", why: "restart" });
    await said.shows(/^ *\| \$ echo grace[^]*Interrupted by a restart of Deckhand after \d\.\d s\. .*it was not run again\./);
    await next();
    await said.shows(/Result of grace: .*interrupted by a restart of Deckhand.*not known how far this command came/s);
    await isAsPromised(deck, said, "endless grace");
  });

  test("and SIGKILL before it has ended: the command may have run, and is not run again", async () => {
    const leaving = await worker();
    const said = await mention("endless kill");
    await runs(deck, "kill");
    const gone = leaving.end();
    await heard(leaving);
    await leaving.kill();
    expect(await gone).toBe("SIGKILL");
    await until("its command is gone", () => processesWith(SLEEP).length === 0);
    await next();
    await said.shows(/Result of kill: .*not known how far this command came/s);
    await isAsPromised(deck, said, "endless kill");
    expect(of(await said.entries(), "run-ended")).toMatchObject([{ how: "interrupted" }]);
  });

  test("and a second signal: it ends at once, and its command with it", async () => {
    const leaving = await worker();
    const said = await mention("endless twice");
    await has(said, "run-started");
    const gone = leaving.end();
    await heard(leaving);
    process.kill(leaving.pid, "SIGINT");
    expect(await gone).toBe("SIGINT");
    await until("its command is gone", () => processesWith(SLEEP).length === 0);
  });
});

test("SIGTERM to a gateway lets a post under way end, which is not sent again, and acknowledges nothing that it did not keep: the next gateway hears it", async () => {
  const deck = await openCorridor({ rules, start: false, twin: { retryDelaysMs: [500, 1_000, 2_000, 4_000, 8_000, 16_000] } });
  const crew = crewOf(deck);
  let channels = 0;
  const hello = (): Promise<Said> => deck.mention("hello", { channel: `C${++channels}` });
  const some = (): Promise<Said>[] => Array.from({ length: 4 }, hello);
  try {
    const [gateway] = await Promise.all([crew.start("gateway"), crew.here("worker")]);
    deck.twin.fault({ method: "chat.postMessage", delayMs: 2_000, within: "back" });
    const first = await hello();
    await has(first, "final");
    // The status is there, and one more is on its way.
    await until("it is being posted", () => first.posts().length === 1 && deck.twin.calls("chat.postMessage").length === 2);
    const saids = some();
    const ended = gateway.end();
    saids.push(...some());
    expect(await ended).toBe(0);
    const answers = (): number => first.posts().filter(({ text }) => text === "hello back").length;
    expect(answers()).toBe(1);
    saids.push(...some());
    await crew.here("gateway");
    for (const said of await Promise.all(saids)) await isAsPromised(deck, said, "hello");
    await isAsPromised(deck, first, "hello");
    expect(answers()).toBe(1);
  } finally {
    await crew.end();
  }
});

test("SIGTERM to a process that does all: people still read how its command ended", async () => {
  const deck = await openCorridor({ platform: "discord", rules, start: false, env: LONG });
  const crew = crewOf(deck);
  try {
    const all = await crew.start("all");
    const said = await deck.mention("wait for it");
    await runs(deck, "waits");
    const ended = all.end();
    await heard(all);
    deck.files.write("go", "");
    expect(await ended).toBe(0);
    expect(said.posts().some(({ text }) => /\| \$ echo waits[^]*exit 0 · /.test(text))).toBe(true);
    await crew.here("all");
    await said.shows(/it came/);
    await isAsPromised(deck, said, "wait for it");
  } finally {
    await crew.end();
  }
});
