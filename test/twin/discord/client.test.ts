import type { Client, Message, ThreadChannel } from "discord.js";
import {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  ChannelType,
  Events,
  MessageFlags,
  ModalBuilder,
  TextInputBuilder,
  TextInputStyle,
} from "discord.js";
import { expect, test } from "vitest";
import { readable } from "../../../src/twin/discord/transcript.ts";
import type { DiscordTwin, TwinMessage } from "../../../src/twin/discord/twin.ts";
import { ANA, BEN, FORUM, login, OPS, startTwin } from "./harness.ts";

/** What the unmodified discord.js makes of the twin. */

const mention = (twin: DiscordTwin, text: string): Promise<{ id: string }> =>
  twin.say({ channel: OPS, user: ANA, text: `<@${twin.botUserId}> ${text}` });

function buttons(): ActionRowBuilder<ButtonBuilder> {
  return new ActionRowBuilder<ButtonBuilder>().addComponents(
    new ButtonBuilder().setCustomId("v1:approve:1").setLabel("Approve").setStyle(ButtonStyle.Success),
    new ButtonBuilder().setCustomId("v1:deny:1").setLabel("Deny").setStyle(ButtonStyle.Danger),
  );
}

/** Answers a mention with a thread and a card in it; gives the card. */
async function askInThread(twin: DiscordTwin, client: Client): Promise<{ thread: string; card: string }> {
  client.on(Events.MessageCreate, async (message) => {
    if (!message.mentions.has(twin.botUserId) || message.author.bot) return;
    const thread = await message.startThread({ name: "work" });
    await thread.send({ content: "allow it?", components: [buttons()] });
  });
  const { id } = await mention(twin, "clean up");
  const card = await twin.waitFor(() => twin.threads()[0] && twin.thread(id)[1]);
  return { thread: id, card: card.id };
}

function hearing(client: Client): Message[] {
  const heard: Message[] = [];
  client.on(Events.MessageCreate, (message) => {
    if (!message.author.bot && !message.system) heard.push(message);
  });
  return heard;
}

test("a mention becomes a thread with a card; a press is deferred, and the card edited by the bot", async () => {
  const twin = await startTwin();
  const client = await login(twin);
  client.on(Events.InteractionCreate, async (interaction) => {
    if (!interaction.isButton()) return;
    await interaction.deferUpdate();
    await interaction.message.edit({ content: `${interaction.customId} by ${interaction.user.username}`, components: [] });
    await interaction.followUp({ content: "noted", flags: MessageFlags.Ephemeral });
  });
  const { thread, card } = await askInThread(twin, client);
  expect(await twin.press({ channel: thread, messageId: card, customId: "v1:approve:1", user: ANA })).toMatchObject({
    acked: true,
    type: 6,
  });
  await twin.waitFor(() => twin.ephemerals().length === 1);
  expect(twin.thread(thread).map(readable)).toEqual([`<@${twin.botUserId}> clean up`, "v1:approve:1 by ana"]);
  expect(twin.ephemerals()).toMatchObject([{ user: ANA, channel: thread, content: "noted" }]);
  expect(twin.invalidRequests()).toBe(0);
});

test("a press can be refused to its person alone, by the roles that the interaction carries", async () => {
  const twin = await startTwin();
  twin.addRole({ id: "3001", name: "crew" });
  twin.setRoles(BEN, ["3001"]);
  const client = await login(twin);
  client.on(Events.InteractionCreate, async (interaction) => {
    if (!interaction.isButton() || !interaction.inCachedGuild()) return;
    if (interaction.member.roles.cache.has("3001")) await interaction.update({ content: "approved", components: [] });
    else await interaction.reply({ content: "you may not", flags: MessageFlags.Ephemeral });
  });
  const { card } = await askInThread(twin, client);
  const press = (user: string): Promise<unknown> => twin.press({ messageId: card, customId: "v1:approve:1", user });
  expect(await press(ANA)).toMatchObject({ type: 4, ephemeral: "you may not" });
  expect(await press(BEN)).toMatchObject({ type: 7 });
});

test("a modal that a press opens comes back with its words", async () => {
  const twin = await startTwin();
  const client = await login(twin);
  client.on(Events.InteractionCreate, async (interaction) => {
    if (interaction.isButton()) {
      const why = new TextInputBuilder().setCustomId("why").setLabel("Why?").setStyle(TextInputStyle.Paragraph);
      const rows = new ActionRowBuilder<TextInputBuilder>().addComponents(why);
      await interaction.showModal(new ModalBuilder().setCustomId("v1:why:1").setTitle("Deny").addComponents(rows));
    } else if (interaction.isModalSubmit() && interaction.isFromMessage()) {
      await interaction.update({ content: interaction.fields.getTextInputValue("why"), components: [] });
    }
  });
  const { card, thread } = await askInThread(twin, client);
  const { modal = "" } = await twin.press({ messageId: card, customId: "v1:deny:1", user: ANA });
  await twin.submitModal({ modal, user: ANA, values: { why: "too risky" } });
  expect(readable(twin.thread(thread)[1] as TwinMessage)).toBe("too risky");
});

test("an answer that comes too late is an error with Discord's code", async () => {
  const twin = await startTwin();
  const client = await login(twin);
  const errors: unknown[] = [];
  client.on(Events.InteractionCreate, async (interaction) => {
    twin.advance(3_001);
    if (interaction.isButton()) await interaction.deferUpdate().catch((error: unknown) => errors.push(error));
  });
  const { card } = await askInThread(twin, client);
  const outcome = twin.press({ messageId: card, customId: "v1:approve:1", user: ANA });
  await twin.waitFor(() => errors.length > 0);
  expect(errors).toMatchObject([{ code: 10062, status: 404, message: "Unknown interaction" }]);
  expect(await outcome).toMatchObject({ acked: false });
});

test("a forum, a direct channel, files and rights look as they should", async () => {
  const twin = await startTwin();
  twin.addChannel({ id: "2009", name: "", type: "dm", user: ANA });
  const client = await login(twin);
  const heard = hearing(client);
  const { id } = twin.addThread({ channel: FORUM, name: "help", user: ANA, text: "first" });
  await twin.say({ channel: "2009", user: ANA, text: "direct", files: [{ name: "a.txt", content: "x" }] });
  const [post, direct] = await twin.waitFor(() => heard.length === 2 && heard);
  expect([post?.channelId, post?.channel.isThread()]).toEqual([id, true]);
  expect([direct?.channel.type, direct?.attachments.first()?.name]).toEqual([ChannelType.DM, "a.txt"]);
  const channel = client.guilds.cache.first()?.channels.cache.get("2003");
  const rights = channel?.permissionsFor(client.user);
  expect([rights?.has("ViewChannel"), rights?.has("SendMessages"), rights?.has("AttachFiles")]).toEqual([true, false, true]);
  const member = await client.guilds.cache.first()?.members.fetch(ANA);
  expect(member?.displayName).toBe("ana");
});

test("what is sent comes back: files, pings, edits, an archived thread's refusal and its end", async () => {
  const twin = await startTwin();
  const client = await login(twin, { allowedMentions: { parse: [], repliedUser: false } });
  const thread = (await client.channels.fetch(twin.addThread({ channel: OPS, name: "work", user: ANA }).id)) as ThreadChannel;
  await thread.sendTyping();
  const message = await thread.send({ content: "@everyone", files: [{ name: "out.txt", attachment: Buffer.from("whole") }] });
  expect(twin.messages(thread.id)).toMatchObject([{ mention_everyone: false, attachments: [{ filename: "out.txt", size: 5 }] }]);
  expect(await (await fetch(message.attachments.first()?.url ?? "")).text()).toBe("whole");
  await message.edit("changed");
  twin.archiveThread(thread.id);
  await expect(message.edit("late")).rejects.toMatchObject({ code: 50083 });
  await twin.waitFor(() => thread.archived);
  await thread.setArchived(false);
  await message.edit("in time");
  expect(readable(twin.messages(thread.id)[0] as TwinMessage)).toBe("in time\n(file: out.txt)");
  await message.delete();
  expect(twin.messages(thread.id)).toEqual([]);
});

test("a post whose answer was lost can be sent again under its nonce, and is there once", async () => {
  const twin = await startTwin();
  const client = await login(twin);
  const channel = await client.channels.fetch(OPS);
  if (!channel?.isSendable()) throw new Error("not sendable");
  const send = (): Promise<Message> => channel.send({ content: "once", nonce: "job-1", enforceNonce: true });
  twin.fault({ route: "POST /channels/*/messages", reset: "after" });
  await expect(send()).rejects.toThrow();
  expect((await send()).id).toBe(twin.messages(OPS)[0]?.id);
  expect(twin.messages(OPS)).toHaveLength(1);
});

test("the queue of discord.js keeps to the headers: nothing is refused, other routes do not wait", async () => {
  const twin = await startTwin();
  const client = await login(twin);
  const channel = await client.channels.fetch(OPS);
  if (!channel?.isSendable()) throw new Error("not sendable");
  const sent = Promise.all(Array.from({ length: 6 }, (_, n) => channel.send(`${n}`)));
  await twin.waitFor(() => twin.messages(OPS).length === 5);
  await client.users.fetch(ANA, { force: true });
  expect(twin.messages(OPS)).toHaveLength(5);
  await sent;
  expect(twin.messages(OPS).map(({ content }) => content)).toEqual(["0", "1", "2", "3", "4", "5"]);
  expect(twin.invalidRequests()).toBe(0);
});
