import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { type Corridor, type Said, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { type Deaf, deafProxy } from "../support/deaf.ts";
import { until } from "../support/redis.ts";
import { PLATFORMS } from "../support/stage.ts";
import { processesWith, uniqueSleep } from "../support/workspace.ts";

/** A stop works within a second in every state of a conversation, by the word and by the button. */

const SLEEP = uniqueSleep();
const WAYS = ["the word", "the button"] as const;
type Way = (typeof WAYS)[number];

const rules: Rule[] = [
  { when: /think/, steps: [() => ({ ...say("never said"), delayMs: 60_000 })] },
  { when: /again and again/, steps: [() => ({ status: 503, headers: { "retry-after": "30" } }), () => say("never said")] },
  { when: /sleep/, steps: [() => bash(SLEEP), () => say("never said")] },
  { when: /hold/, steps: [() => bash(`echo held >> held.txt; ${SLEEP}`), () => say("never said")] },
  { when: /wait/, steps: [() => bash("echo waited >> waited.txt"), () => say("never said")] },
  { when: /remove/, steps: [() => bash("rm -f old"), () => say("never said")] },
  { when: /hello/, steps: [() => say("hello back")] },
];

/** Milliseconds from each stop to the end of the work. */
const figures: Record<string, number[]> = {};

async function stopBy(deck: Corridor, said: Said, way: Way): Promise<void> {
  const { channel, root } = said;
  if (way === "the word") return void (await deck.say("stop", { channel, thread: root, user: "U2" }));
  const { ts } = await said.shows(/\[ Stop \]/);
  await deck.stage.press({ channel, root, ts, action: "stop", user: "U2" });
}

/** What the work has come to; says how long that took. */
async function stopped(said: Said, what: string): Promise<Entry[]> {
  await said.shows(/^Stopped by Bob\. /);
  await said.shows(/^Stopped · \d commands? · /);
  const log = await said.entries();
  const at = (type: Entry["type"]): number => log.find((entry) => entry.type === type)?.at ?? Number.NaN;
  const ms = at("final") - at("stop");
  (figures[what] ??= []).push(ms);
  expect(ms).toBeLessThan(3_000);
  expect(log.filter((entry) => entry.type === "final")).toMatchObject([{ reason: "stopped" }]);
  expect(said.posts().filter(({ text }) => /\[ (Stop|Approve) \]/.test(text))).toEqual([]);
  return log;
}

const types = (log: Entry[]): string[] => log.map((entry) => entry.type);
const ends = (log: Entry[]): Entry<"run-ended">[] => log.filter((entry): entry is Entry<"run-ended"> => entry.type === "run-ended");

afterAll(() => console.log("milliseconds from a stop to the end of the work", figures));

describe.each(PLATFORMS)("on %s", (platform) => {
  let deck: Corridor;
  let channels = 0;

  beforeAll(async () => {
    deck = await openCorridor({ platform, rules });
  });
  afterAll(() => deck.close());

  const mention = (text: string): Promise<Said> => deck.mention(text, { channel: `C${++channels}` });
  const entry = async (said: Said, type: Entry["type"]): Promise<void> =>
    await until(`${type} is in the log`, async () => types(await said.entries()).includes(type));

  describe.each(WAYS)("a stop by %s", (way) => {
    test("while the model thinks ends its request, and nothing of it is kept", async () => {
      const before = deck.model.requests.length;
      const said = await mention("think");
      await until("the model is asked", () => deck.model.requests.length > before);
      await stopBy(deck, said, way);
      const log = await stopped(said, "model request in flight");
      await said.shows(/^Stopped by Bob\. No command was running\./);
      expect(types(log)).not.toContain("model");
      await until("the request is given up", () => deck.model.requests[before]?.gone === true);
      expect(deck.model.requests).toHaveLength(before + 1);
    });

    test("between two tries of the model ends the wait", async () => {
      const before = deck.model.requests.length;
      const said = await mention("again and again");
      await until("the model has refused", () => deck.model.requests.length > before);
      await sleep(300);
      await stopBy(deck, said, way);
      await stopped(said, "retry wait of the model");
      expect(deck.model.requests).toHaveLength(before + 1);
    });

    test("while a command runs ends it and all that it started", async () => {
      const said = await mention("sleep");
      await entry(said, "run-started");
      await until("it runs", () => processesWith(SLEEP).length > 0);
      await stopBy(deck, said, way);
      const log = await stopped(said, "command running");
      await said.shows(new RegExp(`^Stopped by Bob\\. Ended: \`${SLEEP}\`\\.`));
      expect(ends(log)).toMatchObject([{ how: "cancelled", by: { name: "Bob" } }]);
      expect(processesWith(SLEEP)).toEqual([]);
    });

    test("while a command waits for the workspace keeps it from starting, and leaves the one that has it alone", async () => {
      const other = await mention("hold");
      await entry(other, "run-started");
      const said = await mention("wait");
      await entry(said, "judged");
      await sleep(500);
      await stopBy(deck, said, way);
      const log = await stopped(said, "command waiting for the workspace");
      await said.shows(/^Stopped by Bob\. Not run: `echo waited >> waited\.txt`\./);
      expect(types(log)).not.toContain("run-started");
      expect(ends(log)).toMatchObject([{ how: "refused", why: "cancelled" }]);
      expect(deck.files.has("waited.txt")).toBe(false);
      expect(ends(await other.entries())).toEqual([]);
      await deck.say("stop", { channel: other.channel, thread: other.root });
      await other.shows(/^Stopped by Ann\. Ended: /);
    });

    test("while an approval is open closes the card, and a press comes to nothing", async () => {
      const said = await mention("remove");
      const card = await said.shows(/\[ Approve \]/);
      await stopBy(deck, said, way);
      const log = await stopped(said, "approval open");
      await said.shows(/^Stopped by Bob\. Not run: `rm -f old`\./);
      await until("the card is closed", () => /Not run: Bob stopped the work/.test(said.text(card)));
      expect(log.filter((each) => each.type === "approval-decided")).toMatchObject([{ decision: "cancelled" }]);
      expect(types(log)).not.toContain("run-started");
    });
  });

  test("a stop in a thread where all is done changes nothing, and what is asked next is answered", async () => {
    const said = await mention("hello");
    await said.shows(/^Done · /);
    await deck.say("stop", { channel: said.channel, thread: said.root, user: "U2" });
    // Where a platform cannot tell one person alone, it is said in the thread.
    const told = (): string[] => [...deck.stage.whispers("U2"), ...said.lines()];
    await until("Bob is told", () => told().some((text) => /Nothing is running in this thread/.test(text)));
    await deck.say("hello once more", { channel: said.channel, thread: said.root });
    await until("it is answered", async () => types(await said.entries()).filter((type) => type === "final").length === 2);
    const reasons = (await said.entries()).flatMap((each) => (each.type === "final" ? [each.reason] : []));
    expect(reasons).toEqual(["answer", "answer"]);
  });

  test("two stops at once are one", async () => {
    const said = await mention("sleep");
    await entry(said, "run-started");
    await Promise.all(WAYS.map((way) => stopBy(deck, said, way)));
    const log = await stopped(said, "twice at once");
    expect(ends(log)).toHaveLength(1);
    expect(said.posts().filter(({ text }) => /^Stopped by/m.test(text))).toHaveLength(1);
  });
});

describe("with processes of their own", () => {
  let deck: Corridor;
  let deaf: Deaf;
  const roles: RoleProcess[] = [];

  beforeAll(async () => {
    deck = await openCorridor({ rules, start: false });
    deaf = await deafProxy(deck.redis.port);
    roles.push(await startRole(deck, "gateway"));
  });
  afterAll(async () => {
    for (const role of roles) await role.kill();
    await deaf.stop();
    await deck.close();
  });

  test("what is stopped before a worker has picked it up is never begun", async () => {
    const said = await deck.mention("think", { channel: "C1" });
    await said.shows(/\[ Stop \]/);
    await stopBy(deck, said, "the button");
    await until("the stop is kept", async () => types(await said.entries()).includes("stop"));
    roles.push(await startRole({ ...deck, env: { ...deck.env, REDIS_URL: deaf.url } }, "worker"));
    await said.shows(/^Stopped by Bob\. No command was running\./);
    await said.shows(/^Stopped · 0 commands · /);
    expect(deck.model.requests).toEqual([]);
  });

  test.each(WAYS)("a worker that hears no hint sees a stop by %s all the same", async (way) => {
    const said = await deck.mention("sleep", { channel: way === "the word" ? "C2" : "C3" });
    await until("it runs", async () => types(await said.entries()).includes("run-started") && processesWith(SLEEP).length > 0);
    const before = deaf.swallowed();
    await stopBy(deck, said, way);
    const log = await stopped(said, "command running, hint lost");
    expect(ends(log)).toMatchObject([{ how: "cancelled" }]);
    expect(deaf.swallowed()).toBeGreaterThan(before);
  });
});
