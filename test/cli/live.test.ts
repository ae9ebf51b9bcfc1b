import { afterEach, describe, expect, test } from "vitest";
import type { Permission } from "../../src/chat/discord/manifest.ts";
import { SCOPES } from "../../src/chat/slack/manifest.ts";
import { liveCheck } from "../../src/cli/live.ts";
import { readConfig } from "../../src/config.ts";
import { say } from "../../src/model/script.ts";
import { startScriptedModel } from "../../src/model/scripted.ts";
import { type DiscordTwin, type DiscordTwinOptions, startDiscordTwin } from "../../src/twin/discord/twin.ts";
import { type SlackTwin, type SlackTwinOptions, startSlackTwin } from "../../src/twin/slack/twin.ts";
import { startRedis } from "../support/redis.ts";
import { makeWorkspace } from "../support/workspace.ts";
import { deckhand } from "./kit.ts";

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function slack(options: SlackTwinOptions = {}): Promise<{ twin: SlackTwin; env: Record<string, string> }> {
  const twin = await startSlackTwin({ appScopes: [...SCOPES], retryDelaysMs: [50], ...options });
  closers.push(() => twin.close());
  twin.addUser({ id: "U1", name: "Ada" });
  twin.addChannel({ id: "C1", name: "deck" });
  return { twin, env: { SLACK_BOT_TOKEN: twin.botToken, SLACK_APP_TOKEN: twin.appToken, SLACK_API_URL: twin.apiUrl } };
}

async function discord(options: DiscordTwinOptions = {}): Promise<{ twin: DiscordTwin; env: Record<string, string> }> {
  const twin = await startDiscordTwin(options);
  closers.push(() => twin.close());
  twin.addUser({ id: "71", name: "Ada" });
  twin.addChannel({ id: "81", name: "deck" });
  return { twin, env: { DISCORD_TOKEN: twin.token, DISCORD_API_URL: twin.apiUrl } };
}

const NEVER = new AbortController().signal;

/** What the live check tells, a line a step: `post ok`, or `post` and what is wrong. */
async function live(channel: string, env: Record<string, string>, pressMs = 60_000, signal = NEVER): Promise<string[]> {
  const read = await readConfig(env, () => null);
  if (!("config" in read)) throw new Error(read.problems.join("\n"));
  const told: string[] = [];
  const tell: Parameters<typeof liveCheck>[2]["tell"] = (name, found) =>
    void told.push(`${name.replace("live ", "")} ${"fine" in found ? "ok" : found.wrong.join("; ")}`);
  await liveCheck(read.config, channel, { tell, signal, pressMs });
  return told;
}

const names = (told: string[]) => told.map((line) => (line.endsWith(" ok") ? line : "-"));
const wrong = (told: string[]) => told.filter((line) => !line.endsWith(" ok"));

async function pressOnSlack(twin: SlackTwin): Promise<void> {
  const card = await twin.waitFor(() => twin.messages("C1").find(({ blocks }) => JSON.stringify(blocks ?? []).includes("Press me")));
  await twin.press({ channel: "C1", ts: card.ts, actionId: "approve", user: "U1" });
}

async function pressOnDiscord(twin: DiscordTwin): Promise<void> {
  const { thread, card } = await twin.waitFor(() => {
    for (const { id } of twin.threads("81")) {
      const found = twin.messages(id).find(({ components }) => JSON.stringify(components).includes("Press me"));
      if (found) return { thread: id, card: found };
    }
    return null;
  });
  const [, customId = ""] = /"custom_id":"([^"]*)"/.exec(JSON.stringify(card.components)) ?? [];
  await twin.press({ channel: thread, messageId: card.id, customId, user: "71" });
}

const ALL = ["listen", "post", "reply", "edit", "upload", "button", "press", "take back", "clean up"].map((name) => `${name} ok`);
const WITHOUT_UPLOAD = ALL.map((line) => (line === "upload ok" ? "-" : line));
const WITHOUT_PRESS = ALL.map((line) => (line === "press ok" ? "-" : line));

describe("on Slack, a live check", () => {
  test("does it all once in a thread of its own, thanks for the press, and says at last that it is done", async () => {
    const { twin, env } = await slack();
    const [told] = await Promise.all([live("slack:C1", env), pressOnSlack(twin)]);
    expect(told).toEqual(ALL);
    const [root, reply, file, card, ...more] = twin.messages("C1");
    expect([root?.text, reply?.text, card?.text]).toEqual([
      "Deckhand's live check: done",
      "First, and edited.",
      "Deckhand's live check: done",
    ]);
    expect([reply, file, card].map((message) => message?.thread_ts)).toEqual([root?.ts, root?.ts, root?.ts]);
    expect(file?.files).toHaveLength(1);
    expect(JSON.stringify(card?.blocks)).not.toContain("Press me");
    expect(more).toEqual([]);
    expect(twin.ephemerals().map(({ user, text }) => [user, text])).toEqual([["U1", "Thank you: your press arrived."]]);
  });

  test("leaves a mention to be sent again, and answers nothing to it", async () => {
    const { twin, env } = await slack();
    const said = async (): Promise<void> => {
      await twin.waitFor(() => twin.messages("C1").length > 0);
      await twin.say({ channel: "C1", user: "U1", text: `<@${twin.botUserId}> list the files` });
      await twin.waitFor(() => twin.events().some(({ attempts }) => attempts > 1));
      await pressOnSlack(twin);
    };
    const [told] = await Promise.all([live("slack:C1", env), said()]);
    expect(told).toEqual(ALL);
    const mentions = twin.events().filter(({ type }) => type === "app_mention");
    expect(mentions.map(({ acked }) => acked)).toEqual([false]);
    expect(twin.ephemerals()).toHaveLength(1);
  });

  test("names the scope that posting lacks", async () => {
    const { env } = await slack({ appScopes: SCOPES.filter((scope) => scope !== "chat:write") });
    expect(wrong(await live("slack:C1", env))).toEqual([expect.stringMatching(/^post .*needs chat:write\. .*\(SLACK_SCOPE\)$/)]);
  });

  test("names the scope that uploading lacks, and does the rest", async () => {
    const { twin, env } = await slack({ appScopes: SCOPES.filter((scope) => scope !== "files:write") });
    const [told] = await Promise.all([live("slack:C1", env), pressOnSlack(twin)]);
    expect(names(told)).toEqual(WITHOUT_UPLOAD);
    expect(wrong(told)).toEqual([expect.stringMatching(/^upload .*needs files:write\. .*\(SLACK_SCOPE\)$/)]);
  });

  test("says that it is not in the channel, that the channel is archived, or that there is none", async () => {
    const { twin, env } = await slack();
    twin.addChannel({ id: "C2", name: "old" });
    twin.archive("C2");
    twin.kickBot("C1");
    for (const [channel, code] of Object.entries({ C1: "not_in_channel", C2: "is_archived", C9: "channel_not_found" })) {
      const told = await live(`slack:${channel}`, env);
      expect(wrong(told)).toEqual([
        expect.stringMatching(new RegExp(`^post .*${code} \\(slack:${channel}\\)\\. Invite it there.*\\(SLACK_CHANNEL\\)$`)),
      ]);
    }
  });

  test("says that the token for Socket Mode is refused", async () => {
    const { env } = await slack();
    expect(await live("slack:C1", { ...env, SLACK_APP_TOKEN: "xapp-wrong" })).toEqual([
      expect.stringMatching(/^listen .*SLACK_APP_TOKEN.*\(SLACK_AUTH\)$/),
    ]);
  });

  test("says what may be off when no press arrives, and still cleans up", async () => {
    const { twin, env } = await slack();
    const told = await live("slack:C1", env, 300);
    expect(names(told)).toEqual(WITHOUT_PRESS);
    expect(wrong(told)).toEqual([
      expect.stringMatching(/^press .*within 0\.3 s\. .*Interactivity and Socket Mode must be on.*\(NO_PRESS\)$/),
    ]);
    expect(twin.messages("C1")[0]?.text).toBe("Deckhand's live check: done");
  });
});

describe("a live check that is interrupted", () => {
  test("waits no longer, and still cleans up", async () => {
    const { twin, env } = await slack();
    const end = new AbortController();
    const interrupt = async () => {
      await twin.waitFor(() => JSON.stringify(twin.messages("C1")).includes("Press me"));
      end.abort();
    };
    const [told] = await Promise.all([live("slack:C1", env, 60_000, end.signal), interrupt()]);
    expect(told).toEqual(ALL.filter((line) => line !== "press ok"));
    expect(twin.messages("C1")[0]?.text).toBe("Deckhand's live check: done");
  });
});

describe("on Discord, a live check", () => {
  test("does it all once in a thread of its own, thanks for the press, and says at last that it is done", async () => {
    const { twin, env } = await discord();
    const [told] = await Promise.all([live("discord:81", env), pressOnDiscord(twin)]);
    expect(told).toEqual(ALL);
    const [thread] = twin.threads("81");
    expect(thread?.name).toBe("Deckhand's live check");
    const [root, reply, file, card, ...more] = twin.thread(thread?.id ?? "");
    expect([root, reply, card].map((message) => message?.content)).toEqual([
      "Deckhand's live check: done",
      "First, and edited.",
      "Deckhand's live check: done",
    ]);
    expect(file?.attachments).toHaveLength(1);
    expect(card?.components).toEqual([]);
    expect(more).toEqual([]);
    expect(twin.ephemerals().map(({ user, content }) => [user, content])).toEqual([["71", "Thank you: your press arrived."]]);
  });

  test("begins no thread at a mention", async () => {
    const { twin, env } = await discord();
    const said = async (): Promise<void> => {
      await twin.waitFor(() => twin.threads("81").length > 0);
      await twin.say({ channel: "81", user: "71", text: `<@${twin.botUserId}> list the files` });
      await pressOnDiscord(twin);
    };
    const [told] = await Promise.all([live("discord:81", env), said()]);
    expect(told).toEqual(ALL);
    expect(twin.threads("81")).toHaveLength(1);
  });

  const STOPS: [Permission, string][] = [
    ["ViewChannel", "post"],
    ["SendMessages", "post"],
    ["SendMessagesInThreads", "reply"],
  ];
  test.each(STOPS)("names %s when it is missing, at the %s", async (permission, step) => {
    const { twin, env } = await discord();
    twin.setLacks("81", [permission]);
    const line = new RegExp(`^${step} .*needs: ${permission} \\(\\d+, channel discord:81\\)\\. .*\\(DISCORD_PERMISSION\\)$`);
    expect(wrong(await live("discord:81", env))).toEqual([expect.stringMatching(line)]);
  });

  test("names the threads that it may not create, and takes its message away", async () => {
    const { twin, env } = await discord();
    twin.setLacks("81", ["CreatePublicThreads"]);
    expect(wrong(await live("discord:81", env))).toEqual([expect.stringMatching(/^post .*create public threads.*\(DISCORD_PERMISSION\)$/)]);
    expect(twin.messages("81")).toEqual([]);
  });

  test("names AttachFiles when it is missing, and does the rest", async () => {
    const { twin, env } = await discord();
    twin.setLacks("81", ["AttachFiles"]);
    const [told] = await Promise.all([live("discord:81", env), pressOnDiscord(twin)]);
    expect(names(told)).toEqual(WITHOUT_UPLOAD);
    expect(wrong(told)).toEqual([expect.stringMatching(/^upload .*AttachFiles \(50013, channel discord:81\).*\(DISCORD_PERMISSION\)$/)]);
  });

  test("says that there is no such channel, and that the token is refused", async () => {
    const { env } = await discord();
    expect(wrong(await live("discord:89", env))).toEqual([expect.stringMatching(/^post .*ViewChannel \(10003, channel discord:89\)/)]);
    expect(await live("discord:81", { ...env, DISCORD_TOKEN: "wrong" })).toEqual([expect.stringMatching(/^listen .*\(DISCORD_AUTH\)$/)]);
  });

  test("says what may be off when no press arrives", async () => {
    const { env } = await discord();
    const told = await live("discord:81", env, 300);
    expect(names(told)).toEqual(WITHOUT_PRESS);
    expect(wrong(told)).toEqual([expect.stringMatching(/^press .*Interactions Endpoint URL must be empty.*\(NO_PRESS\)$/)]);
  });
});

describe("deckhand doctor --live", () => {
  test("follows the other checks, on both platforms, and is part of what the exit code says", { timeout: 120_000 }, async () => {
    const place = makeWorkspace();
    closers.push(() => place.cleanup());
    const [redis, model] = await Promise.all([startRedis(), startScriptedModel(() => say("yes"))]);
    closers.push(
      () => redis.stop(),
      () => model.close(),
    );
    const [onSlack, onDiscord] = await Promise.all([slack(), discord({ intents: [] })]);
    const env = {
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_MODEL: "scripted",
      REDIS_URL: redis.url,
      DECKHAND_WORKSPACES: `api=${place.path}`,
      DECKHAND_USERS: "slack:*",
      DECKHAND_APPROVERS: "slack:U1",
      DECKHAND_STATE: place.stateDir,
    };
    const [well] = await Promise.all([
      deckhand(["doctor", "--live", "slack:C1"], { env: { ...env, ...onSlack.env } }),
      pressOnSlack(onSlack.twin),
    ]);
    expect(well).toMatchObject({ code: 0, stderr: "" });
    expect(well.stdout).toMatch(/ok {4}live press: by Ada\n.*\n.*\nEverything is in place\.\n$/);
    const [poor] = await Promise.all([
      deckhand(["doctor", "--live", "discord:81"], { env: { ...env, ...onDiscord.env } }),
      pressOnDiscord(onDiscord.twin),
    ]);
    expect(poor.stdout.match(/^FAIL .*$/gm)).toEqual([
      expect.stringMatching(/^FAIL {2}discord: .*Message Content intent.*\(DISCORD_INTENTS\)$/),
    ]);
    expect(poor.stdout).toMatch(/ok {4}live press: by Ada\n/);
    expect(poor.code).toBe(1);
  });

  test("says that the platform is not set, and that the channel cannot be read", async () => {
    expect(await live("discord:81", {})).toEqual([expect.stringMatching(/set SLACK_BOT_TOKEN and SLACK_APP_TOKEN, or DISCORD_TOKEN/)]);
    const { code, stderr } = await deckhand(["doctor", "--live", "#deck"], {});
    expect(stderr).toMatch(/--live takes a channel: slack:C0123456 or discord:123/);
    expect(code).toBe(2);
  });
});
