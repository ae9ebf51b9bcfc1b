import { Redis } from "ioredis";
import { PREFIX } from "../../src/redis/keys.ts";
import { startRedis, type TestRedis, until } from "./redis.ts";

export interface ClusterNode {
  server: TestRedis;
  admin: Redis;
  /** The slot in which all our keys must lie. */
  slot: number;
  slotOf(key: string): Promise<number>;
  stop(): Promise<void>;
}

/**
 * The node of a cluster that has our slot and no other: it refuses every command that touches a key elsewhere, also
 * from within a script that did not name it.
 */
export async function startNode(): Promise<ClusterNode> {
  const server = await startRedis({ args: ["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"] });
  const admin = new Redis(server.url);
  const slotOf = async (key: string): Promise<number> => (await admin.call("CLUSTER", "KEYSLOT", key)) as number;
  const slot = await slotOf(`${PREFIX}:x`);
  await admin.call("CLUSTER", "ADDSLOTS", String(slot));
  await until("the cluster is whole", async () => String(await admin.call("CLUSTER", "INFO")).includes("cluster_state:ok"));
  return {
    ...{ server, admin, slot, slotOf },
    async stop() {
      admin.disconnect();
      await server.stop();
    },
  };
}
