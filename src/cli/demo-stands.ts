import { SCOPES } from "../chat/slack/manifest.ts";
import { readable as readableDiscord } from "../twin/discord/transcript.ts";
import { startDiscordTwin } from "../twin/discord/twin.ts";
import { readable as readableSlack } from "../twin/slack/transcript.ts";
import { startSlackTwin } from "../twin/slack/twin.ts";

/** A loopback chat with one person, Ann, in one channel. */
export interface Stand {
  name: string;
  /** Tokens and addresses for the product, and Ann's key. */
  env: Record<string, string>;
  ann: string;
  /** Ann mentions the bot. Gives the thread's id. */
  mention(text: string): Promise<string>;
  thread(id: string): { id: string; bot: boolean; text: string }[];
  /** Ann presses a button of a message. */
  press(thread: string, message: string, label: "Approve" | "Deny"): Promise<void>;
  waitFor<T>(probe: () => T | undefined | false | null, ms: number): Promise<T>;
  close(): Promise<void>;
}

export async function slackStand(): Promise<Stand> {
  const twin = await startSlackTwin({ appScopes: [...SCOPES] });
  twin.addUser({ id: "U1", name: "Ann" });
  twin.addChannel({ id: "C1", name: "deck" });
  const bot = `<@${twin.botUserId}>`;
  return {
    name: "Slack",
    env: { SLACK_BOT_TOKEN: twin.botToken, SLACK_APP_TOKEN: twin.appToken, SLACK_API_URL: twin.apiUrl },
    ann: "slack:U1",
    mention: async (text) => (await twin.say({ channel: "C1", user: "U1", text: `${bot} ${text}` })).ts,
    thread: (id) =>
      twin.thread("C1", id).map((m) => ({ id: m.ts, bot: Boolean(m.bot_id), text: readableSlack(m).replaceAll(bot, "@Deckhand") })),
    press: async (_thread, ts, label) => void (await twin.press({ channel: "C1", ts, actionId: label.toLowerCase(), user: "U1" })),
    waitFor: twin.waitFor,
    close: twin.close,
  };
}

export async function discordStand(): Promise<Stand> {
  const twin = await startDiscordTwin();
  twin.addUser({ id: "71", name: "Ann" });
  twin.addChannel({ id: "81", name: "deck" });
  const bot = `<@${twin.botUserId}>`;
  return {
    name: "Discord",
    env: { DISCORD_TOKEN: twin.token, DISCORD_API_URL: twin.apiUrl },
    ann: "discord:71",
    mention: async (text) => (await twin.say({ channel: "81", user: "71", text: `${bot} ${text}` })).id,
    thread: (id) =>
      twin.thread(id).map((m) => ({ id: m.id, bot: m.author === twin.botUserId, text: readableDiscord(m).replaceAll(bot, "@Deckhand") })),
    async press(thread, messageId, label) {
      const message = twin.thread(thread).find((m) => m.id === messageId);
      const [, customId = ""] =
        new RegExp(`"custom_id":"(dh:${label.toLowerCase()}:[^"]*)"`).exec(JSON.stringify(message?.components)) ?? [];
      await twin.press({ channel: thread, messageId, customId, user: "71" });
    },
    waitFor: twin.waitFor,
    close: twin.close,
  };
}
