import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Rule, bash, say } from "../../src/model/script.ts";
import { audit, breaks, settled } from "../support/audit.ts";
import { openCorridor } from "../support/corridor.ts";
import { startRole } from "../support/crew.ts";
import { bridge, canMakeHosts, startFarWorker } from "../support/far-host.ts";
import { makeWorkspace } from "../support/workspace.ts";

const rules: Rule[] = [
  {
    when: /task (\w+)/,
    steps: [() => bash("rm -f old; cat /proc/sys/kernel/hostname; echo ran >> ran.txt"), ({ lastResult }) => say(`Result: ${lastResult}`)],
  },
];

test.skipIf(!canMakeHosts())(
  "two machines, each with a network of its own, serve a workspace each; one that is claimed by both is refused",
  async () => {
    const deck = await openCorridor({ rules, start: false });
    const [left, right] = [makeWorkspace(), makeWorkspace()];
    const port = Number(new URL(deck.env["OPENAI_BASE_URL"] ?? "").port);
    const bridges = await Promise.all(
      [left, right].flatMap(({ root }) => [bridge(join(root, "redis"), deck.redis.port), bridge(join(root, "model"), port)]),
    );
    deck.env["DECKHAND_WORKSPACES"] = `api=${left.path},web=${right.path}`;
    deck.env["DECKHAND_CHANNELS"] = "slack:C1=api,slack:C2=web";
    const gateway = await startRole(deck, "gateway");
    const machines = [startFarWorker(deck, "left", left, `api=${left.path}`), startFarWorker(deck, "right", right, `web=${right.path}`)];
    try {
      expect(await Promise.all(machines.map(({ ready }) => ready)), machines.map(({ said }) => said()).join("\n")).toEqual([true, true]);
      const both = [await deck.mention("task one", { channel: "C1" }), await deck.mention("task two", { channel: "C2" })];
      for (const [index, said] of both.entries()) {
        await said.press("approve");
        await said.shows(/Result: /);
        expect(breaks(await settled(() => audit(deck, said, [index === 0 ? "task one" : "task two"])))).toEqual([]);
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
      await Promise.all([gateway.kill(), ...machines.map((each) => each.kill())]);
      await Promise.all(bridges.map((each) => each.close()));
      await deck.close();
      for (const place of [left, right]) place.cleanup();
    }
  },
  120_000,
);
