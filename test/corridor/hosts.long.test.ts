import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { readClaims } from "../../src/redis/claim.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { type RoleProcess, startRole } from "../support/crew.ts";
import { keptTrace, lossyProxy, until } from "../support/redis.ts";
import { PLATFORMS, type Platform } from "../support/stage.ts";
import { type TestWorkspace, makeWorkspace } from "../support/workspace.ts";

/** A workspace belongs to one host; another can have it when the first is gone, and goes on with what is there. */

const rules: Rule[] = [
  { when: /append/, steps: [() => bash("rm -f old; echo ran >> fx.txt"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
  {
    when: /tick/,
    steps: [
      () => bash("while sleep 0.05; do date +%s%N >> first.txt; done"),
      () => bash("date +%s%N >> second.txt"),
      () => say("It ticked."),
    ],
  },
];

const REFUSED = /ended with 3 .*Another host has the workspace api: \S+, since .*Stop the workers there.*\(WORKSPACE_CLAIMED\)/s;

interface Play {
  deck: Corridor;
  /** Another host: a state folder and a workspace of its own. */
  other: TestWorkspace;
  start(role: "gateway" | "worker", env?: Record<string, string>): Promise<RoleProcess>;
  /** A worker of the other host, once the claim of the first has lapsed. */
  succeed(env?: Record<string, string>): Promise<void>;
}

async function withHosts(platform: Platform, play: (play: Play) => Promise<void>): Promise<void> {
  const deck = await openCorridor({ platform, rules, start: false });
  const other = makeWorkspace();
  const running: RoleProcess[] = [];
  const start: Play["start"] = async (role, env = {}) => {
    const started = await startRole({ ...deck, env: { ...deck.env, ...env } }, role);
    running.push(started);
    return started;
  };
  const succeed: Play["succeed"] = async (env = {}) => {
    await until("the claim lapses", async () => (await holder(deck)) === undefined, 60_000);
    await start("worker", { DECKHAND_STATE: other.stateDir, ...env });
    expect(await holder(deck)).toBe(idOf(other.stateDir));
  };
  try {
    await play({ deck, other, start, succeed });
  } finally {
    for (const role of running) await role.kill();
    await deck.close();
    other.cleanup();
  }
}

/** The id of the host that has the workspace. */
async function holder({ redis }: Corridor): Promise<string | undefined> {
  return (await readClaims(redis.url, keptTrace(), ["api"])).get("api")?.host;
}

const idOf = (stateDir: string): string => readFileSync(join(stateDir, "host-id"), "utf8").trim();

test.concurrent.each(PLATFORMS)(
  "on %s: a host that dies frees its workspace after a while; its successor goes on with what waits for a person",
  async (platform) => {
    await withHosts(platform, async ({ deck, other, start, succeed }) => {
      await start("gateway");
      const [first, second] = [await start("worker"), await start("worker")];
      const said = await deck.mention("append a line");
      await said.shows(/\[ Approve \]/);
      expect(await holder(deck)).toBe(idOf(deck.env["DECKHAND_STATE"] ?? ""));
      await first.kill();
      await expect(start("worker", { DECKHAND_STATE: other.stateDir })).rejects.toThrow(REFUSED);
      await second.kill();
      await succeed();
      await said.press("approve");
      await said.shows(/Result: \(no output\)/);
      expect(deck.files.read("fx.txt")).toBe("ran\n");
      expect(breaks(await settled(() => audit(deck, said, ["append a line"])))).toEqual([]);
      await expect(start("worker")).rejects.toThrow(REFUSED);
    });
  },
  180_000,
);

test.concurrent("a successor whose folder lies elsewhere runs nothing that was approved for the old place", async () => {
  await withHosts("slack", async ({ deck, other, start, succeed }) => {
    await start("gateway");
    const first = await start("worker");
    const said = await deck.mention("append a line");
    await said.shows(/\[ Approve \]/);
    await first.kill();
    await succeed({ DECKHAND_WORKSPACES: `api=${other.path}` });
    await said.press("approve");
    await said.shows(/Result: /);
    expect(said.lines().join("\n")).toContain("is outside of the workspace");
    expect(deck.files.has("fx.txt")).toBe(false);
  });
}, 180_000);

test.concurrent("a host that is cut off from Redis ends its command before another host can begin one", async () => {
  await withHosts("slack", async ({ deck, start, succeed }) => {
    await start("gateway");
    const proxy = await lossyProxy(deck.redis.port);
    await start("worker", { REDIS_URL: proxy.url });
    const said = await deck.mention("tick");
    await until("it ticks", () => deck.files.has("first.txt"));
    await proxy.stop();
    const ticks = (): bigint[] => deck.files.read("first.txt").trim().split("\n").map(BigInt);
    const before = ticks().length;
    await succeed();
    await said.shows(/It ticked\./);
    expect(ticks().length).toBeGreaterThan(before);
    expect(ticks().at(-1) ?? 0n).toBeLessThan(BigInt(deck.files.read("second.txt").trim()));
    expect(breaks(await settled(() => audit(deck, said, ["tick"])))).toEqual([]);
  });
}, 180_000);
