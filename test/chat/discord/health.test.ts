import { afterEach, describe, expect, it } from "vitest";
import { discordHealth } from "../../../src/chat/discord/health.ts";
import { discordManifest, PERMISSIONS } from "../../../src/chat/discord/manifest.ts";
import { bits } from "../../../src/twin/discord/permissions.ts";
import { type DiscordTwin, type DiscordTwinOptions, startDiscordTwin } from "../../../src/twin/discord/twin.ts";
import { GENERAL } from "./kit.ts";

let twin: DiscordTwin;
afterEach(() => twin.close());

async function health(options: DiscordTwinOptions = {}, watch = [`discord:${GENERAL}`, "slack:C1"]): Promise<string[]> {
  twin = await startDiscordTwin(options);
  twin.addChannel({ id: GENERAL, name: "general" });
  return await discordHealth({ token: twin.token, apiUrl: twin.apiUrl, watch });
}

describe("the health of Discord", () => {
  it("is fine with what the manifest asks for, and no more", async () => {
    expect(await health({ permissions: [...PERMISSIONS] })).toEqual([]);
  });

  it("names the intent that is missing", async () => {
    expect(await health({ intents: [] })).toEqual([expect.stringMatching(/Message Content.*DISCORD_INTENTS/)]);
  });

  it("names the permissions that are missing in a channel", async () => {
    twin = await startDiscordTwin();
    twin.addChannel({ id: GENERAL, name: "general", lacks: ["SendMessagesInThreads", "AttachFiles"] });
    const lines = await discordHealth({ token: twin.token, apiUrl: twin.apiUrl, watch: [`discord:${GENERAL}`] });
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`SendMessagesInThreads, AttachFiles in channel ${GENERAL}.*DISCORD_PERMISSION`)),
    ]);
  });

  it("names channels that it cannot see", async () => {
    const lines = await health({}, ["discord:499999999999999999"]);
    expect(lines).toEqual([expect.stringMatching(/ViewChannel \(10003\) in channel 499999999999999999/)]);
  });

  it("names a token that is wrong", async () => {
    twin = await startDiscordTwin();
    expect(await discordHealth({ token: "wrong", apiUrl: twin.apiUrl, watch: [] })).toEqual([expect.stringContaining("DISCORD_AUTH")]);
  });

  it("says what keeps Discord from answering", async () => {
    twin = await startDiscordTwin();
    await twin.close();
    expect(await discordHealth({ token: "t", apiUrl: twin.apiUrl, watch: [] })).toEqual([
      expect.stringMatching(/ECONNREFUSED.*DISCORD_DOWN/),
    ]);
    twin = await startDiscordTwin();
  });
});

it("the manifest has the bits of its permissions in its link", async () => {
  twin = await startDiscordTwin();
  const sum = String(bits(PERMISSIONS));
  const made = discordManifest(twin.applicationId);
  expect(made).toMatchObject({ permissions: { bits: sum } });
  expect(made["invite"]).toBe(`https://discord.com/oauth2/authorize?client_id=${twin.applicationId}&scope=bot&permissions=${sum}`);
});
