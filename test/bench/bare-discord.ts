import { once } from "node:events";
import { Client, ComponentType, Events, GatewayIntentBits } from "discord.js";

/** A bare discord.js: it echoes mentions and acknowledges presses, and does nothing else. */

const { DISCORD_TOKEN = "", DISCORD_API_URL = "" } = process.env;
const intents = [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.MessageContent];
const client = new Client({ intents, rest: { api: DISCORD_API_URL } });
const press = { type: ComponentType.Button as const, style: 1 as const, label: "Press", customId: "dh:approve:1" };

client.on(Events.MessageCreate, (message) => {
  if (message.author.bot || !message.mentions.has(client.user?.id ?? "")) return;
  const said = { content: message.content, components: [{ type: ComponentType.ActionRow as const, components: [press] }] };
  if (message.content.includes("card")) void message.startThread({ name: "card" }).then((thread) => thread.send(said));
  else void message.reply(said);
});
client.on(Events.InteractionCreate, (interaction) => {
  if (interaction.isButton()) void interaction.deferUpdate();
});
const ready = once(client, Events.ClientReady);
await client.login(DISCORD_TOKEN);
await ready;
process.once("disconnect", () => process.exit());
process.send?.("ready");
