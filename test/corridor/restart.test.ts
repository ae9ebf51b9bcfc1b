import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { type Corridor, type Said, openBeside, openCorridor } from "../support/corridor.ts";
import { type Crew, type RoleProcess, crewOf } from "../support/crew.ts";
import { until } from "../support/redis.ts";
import { PLATFORMS, type Platform } from "../support/stage.ts";
import { processesWith, uniqueSleep } from "../support/workspace.ts";

/** Gateway, worker, runner and Redis are killed; people write meanwhile, and go on when all is there again. */

const SLEEP = uniqueSleep();

const rules: Rule[] = PLATFORMS.flatMap((platform): Rule[] => [
  {
    when: new RegExp(`append ${platform}`),
    steps: [() => bash(`rm -f old; echo ran >> ${platform}.txt`), ({ lastResult }) => say(`Result: ${lastResult}`)],
  },
  {
    when: new RegExp(`sleep ${platform}`),
    steps: [() => bash(`echo so far; echo ran >> ${platform}-long.txt; ${SLEEP}`), ({ lastResult }) => say(`Result: ${lastResult}`)],
  },
]);
rules.push({ when: /hello/, steps: [() => say("hello back")] });

let crew: Crew;
let worker: RoleProcess;

/** What people have said on a platform before and while nobody was there. */
interface Scene {
  deck: Corridor;
  asked: Said;
  card: { ts: string };
  greeted: Said;
  missed: Said;
}
const scenes = new Map<Platform, Scene>();

async function before(deck: Corridor): Promise<Omit<Scene, "missed">> {
  const asked = await deck.mention(`append ${deck.stage.platform}`);
  const greeted = await deck.mention("hello", { channel: "C2" });
  await greeted.shows(/hello back/);
  return { deck, asked, greeted, card: await asked.shows(/\[ Approve \]/) };
}

async function meanwhile(scene: Omit<Scene, "missed">): Promise<void> {
  const { deck, greeted } = scene;
  const missed = await deck.mention("hello again", { channel: "C2" });
  await deck.say("hello in the old thread", { channel: "C2", thread: greeted.root });
  scenes.set(deck.stage.platform, { ...scene, missed });
}

beforeAll(async () => {
  const twin = { retryDelaysMs: [0, 50, 100] };
  const slack = await openCorridor({ rules, start: false, twin });
  const discord = await openBeside(slack, "discord", twin);
  const decks = [slack, discord];
  slack.env["DECKHAND_CHANNELS"] = decks.flatMap(({ stage }) => ["C1", "C2", "C3"].map((id) => `${stage.channel(id)}=api`)).join();
  crew = crewOf(slack, discord);
  const [gateway, first] = await Promise.all([crew.start("gateway"), crew.start("worker")]);
  const begun = await Promise.all(decks.map(before));
  process.kill(first.runner() as number, "SIGKILL");
  await Promise.all([gateway.kill(), first.kill()]);
  await slack.redis.kill();
  for (const scene of begun) await meanwhile(scene);
  // Longer than Slack's last retry.
  await sleep(1_000);
  await slack.redis.restart();
  [worker] = await Promise.all([crew.start("worker"), crew.here("gateway")]);
  for (const { stage } of decks) await stage.waitFor(() => stage.isHeard());
});
afterAll(() => crew.end());

describe.each(PLATFORMS)("on %s", (platform) => {
  const scene = (): Scene => scenes.get(platform) as Scene;

  test("an approval outlives SIGKILL of gateway, worker, runner and Redis: pressed afterwards, it runs once", async () => {
    const { deck, asked, card } = scene();
    await deck.stage.press({ channel: "C1", root: asked.root, ts: card.ts, action: "approve", user: "U1" });
    await asked.shows(/Result: \(no output\)/);
    expect(deck.files.read(`${platform}.txt`)).toBe("ran\n");
    await deck.stage.waitFor(() => /Approved by Ann/.test(asked.text(card)));
  });

  test("what was said while no gateway was there for longer than Slack's last retry is still answered", async () => {
    const { greeted, missed, deck } = scene();
    await missed.shows(/hello back/);
    await deck.stage.waitFor(() => greeted.posts().filter(({ text }) => text === "hello back").length === 2, 45_000);
  });

  test("a command whose worker was killed is not run again, its processes are gone, and the thread says so", async () => {
    const { deck } = scene();
    const said = await deck.mention(`sleep ${platform}`, { channel: "C3" });
    await until("it runs", () => deck.files.has(`${platform}-long.txt`));
    await worker.kill();
    await until("its processes are gone", () => processesWith(SLEEP).length === 0);
    worker = await crew.start("worker");
    await said.shows(
      /so far\n[^]*This may have run, wholly or in part; it was not run again\.\n\[ Look \] {2}\[ Run again \] {2}\[ Leave it \]/,
    );
    await said.shows(/Result: .*not known how far this command came/s);
    expect(deck.files.read(`${platform}-long.txt`)).toBe("ran\n");
  });
});
