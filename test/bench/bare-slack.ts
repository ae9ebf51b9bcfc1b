import { App, LogLevel } from "@slack/bolt";

/** A bare Bolt: it echoes mentions and acknowledges presses, and does nothing else. */

const { SLACK_BOT_TOKEN = "", SLACK_APP_TOKEN = "", SLACK_API_URL = "" } = process.env;
const clientOptions = { slackApiUrl: SLACK_API_URL };
const app = new App({ token: SLACK_BOT_TOKEN, appToken: SLACK_APP_TOKEN, socketMode: true, clientOptions, logLevel: LogLevel.ERROR });
const press = { type: "button" as const, text: { type: "plain_text" as const, text: "Press" }, action_id: "approve", value: "1" };

app.event("app_mention", async ({ event, say }) => {
  await say({ text: event.text, thread_ts: event.ts, blocks: [{ type: "actions", elements: [press] }] });
});
app.action("approve", async ({ ack }) => await ack());
await app.start();
process.once("disconnect", () => process.exit());
process.send?.("ready");
