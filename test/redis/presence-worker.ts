import { claimWorkspaces } from "../../src/redis/claim.ts";
import { keptTrace } from "../support/redis.ts";

/** A worker of its own, to be killed: claims workspaces, announces that it serves them and says so; ends on any word. */
const [url = "", host = "", workspaces = "", presenceMs = ""] = process.argv.slice(2);
const trace = keptTrace();
const claims = await claimWorkspaces({
  url,
  host,
  workspaces: workspaces.split(","),
  trace,
  lost: () => {},
  presenceMs: Number(presenceMs),
});
await claims.announce();
process.send?.("announced");
process.once("message", () => void claims.close().then(() => process.disconnect()));
