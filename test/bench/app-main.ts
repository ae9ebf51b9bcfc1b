import { createRequire } from "node:module";
import { startApp, type Role } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import { logTrace } from "../../src/system.ts";
import type { Standing } from "./product.ts";

/** The product as `deckhand start` has it, in a process that also says how it stands. Started with `--expose-gc`. */
const config = await loadConfig(process.env as Record<string, string>);
const app = await startApp(config, process.argv[2] as Role, logTrace(config.logLevel, config.secrets));

function standing(): Standing {
  for (let time = 0; time < 3; time++) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  const packages = ["discord.js", "@slack/bolt", "bullmq", "openai"].filter((name) =>
    loaded.some((file) => file.includes(`/node_modules/${name}/`)),
  );
  return { rss: rss / 1e6, heap: (heapUsed + external) / 1e6, packages };
}

process.on("message", () => process.send?.(standing()));
process.once("disconnect", () => {
  setTimeout(() => process.exit(1), 20_000).unref();
  void app.stop().then(() => process.exit());
});
process.send?.("ready");
