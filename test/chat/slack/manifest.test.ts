import { afterEach, describe, expect, it } from "vitest";
import { slackHealth } from "../../../src/chat/slack/health.ts";
import { EVENTS, SCOPES, slackManifest } from "../../../src/chat/slack/manifest.ts";
import { type SlackTwin, startSlackTwin } from "../../../src/twin/slack/twin.ts";

let twin: SlackTwin | undefined;
afterEach(async () => {
  await twin?.close();
  twin = undefined;
});

const health = (from: SlackTwin, change: { botToken?: string; appToken?: string } = {}): Promise<string[]> =>
  slackHealth({ botToken: from.botToken, appToken: from.appToken, apiUrl: from.apiUrl, ...change });

describe("the manifest", () => {
  it("asks for the scopes and events of the code, over Socket Mode, with buttons", () => {
    expect(slackManifest()).toMatchObject({
      oauth_config: { scopes: { bot: SCOPES } },
      settings: { event_subscriptions: { bot_events: EVENTS }, interactivity: { is_enabled: true }, socket_mode_enabled: true },
    });
  });

  it("asks for a history scope for every kind of channel whose messages it hears", () => {
    const kinds = EVENTS.filter((event) => event.startsWith("message.")).map((event) => `${event.slice("message.".length)}:history`);
    expect(SCOPES).toEqual(expect.arrayContaining(kinds));
  });
});

describe("the health of Slack", () => {
  it("is good with the scopes of the manifest", async () => {
    twin = await startSlackTwin({ appScopes: [...SCOPES] });
    expect(await health(twin)).toEqual([]);
  });

  it("names the scopes that are missing", async () => {
    twin = await startSlackTwin({ appScopes: SCOPES.filter((scope) => scope !== "files:write" && scope !== "users:read") });
    expect(await health(twin)).toEqual([expect.stringMatching(/files:write, users:read.*\(SLACK_SCOPE\)$/)]);
  });

  it("names the token that Slack refuses", async () => {
    twin = await startSlackTwin();
    expect(await health(twin, { botToken: "xoxb-no" })).toEqual([expect.stringMatching(/SLACK_BOT_TOKEN: invalid_auth.*\(SLACK_AUTH\)$/)]);
    expect(await health(twin, { appToken: "xapp-no" })).toEqual([expect.stringMatching(/SLACK_APP_TOKEN: \w+.*\(SLACK_AUTH\)$/)]);
  });

  it("says that Slack does not answer", async () => {
    twin = await startSlackTwin();
    const { url } = twin;
    await twin.close();
    const problems = await slackHealth({ botToken: "xoxb-1", appToken: "xapp-1", apiUrl: `${url}/api/` });
    twin = undefined;
    expect(problems).toEqual([expect.stringMatching(/connect ECONNREFUSED .*\(SLACK_DOWN\)$/)]);
  });
});
