import { expect, test } from "vitest";
import { bash, say } from "../../src/model/script.ts";
import { startNode } from "../support/cluster.ts";
import { openCorridor } from "../support/corridor.ts";
import { startRole } from "../support/crew.ts";
import { PLATFORMS } from "../support/stage.ts";

const rules = [
  {
    when: /append/,
    steps: [
      () => bash("seq 20000"), // its output is kept as a blob
      () => bash("rm -f old; echo ran >> fx.txt"),
      () => say("It is appended."),
    ],
  },
];

test.concurrent.each(PLATFORMS)(
  "on %s: a whole conversation on the node of a Redis Cluster: every key that comes of it lies in one slot",
  async (platform) => {
    const deck = await openCorridor({ platform, rules, start: false });
    const node = await startNode();
    deck.env["REDIS_URL"] = node.server.url;
    const roles = await Promise.all([startRole(deck, "gateway"), startRole(deck, "worker")]);
    const seen = new Set<string>();
    const look = async (): Promise<void> => {
      for await (const keys of node.admin.scanStream()) for (const key of keys as string[]) seen.add(key);
    };
    const kinds = (): string[] => [...new Set([...seen].map((key) => key.split(":")[1] ?? ""))].toSorted();
    try {
      const said = await deck.mention("append a line");
      await said.shows(/\[ Approve \]/);
      await look();
      await said.press("approve");
      await said.shows(/It is appended\./);
      await look();
      expect(deck.files.read("fx.txt")).toBe("ran\n");
      expect(kinds()).toEqual(
        expect.arrayContaining(["a", "blob", "bucket", "c", "due", "host", "open", "post", "seen", "wake-api", "workers"]),
      );
      const slots = new Map(await Promise.all([...seen].map(async (key) => [key, await node.slotOf(key)] as const)));
      expect([...slots].filter(([, slot]) => slot !== node.slot)).toEqual([]);
    } finally {
      for (const role of roles) await role.kill();
      await Promise.all([deck.close(), node.stop()]);
    }
  },
  120_000,
);
