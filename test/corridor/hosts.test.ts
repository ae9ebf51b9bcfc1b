import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { App, Role } from "../../src/app.ts";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { readClaims } from "../../src/redis/claim.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { startNode } from "../support/cluster.ts";
import { type Corridor, openCorridor } from "../support/corridor.ts";
import { startRole } from "../support/crew.ts";
import { bridge, canMakeHosts, startFarWorker } from "../support/far-host.ts";
import { startHere } from "../support/here.ts";
import { keptTrace, lossyProxy, until } from "../support/redis.ts";
import type { Platform } from "../support/stage.ts";
import { type TestWorkspace, makeWorkspace } from "../support/workspace.ts";

/** A workspace belongs to one host; another can have it when the first is gone, and goes on with what is there. */

const rules: Rule[] = [
  { when: /append/, steps: [() => bash("rm -f old; echo ran >> fx.txt"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
  {
    when: /tick/,
    steps: [
      () => bash("while sleep 0.2; do date +%s%N >> first.txt; done"),
      () => bash("date +%s%N >> second.txt"),
      () => say("It ticked."),
    ],
  },
  { when: /name/, steps: [() => bash("rm -f old; echo ran >> ran.txt"), ({ lastResult }) => say(`Result: ${lastResult}`)] },
  {
    when: /much/,
    steps: [
      () => bash("seq 20000"), // its output is kept as a blob
      () => bash("rm -f old; echo ran >> fx.txt"),
      () => say("It is appended."),
    ],
  },
];

const REFUSED = /Another host has the workspace api: \S+, since .*Stop the workers there.*\(WORKSPACE_CLAIMED\)/s;

interface Play {
  deck: Corridor;
  /** Another host: a state folder and a workspace of its own. */
  other: TestWorkspace;
  /** A role in this process; ends with the test. */
  start(role: Role, env?: Record<string, string>): Promise<App>;
}

async function withHosts(platform: Platform, play: (play: Play) => Promise<void>): Promise<void> {
  const deck = await openCorridor({ platform, rules, start: false });
  const other = makeWorkspace();
  const running: App[] = [];
  const start: Play["start"] = async (role, env = {}) => {
    const app = await startHere({ ...deck.env, ...env }, role, keptTrace());
    running.push(app);
    return app;
  };
  try {
    await play({ deck, other, start });
  } finally {
    for (const app of running) await app.stop();
    await deck.close();
    other.cleanup();
  }
}

/** The id of the host that has the workspace. */
async function holder({ redis }: Corridor): Promise<string | undefined> {
  return (await readClaims(redis.url, keptTrace(), ["api"])).get("api")?.host;
}

/** Waits until nobody has it; each look is a connection of its own. */
async function lapsed(deck: Corridor): Promise<void> {
  while ((await holder(deck)) !== undefined) await sleep(250);
}

const idOf = (stateDir = ""): string => readFileSync(join(stateDir, "host-id"), "utf8").trim();

test.concurrent("a host that dies frees its workspace after a while; its successor goes on with what waits, in the same place only", async () => {
  await withHosts("slack", async ({ deck, other, start }) => {
    await start("gateway");
    const worker = await startRole(deck, "worker");
    const said = await deck.mention("append a line");
    const elsewhere = await deck.mention("append another", { channel: "C2" });
    for (const each of [said, elsewhere]) await each.shows(/\[ Approve \]/);
    expect(await holder(deck)).toBe(idOf(deck.env["DECKHAND_STATE"]));
    await worker.kill();
    await expect(start("worker", { DECKHAND_STATE: other.stateDir })).rejects.toThrow(REFUSED);
    await lapsed(deck);
    const successor = await start("worker", { DECKHAND_STATE: other.stateDir });
    expect(await holder(deck)).toBe(idOf(other.stateDir));
    await said.press("approve");
    await said.shows(/Result: \(no output\)/);
    expect(deck.files.read("fx.txt")).toBe("ran\n");
    expect(breaks(await settled(() => audit(deck, said, ["append a line"])))).toEqual([]);
    await expect(start("worker")).rejects.toThrow(REFUSED);

    await successor.stop();
    await start("worker", { DECKHAND_STATE: other.stateDir, DECKHAND_WORKSPACES: `api=${other.path}` });
    await elsewhere.press("approve");
    await elsewhere.shows(/Result: /);
    expect(elsewhere.lines().join("\n")).toContain("is outside of the workspace");
    expect(deck.files.read("fx.txt")).toBe("ran\n");
  });
}, 180_000);

test.concurrent("a host that is cut off from Redis ends its command before another host can begin one", async () => {
  await withHosts("discord", async ({ deck, other, start }) => {
    await start("gateway");
    const proxy = await lossyProxy(deck.redis.port);
    await start("worker", { REDIS_URL: proxy.url });
    const said = await deck.mention("tick");
    await until("it ticks", () => deck.files.has("first.txt"));
    await proxy.stop();
    const ticks = (): bigint[] => deck.files.read("first.txt").trim().split("\n").map(BigInt);
    const before = ticks().length;
    await lapsed(deck);
    await start("worker", { DECKHAND_STATE: other.stateDir });
    await said.shows(/It ticked\./);
    expect(ticks().length).toBeGreaterThan(before);
    expect(ticks().at(-1) ?? 0n).toBeLessThan(BigInt(deck.files.read("second.txt").trim()));
    expect(breaks(await settled(() => audit(deck, said, ["tick"])))).toEqual([]);
  });
}, 180_000);

test.skipIf(!canMakeHosts()).concurrent(
  "two machines, each with a network of its own, serve a workspace each; one that is claimed by both is refused",
  async () => {
    await withHosts("slack", async ({ deck, other: left, start }) => {
      const right = makeWorkspace();
      const port = Number(new URL(deck.env["OPENAI_BASE_URL"] ?? "").port);
      const bridges = [left, right].flatMap(({ root }) => [
        bridge(join(root, "redis"), deck.redis.port),
        bridge(join(root, "model"), port),
      ]);
      deck.env["DECKHAND_WORKSPACES"] = `api=${left.path},web=${right.path}`;
      deck.env["DECKHAND_CHANNELS"] = "slack:C1=api,slack:C2=web";
      await start("gateway");
      const machines = [startFarWorker(deck, "left", left, `api=${left.path}`), startFarWorker(deck, "right", right, `web=${right.path}`)];
      try {
        expect(await Promise.all(machines.map(({ ready }) => ready)), machines.map(({ said }) => said()).join("\n")).toEqual([true, true]);
        const both = [await deck.mention("name one", { channel: "C1" }), await deck.mention("name two", { channel: "C2" })];
        for (const [index, said] of both.entries()) {
          await said.press("approve");
          await said.shows(/Result: /);
          expect(breaks(await settled(() => audit(deck, said, [index === 0 ? "name one" : "name two"])))).toEqual([]);
          expect(readFileSync(join((index === 0 ? left : right).path, "ran.txt"), "utf8")).toBe("ran\n");
          const started = (await said.entries()).flatMap((entry) => (entry.type === "run-started" ? [entry.host] : []));
          expect(started).toEqual([index === 0 ? "left" : "right"]);
        }
        const greedy = startFarWorker(deck, "right", right, `api=${left.path},web=${right.path}`);
        machines.push(greedy);
        expect(await greedy.gone).toBe(3);
        expect(greedy.said()).toMatch(/Another host has the workspace api: left, since .*Stop the workers there.*\(WORKSPACE_CLAIMED\)/);
        expect(greedy.said()).not.toContain("the workspace web:");
      } finally {
        await Promise.all(machines.map((each) => each.kill()));
        for (const each of bridges) each.close();
        right.cleanup();
      }
    });
  },
  120_000,
);

test.concurrent("a whole conversation on the node of a Redis Cluster: every key that comes of it lies in one slot", async () => {
  const node = await startNode();
  // Discord has more keys: it is heard by one gateway alone.
  await withHosts("discord", async ({ deck, start }) => {
    deck.env["REDIS_URL"] = node.server.url;
    await start("all");
    const seen = new Set<string>();
    const look = async (): Promise<void> => {
      for await (const keys of node.admin.scanStream()) for (const key of keys as string[]) seen.add(key);
    };
    const kinds = (): string[] => [...new Set([...seen].map((key) => key.split(":")[1] ?? ""))].toSorted();
    const said = await deck.mention("much");
    await said.shows(/\[ Approve \]/);
    await look();
    await said.press("approve");
    await said.shows(/It is appended\./);
    await look();
    expect(deck.files.read("fx.txt")).toBe("ran\n");
    expect(kinds()).toEqual(
      expect.arrayContaining(["a", "blob", "bucket", "c", "due", "host", "lease", "open", "post", "seen", "wake-api", "workers"]),
    );
    const slots = new Map(await Promise.all([...seen].map(async (key) => [key, await node.slotOf(key)] as const)));
    expect([...slots].filter(([, slot]) => slot !== node.slot)).toEqual([]);
  });
  await node.stop();
}, 120_000);
