import { claimWorkspaces } from "../../src/redis/claim.ts";
import { keptTrace } from "../support/redis.ts";

/** A worker of its own, to be killed: claims a workspace and says so. */
const [url = "", host = "", workspace = "", ttlMs = ""] = process.argv.slice(2);
const lost = () => process.send?.("lost");
await claimWorkspaces({ url, host, workspaces: [workspace], trace: keptTrace(), lost, ttlMs: Number(ttlMs) });
process.send?.("claimed");
