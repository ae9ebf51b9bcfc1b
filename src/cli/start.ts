import { flushCompileCache } from "node:module";
import { parseArgs } from "node:util";
import { startApp } from "../app.ts";
import { loadConfig } from "../config.ts";
import { discordJs } from "../chat/discord/guard.ts";
import { socketMode } from "../chat/slack/guard.ts";
import { armCheckpoint } from "../core/checkpoint.ts";
import { guardProcess } from "../guard.ts";
import { logTrace } from "../system.ts";
import { oneOf } from "./cli.ts";
import { interruption } from "./keyboard.ts";

/** What a stop may take beside the time that running commands get. */
const STOP_MS = 10_000;
const LINGER_MS = 3_000;

/** `deckhand start`: serves until SIGTERM or SIGINT; a second one ends it at once. */
export async function startCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { role: { type: "string", default: "all" } } });
  const role = oneOf("--role", values.role, ["all", "gateway", "worker"] as const);
  const config = await loadConfig();
  if (config.killAt) armCheckpoint(config.killAt, () => process.kill(process.pid, "SIGKILL"));
  const trace = logTrace(config.logLevel, config.secrets);
  if (role !== "worker") guardProcess(trace, [socketMode, discordJs]);
  const end = interruption();
  const ended = new Promise((resolve) => end.addEventListener("abort", resolve));
  const app = await startApp(config, role, trace, end);
  if (!end.aborted) process.stdout.write(`deckhand is ready (${role})\n`);
  // Written at the end by itself, which never comes for a process that is killed; its successor would start twice as slowly.
  flushCompileCache();
  await ended;
  // The log is complete at every moment, so a stop that hangs may be cut off; the next start goes on from there.
  const afterMs = config.graceMs + STOP_MS;
  setTimeout(() => {
    trace.error("stop-hung", { afterMs });
    process.exit(1);
  }, afterMs).unref();
  await app.stop();
  // Everything of ours is closed; what an SDK left behind must not keep the process.
  setTimeout(() => process.exit(0), LINGER_MS).unref();
  return 0;
}
