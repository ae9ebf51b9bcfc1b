import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { discordChat } from "../../src/chat/discord/discord.ts";
import { slackChat } from "../../src/chat/slack/slack.ts";
import type { Inbound } from "../../src/core/inbound.ts";
import type { Chat, Clock } from "../../src/core/ports.ts";
import { memoryLog } from "../../src/memory.ts";
import { systemClock, systemIds } from "../../src/system.ts";
import { dieAt, final, openPosting, type PostedThread, type Posting, ran } from "../support/posting.ts";
import { discordStage, PLATFORMS, type Platform, slackStage, type Stage } from "../support/stage.ts";

/** A poster between its log and the real wires; it dies, and its successor comes much later. */
interface Place {
  posting: Posting;
  stage: Stage;
  thread: PostedThread;
  /** What the bot has in the thread, first lines only. */
  posts(): string[];
  /** Longer than Discord remembers a nonce. */
  muchLater(): void;
  /** The platform no longer lets us see what is in the thread. */
  blind(): void;
  close(): Promise<void>;
}

async function openPlace(platform: Platform): Promise<Place> {
  const { stage, advance, blind } = await (platform === "slack" ? slack() : discord());
  const trace = { info: () => {}, warn: () => {}, error: () => {} };
  let chat: Chat | undefined;
  const posting = openPosting(({ now }) => (chat = chatOf(stage, { ...systemClock, now }, trace)), Date.now());
  const begun = Promise.withResolvers<void>();
  await chat?.start(async (inbound: Inbound) => {
    if (inbound.kind === "mention") await inbound.open?.();
    begun.resolve();
    return {};
  });
  const { ts } = await stage.say({ channel: "C1", user: "U1", text: `${stage.mention("bot")} go` });
  await begun.promise;
  const thread = await posting.thread(stage.conversation("C1", ts));
  return {
    posting,
    stage,
    thread,
    posts: () => stage.thread("C1", ts, "bot").map(({ text }) => text.replace(/^ {2}\| /, "").split("\n")[0] ?? ""),
    muchLater() {
      posting.pass(advance());
    },
    blind,
    async close() {
      await chat?.stop();
      await stage.close();
    },
  };
}

async function slack() {
  const { stage, twin } = await slackStage();
  const blind = (): void => twin.fault({ method: "conversations.replies", error: "missing_scope" });
  // Slack never forgets the mark of a message; its twin has the time of this machine, and takes a minute for a wrong clock.
  return { stage, blind, advance: () => 5_000 };
}

async function discord() {
  const { stage, twin } = await discordStage();
  const blind = (): void => twin.setLacks(stage.channel("C1").slice("discord:".length), ["ReadMessageHistory"]);
  const advance = (): number => {
    twin.advance(10 * 60_000);
    return 10 * 60_000;
  };
  return { stage, blind, advance };
}

function chatOf({ platform, env }: Stage, clock: Clock, trace: Posting["deps"]["trace"]): Chat {
  const ears = { trace, log: memoryLog(clock), clock, watch: [] };
  if (platform === "discord") {
    return discordChat({ ...ears, token: env["DISCORD_TOKEN"] ?? "", apiUrl: env["DISCORD_API_URL"] ?? "", ids: systemIds });
  }
  const tokens = { botToken: env["SLACK_BOT_TOKEN"] ?? "", appToken: env["SLACK_APP_TOKEN"] ?? "" };
  return slackChat({ ...ears, ...tokens, apiUrl: env["SLACK_API_URL"] ?? "" });
}

describe.each(PLATFORMS)("on %s", (platform) => {
  let place: Place;

  beforeEach(async () => {
    place = await openPlace(platform);
  });
  afterEach(() => place.close());

  /** The thread of a command that ran, one that asks, and the answer. */
  const whole = [expect.stringMatching(/^Done/), "$ echo a", "May I run this for Ann?", "all done"];

  test.each(["before-send", "after-send"] as const)(
    "a poster that is killed %s at each of its posts, and away for long each time, leaves every post there once",
    async (point) => {
      const { thread, posts, muchLater } = place;
      const news = [() => thread.step("a"), () => thread.add(ran("a")), () => thread.ask("ap1"), () => thread.add(final)];
      for (const tell of news) {
        await tell();
        place.posting.pass(2_000);
        dieAt(point);
        await expect(thread.drain()).rejects.toThrow("killed");
        muchLater();
        await thread.drain();
      }
      await thread.drainAll();
      expect(posts()).toEqual(whole);
      expect(
        place.stage
          .thread("C1", thread.key.split(":").at(-1) ?? "", "bot")
          .map(({ text }) => text)
          .join(),
      ).not.toContain("duplicate");
    },
  );

  test("a post of which nobody can tell whether it is there is sent again and says so", async () => {
    const { thread, posts, muchLater, blind, stage } = place;
    await thread.drain();
    await thread.step("a");
    await thread.add(ran("a"));
    place.posting.pass(2_000);
    await thread.drain();
    await thread.add(final);
    dieAt("after-send");
    await expect(thread.drain()).rejects.toThrow("killed");
    muchLater();
    blind();
    await thread.drainAll();
    expect(posts()).toEqual([expect.stringMatching(/^Done/), "$ echo a", "all done", "all done"]);
    expect(stage.thread("C1", thread.key.split(":").at(-1) ?? "", "bot").at(-1)?.text).toContain("(may be a duplicate)");
  });
});
