import { describe, afterEach, expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { type Corridor, type RoleProcess, openCorridor, startRole } from "../support/corridor.ts";
import { parentOf } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";
import { processesWith } from "../support/workspace.ts";

const rules = [
  {
    when: /append/,
    steps: [() => bash("rm -f old; echo ran >> effect.txt"), ({ lastResult }: { lastResult: string }) => say(`Result: ${lastResult}`)],
  },
  {
    when: /sleep/,
    steps: [
      () => bash("rm -f old; echo so far; echo ran >> effect.txt; sleep 47"),
      ({ lastResult }: { lastResult: string }) => say(`Result: ${lastResult}`),
    ],
  },
  { when: /hello/, steps: [() => say("hello back")] },
];

describe.each(PLATFORMS)("on %s", (platform) => {
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

  test("an approval outlives SIGKILL of gateway, worker, runner and Redis: pressed afterwards, it runs once", async () => {
    deck = await openCorridor({ platform, rules, start: false });
    const roles = await Promise.all([start("gateway"), start("worker")]);
    const said = await deck.mention("append a line");
    const card = await said.shows(/\[ Approve \]/);
    const runners = processesWith("runner-main.ts").filter((pid) => parentOf(pid) === roles[1]?.pid);
    expect(runners).toHaveLength(1);
    for (const pid of runners) process.kill(pid, "SIGKILL");
    await Promise.all(roles.map((role) => role.kill()));
    await deck.redis.kill();
    await deck.redis.restart();
    await Promise.all([start("gateway"), start("worker")]);
    await deck.stage.waitFor(() => deck.stage.isHeard());
    await deck.stage.press({ channel: "C1", root: said.root, ts: card.ts, action: "approve", user: "U1" });
    await said.shows(/Result: \(no output\)/);
    expect(deck.files.read("effect.txt")).toBe("ran\n");
    await deck.stage.waitFor(() => /Approved by Ann/.test(said.text(card)));
  }, 90_000);

  test("a command whose worker was killed is not run again, its processes are gone, and the thread says so", async () => {
    deck = await openCorridor({ platform, rules, start: false });
    const [, worker] = await Promise.all([start("gateway"), start("worker")]);
    const said = await deck.mention("sleep long");
    await said.press("approve");
    await deck.stage.waitFor(() => deck.files.has("effect.txt") && deck.files.read("effect.txt") === "ran\n");
    await worker.kill();
    await deck.stage.waitFor(() => processesWith("sleep 47").length === 0);
    await start("worker");
    await said.shows(
      /so far\n[^]*This may have run, wholly or in part; it was not run again\.\n\[ Look \] {2}\[ Run again \] {2}\[ Leave it \]/,
      30_000,
    );
    await said.shows(/Result: .*not known how far this command came/s);
    expect(deck.files.read("effect.txt")).toBe("ran\n");
  }, 90_000);

  test("a mention that was sent while no gateway was there for longer than Slack's last retry is still answered", async () => {
    deck = await openCorridor({ platform, rules, start: false, twin: { retryDelaysMs: [0, 50, 100] }, env: {} });
    deck.env["DECKHAND_CHANNELS"] = `${deck.stage.channel("C1")}=api`;
    const first = await start("gateway");
    await start("worker");
    const before = await deck.mention("hello");
    await before.shows(/hello back/);
    await first.kill();
    const said = await deck.mention("hello again");
    await deck.say("append in the old thread", { thread: before.root });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await start("gateway");
    await said.shows(/hello back/);
    await before.shows(/\[ Approve \]/);
  }, 90_000);

  test("SIGTERM ends a worker with 0, its command as interrupted, and the next one goes on", async () => {
    deck = await openCorridor({ platform, rules, start: false });
    const [, worker] = await Promise.all([start("gateway"), start("worker")]);
    const said = await deck.mention("sleep long");
    await said.press("approve");
    await deck.stage.waitFor(() => deck.files.has("effect.txt") && deck.files.read("effect.txt") === "ran\n");
    expect(await worker.end()).toBe(0);
    expect(processesWith("sleep 47")).toEqual([]);
    await start("worker");
    await said.shows(/Result: .*not known how far this command came/s);
    expect(deck.files.read("effect.txt")).toBe("ran\n");
  }, 90_000);
});
