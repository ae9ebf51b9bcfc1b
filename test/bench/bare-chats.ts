import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Platform, Stage } from "../support/stage.ts";
import { discordStage, slackStage } from "../support/stage.ts";
import { ended } from "./models.ts";

/** A bare chat client at a twin of its own. */
export interface BareChat {
  stage: Stage;
  pid: number;
  close(): Promise<void>;
}

const PROGRAMS = { slack: new URL("./bare-slack.ts", import.meta.url), discord: new URL("./bare-discord.ts", import.meta.url) };

export async function startBareChat(platform: Platform): Promise<BareChat> {
  const { stage } = await (platform === "slack" ? slackStage({ limits: false }) : discordStage({ limits: false }));
  const child = fork(fileURLToPath(PROGRAMS[platform]), [], { env: { ...process.env, ...stage.env } });
  await once(child, "message");
  await stage.waitFor(() => stage.isHeard());
  return {
    stage,
    pid: child.pid as number,
    close: async () => {
      await ended(child);
      await stage.close();
    },
  };
}

/** Mentions the bot; from that to its first post being there, in milliseconds, and the thread's root. */
export async function mentioned(stage: Stage, text: string, channel = "C1"): Promise<{ ms: number; root: string }> {
  const { posts } = stage.calls();
  const start = performance.now();
  const posted = stage.waitFor(() => stage.calls().posts > posts && performance.now(), 60_000);
  const { ts } = await stage.say({ channel, user: "U1", text: `${stage.mention("bot")} ${text}` });
  return { ms: (await posted) - start, root: ts };
}

/** Presses the button of the newest post in a thread that has one; from that to its acknowledgement, in milliseconds. */
export async function pressed(stage: Stage, root: string, ts: string, channel = "C1"): Promise<number> {
  const start = performance.now();
  await stage.press({ channel, root, ts, action: "approve", user: "U1" });
  return performance.now() - start;
}
