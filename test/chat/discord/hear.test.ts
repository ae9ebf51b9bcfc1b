import { afterEach, describe, expect, it } from "vitest";
import { ADA, ask, BOB, DIRECT, eventOf, FORUM, GENERAL, keyOf, openRoom, openThread, OPS_ROLE, type Room } from "./kit.ts";

let room: Room;
afterEach(() => room.close());

const at = (): string => `<@${room.twin.botUserId}>`;

describe("a mention", () => {
  it("in a channel begins a thread at the message, before it is kept", async () => {
    room = await openRoom();
    const id = await ask(room, "run the tests\nplease");
    const mention = await room.heard("mention");
    expect(mention).toMatchObject({
      event: eventOf(GENERAL, id),
      thread: { platform: "discord", key: keyOf(room, id), channel: `discord:${GENERAL}` },
      by: { key: `discord:${ADA}`, name: "Ada", kind: "member", roles: [] },
      text: "run the tests\nplease",
    });
    expect(room.twin.threads(GENERAL)).toMatchObject([{ id, name: "run the tests please", parent: GENERAL }]);
  });

  it("that does not count makes no thread, and the answer stands under it", async () => {
    room = await openRoom();
    room.onArrive(async () => ({ whisper: "You are *not* on the list." }));
    const id = await ask(room, "run the tests");
    const reply = await room.twin.waitFor(() => room.twin.messages(GENERAL)[1]);
    expect(reply).toMatchObject({ content: "You are \\*not\\* on the list.", message_reference: { message_id: id }, mentions: [] });
    expect(room.twin.threads()).toEqual([]);
  });

  it("in a thread uses that thread", async () => {
    room = await openRoom();
    const root = await room.twin.say({ channel: GENERAL, user: BOB, text: "look at this" });
    const thread = room.twin.addThread({ channel: GENERAL, name: "talk", user: BOB, messageId: root.id });
    const { id } = await room.twin.say({ channel: thread.id, user: ADA, text: `${at()} what is this?` });
    const mention = await room.heard("mention");
    expect(mention).toMatchObject({
      event: eventOf(thread.id, id),
      thread: { key: keyOf(room, thread.id), channel: `discord:${GENERAL}` },
    });
    expect(mention.open).toBeUndefined();
  });

  it("in a forum's post uses the post", async () => {
    room = await openRoom();
    const { id } = room.twin.addThread({ channel: FORUM, name: "a question", user: ADA, text: `${at()} why?` });
    expect(await room.heard("mention")).toMatchObject({
      event: eventOf(id, id),
      text: "why?",
      thread: { key: keyOf(room, id), channel: `discord:${FORUM}` },
    });
  });

  it("counts when a person's message becomes one, and only once", async () => {
    room = await openRoom();
    const { id } = await room.twin.say({ channel: GENERAL, user: ADA, text: "run the tests" });
    await room.twin.editMessage({ channel: GENERAL, id, text: `${at()} run the tests` });
    expect(await room.heard("mention")).toMatchObject({ event: eventOf(GENERAL, id), text: "run the tests" });
    expect(room.twin.threads(GENERAL)).toHaveLength(1);
  });

  it("names other people, roles, channels and moments as they were seen", async () => {
    room = await openRoom();
    await ask(room, `tell <@${BOB}> and <@&${OPS_ROLE}> in <#${GENERAL}> <:party:123456789012345678> at <t:0:R>`);
    expect(await room.heard("mention")).toMatchObject({ text: "tell @Bob and @ops in #general :party: at 1970-01-01T00:00:00.000Z" });
  });

  it("brings the roles of who wrote it, and the files", async () => {
    room = await openRoom();
    room.twin.setRoles(ADA, [OPS_ROLE]);
    await room.twin.say({ channel: GENERAL, user: ADA, text: `${at()} read`, files: [{ name: "a.log", content: "x" }] });
    const mention = await room.heard("mention");
    expect(mention.by.roles).toEqual([`discord:role:${OPS_ROLE}`]);
    expect(mention.files).toMatchObject([{ name: "a.log", bytes: 1 }]);
    expect(mention.files?.[0]?.url).toMatch(/^http/);
  });

  it("is not what calls everybody, pings by a reply, comes from a bot or a webhook, or stands in no thread without a mention", async () => {
    room = await openRoom();
    const { key, id: thread } = await openThread(room);
    const ours = await room.chat.send(
      key,
      room.chat.layout({ key: "k", lane: "output", blocks: [{ kind: "text", text: "hi" }] })[0] as never,
      "n",
    );
    room.twin.addUser({ id: "100000000000000099", name: "robot", bot: true });
    await room.twin.say({ channel: GENERAL, user: ADA, text: "@everyone hello", mentionEveryone: true });
    await room.twin.say({ channel: GENERAL, user: "100000000000000099", text: `${at()} hi` });
    await room.twin.say({ channel: GENERAL, user: ADA, text: `${at()} hi`, webhook: true });
    await room.twin.say({ channel: GENERAL, user: ADA, text: "just talk" });
    await room.twin.say({ channel: thread, user: ADA, text: "by reply", replyTo: ours });
    const last = await ask(room, "this one");
    await room.heard("mention", 2);
    expect(room.arrived.map(({ kind, event }) => [kind, event])).toEqual([
      ["mention", eventOf(GENERAL, thread)],
      ["reply", expect.any(String)],
      ["mention", eventOf(GENERAL, last)],
    ]);
  });
});

describe("in a thread", () => {
  it("every message is a reply; one that begins with another person's name is for them", async () => {
    room = await openRoom();
    const { id, key } = await openThread(room);
    await room.twin.say({ channel: id, user: BOB, text: "and the docs" });
    await room.twin.say({ channel: id, user: BOB, text: `<@${ADA}> what do you think?` });
    await room.heard("reply", 2);
    expect(room.arrived.filter(({ kind }) => kind === "reply")).toMatchObject([
      { thread: { key, channel: `discord:${GENERAL}` }, text: "and the docs", elsewhere: false, by: { key: `discord:${BOB}` } },
      { text: "@Ada what do you think?", elsewhere: true },
    ]);
  });

  it("a reply does not overtake the mention that is still being kept", async () => {
    room = await openRoom();
    const gate = Promise.withResolvers<void>();
    room.onArrive(async (inbound) => {
      if (inbound.kind === "mention") {
        await inbound.open?.();
        await gate.promise;
      }
      return {};
    });
    const id = await ask(room, "hello");
    await room.twin.waitFor(() => room.twin.threads(GENERAL).length === 1);
    await room.twin.say({ channel: id, user: ADA, text: "and more" });
    await room.twin.waitFor(() => room.twin.events().filter(({ t }) => t === "MESSAGE_CREATE").length >= 3);
    gate.resolve();
    await room.heard("reply");
    expect(room.arrived.map(({ kind }) => kind)).toEqual(["mention", "reply"]);
  });

  it("an edit changes the words, under an id of its own; what is no change of words is none", async () => {
    room = await openRoom();
    const { id } = await openThread(room);
    const said = await room.twin.say({ channel: id, user: ADA, text: "lits" });
    await room.twin.editMessage({ channel: id, id: said.id, text: `${at()} list` });
    const edit = await room.heard("edit");
    expect(edit).toMatchObject({ message: eventOf(id, said.id), text: "list", thread: { key: keyOf(room, id) }, by: { name: "Ada" } });
    expect(edit.event).toMatch(new RegExp(`^${eventOf(id, said.id)}:edit:.+`));
    // The root was changed too: a thread began at it.
    expect(room.arrived.filter(({ kind }) => kind === "edit")).toHaveLength(1);
  });

  it("a removal names the message, of the root too", async () => {
    room = await openRoom();
    const { id } = await openThread(room);
    const said = await room.twin.say({ channel: id, user: ADA, text: "no" });
    await room.twin.deleteMessage({ channel: id, id: said.id });
    await room.heard("remove");
    await room.twin.deleteMessage({ channel: GENERAL, id });
    await room.heard("remove", 2);
    expect(room.arrived.filter(({ kind }) => kind === "remove")).toMatchObject([
      { message: eventOf(id, said.id), thread: { key: keyOf(room, id) } },
      { message: eventOf(GENERAL, id), thread: { key: keyOf(room, id) } },
    ]);
  });
});

describe("a direct message", () => {
  it("needs no mention, is one conversation, and its writer is no member of anything", async () => {
    room = await openRoom();
    await room.twin.say({ channel: DIRECT, user: ADA, text: "list the files" });
    expect(await room.heard("mention")).toMatchObject({
      thread: { key: `discord:dm:${DIRECT}`, channel: `discord:${DIRECT}` },
      by: { key: `discord:${ADA}`, kind: "external", roles: [] },
      text: "list the files",
    });
    expect(room.twin.threads()).toEqual([]);
  });
});
