import { type App, type Role, startApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import type { Trace } from "../../src/core/ports.ts";
// What `startApp` loads only when it needs it: that must not keep another one here from hearing Redis in time.
import "../../src/chat/discord/discord.ts";
import "../../src/chat/slack/slack.ts";
import "../../src/model/openai.ts";
import "../../src/redis/queue.ts";
import "../../src/sandbox/bwrap.ts";

let before: Promise<unknown> = Promise.resolve();

/** Starts a role in this process: that costs far less than a process of its own. One after the other, for the same reason. */
export function startHere(env: Record<string, string>, role: Role, trace: Trace): Promise<App> {
  const started = before.then(async () => startApp(await loadConfig(env), role, trace));
  before = started.catch(() => undefined); // whoever started it hears of that
  return started;
}
