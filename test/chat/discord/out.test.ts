import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ChatError, type Chunk, type Clock, type Found } from "../../../src/core/ports.ts";
import type { Block } from "../../../src/core/post.ts";
import { realClock } from "../slack/kit.ts";
import { ADA, DIRECT, GENERAL, ids, openRoom, openThread, post, type Room } from "./kit.ts";

let room: Room;
let thread: { id: string; key: string };
let ahead = 0;
const clock: Clock = { ...realClock, now: () => Date.now() + ahead };

beforeEach(async () => {
  ahead = 0;
  room = await openRoom({ clock, twin: { limits: false } });
  thread = await openThread(room);
});
afterEach(() => room.close());

const chunk = (...blocks: Block[]): Chunk => room.chat.layout(post(blocks))[0] as Chunk;
const say = (text: string): Chunk => chunk({ kind: "text", text });
const status = (text: string): Chunk =>
  chunk({ kind: "text", text }, { kind: "buttons", buttons: [{ action: "stop", label: "Stop", value: thread.key }] });

const ours = () => room.twin.messages(thread.id).filter((each) => each.author === room.twin.botUserId && each.type === 0);
const send = (what: Chunk, nonce = "n", file?: Uint8Array): Promise<string> => room.chat.send(thread.key, what, nonce, file);

const find = (nonce: string, since: number, what: Chunk, last?: string): Promise<Found> =>
  room.chat.find(thread.key, { nonce, since, chunk: what, ...(last === undefined ? {} : { last }) });

/** Lets all that passes by while time goes on. */
function later(ms: number): void {
  ahead += ms;
  room.twin.advance(ms);
}

async function refusal(act: Promise<unknown>): Promise<ChatError["refusal"]> {
  const error = await act.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ChatError);
  return (error as ChatError).refusal;
}

describe("a post", () => {
  it("goes into its thread, calls nobody, unfolds no link, under a nonce that Discord enforces", async () => {
    const id = await send(say(`hello @everyone <@${ADA}> https://example.com`), "run:3");
    expect(ours()).toMatchObject([{ id, mentions: [], mention_everyone: false, flags: 4 }]);
    expect(room.twin.calls(`POST /channels/${thread.id}/messages`).at(-1)?.body).toMatchObject({
      nonce: ids.digest("run:3").slice(0, 25),
      enforce_nonce: true,
      allowed_mentions: { parse: [] },
    });
  });

  it("goes into a direct channel too", async () => {
    await room.chat.send(`discord:dm:${DIRECT}`, say("hello"), "n");
    expect(room.twin.messages(DIRECT)).toMatchObject([{ content: "hello" }]);
  });

  it("with a file has it beside its words", async () => {
    const [output] = room.chat.layout(post([{ kind: "note", text: "exit 0" }], { file: { name: "output.txt", blob: "b" } }));
    await send(output as Chunk, "n", new TextEncoder().encode("all of it"));
    const [message] = ours();
    expect(message).toMatchObject({ content: "-# exit 0", attachments: [{ filename: "output.txt" }] });
    expect(room.twin.file(message?.attachments[0]?.id ?? "")?.content.toString()).toBe("all of it");
    await send(output as Chunk, "n2");
    expect(ours()[1]?.content).toBe("-# exit 0\n-# output.txt is no longer kept, or is empty.");
  });

  it("that is too long has all of it in a file", async () => {
    const story = Array.from({ length: 900 }, (_, n) => `sentence number ${n}.`).join("\n\n");
    for (const [n, part] of room.chat.layout(post([{ kind: "markdown", text: story }])).entries()) await send(part, `n${n}`);
    const file = ours().flatMap((each) => each.attachments)[0];
    expect(room.twin.file(file?.id ?? "")?.content.toString()).toBe(story);
  });
});

describe("a send whose outcome is not known", () => {
  it("is the same message when it is sent again soon, and says what is so now", async () => {
    room.twin.fault({ route: "POST /channels/*/messages", reset: "after" });
    expect(await refusal(send(status("Thinking")))).toMatchObject({ kind: "doubtful" });
    const id = await send(status("Running"));
    expect(ours()).toMatchObject([{ id, content: "Running" }]);
  });

  it("is found long after: one with buttons by a mark, whatever it says now; another by its words", async () => {
    const began = clock.now();
    room.twin.fault({ route: "POST /channels/*/messages", reset: "after", times: 2 });
    await refusal(send(status("Thinking"), "status:3"));
    await refusal(send(say("All is done."), "final:9"));
    later(30 * 60_000);
    const [first, second] = ours();
    expect(await find("status:3", began, status("Running"))).toEqual({ ref: first?.id });
    expect(await find("final:9", began, say("All is done."))).toEqual({ ref: second?.id });
    expect(await find("final:10", clock.now(), say("All is done."))).toBe("absent");
  });

  it("that never arrived is not found", async () => {
    room.twin.fault({ route: "POST /channels/*/messages", reset: "before" });
    const began = clock.now();
    expect((await refusal(send(say("hello")))).kind).toBe("doubtful");
    later(10 * 60_000);
    expect(await find("n", began, say("hello"))).toBe("absent");
  });

  it("cannot be known any more when what is there reads otherwise, or when the history is closed to us", async () => {
    const before = await send(say("before"), "run:2");
    const began = clock.now();
    room.twin.fault({ route: "POST /channels/*/messages", reset: "after" });
    await refusal(send(say("All is done."), "final:9"));
    expect(await find("final:9", began, say("Most is done."), before)).toBe("absent");
    later(30 * 60_000);
    expect(await find("final:9", began, say("Most is done."), before)).toBe("unknown");
    expect(await find("run:9", began, say("before"), ours()[1]?.id)).toBe("absent");
    room.twin.setLacks(GENERAL, ["ReadMessageHistory"]);
    expect(await find("run:9", began, say("before"), ours()[1]?.id)).toBe("unknown");
  });

  it("stays unknown while its message cannot be brought up to date", async () => {
    room.twin.fault({ route: "POST /channels/*/messages", reset: "after" });
    await refusal(send(status("Thinking")));
    room.twin.fault({ route: "PATCH /channels/*/messages/*", status: 403, body: "proxy" });
    expect((await refusal(send(status("Running")))).kind).toBe("doubtful");
  });
});

describe("an edit", () => {
  it("changes words and buttons, and leaves files where they are", async () => {
    const id = await send(status("Thinking"));
    expect(await room.chat.edit(thread.key, id, say("Done"))).toBeUndefined();
    expect(ours()).toMatchObject([{ id, content: "Done", components: [] }]);
    const [card] = room.chat.layout(post([{ kind: "text", text: "May I?" }], { file: { name: "command.sh", blob: "b" } }));
    const withFile = await send(card as Chunk, "n2", new TextEncoder().encode("rm -r build"));
    const [decided] = room.chat.layout(post([{ kind: "text", text: "Approved" }], { file: { name: "command.sh", blob: "b" } }));
    await room.chat.edit(thread.key, withFile, decided as Chunk);
    expect(ours()[1]).toMatchObject({ content: "Approved", attachments: [{ filename: "command.sh" }] });
  });

  it("of a message that is an hour old sends it anew and takes the old one away", async () => {
    const id = await send(status("Waiting"));
    later(56 * 60_000);
    const moved = await room.chat.edit(thread.key, id, say("Approved by Ada"));
    expect(ours()).toMatchObject([{ id: moved, content: "Approved by Ada" }]);
    expect(room.twin.calls(`PATCH /channels/${thread.id}/messages/*`)).toEqual([]);
    await room.chat.edit(thread.key, moved as string, say("Approved by Ada at noon"));
    expect(ours()).toMatchObject([{ id: moved, content: "Approved by Ada at noon" }]);
  });

  it("in an archived thread brings the thread back first", async () => {
    const id = await send(say("Thinking"));
    room.twin.archiveThread(thread.id);
    await room.chat.edit(thread.key, id, say("Done"));
    expect(ours()).toMatchObject([{ content: "Done" }]);
    expect(room.twin.threads()).toMatchObject([{ archived: false }]);
  });

  it("of a message that somebody deleted is refused", async () => {
    const id = await send(say("Thinking"));
    await room.twin.deleteMessage({ channel: thread.id, id });
    expect(await refusal(room.chat.edit(thread.key, id, say("Done")))).toMatchObject({ kind: "refused", code: "10008" });
  });
});

describe("a thread is gone", () => {
  it("when it is locked", async () => {
    const id = await send(say("Thinking"));
    room.twin.lockThread(thread.id);
    expect((await refusal(send(say("more"), "n2"))).kind).toBe("gone");
    expect((await refusal(room.chat.edit(thread.key, id, say("Done")))).kind).toBe("gone");
  });

  it("when it is deleted, or its channel is closed to us", async () => {
    room.twin.setLacks(GENERAL, ["ViewChannel"]);
    expect((await refusal(send(say("more")))).kind).toBe("gone");
    expect((await refusal(find("n", 0, say("more")))).kind).toBe("gone");
    room.twin.setLacks(GENERAL, []);
    room.twin.deleteChannel(thread.id);
    expect(await refusal(send(say("more")))).toMatchObject({ kind: "gone", code: "10003" });
  });

  it("when we may not write there; a file that we may not send is only refused", async () => {
    const [output] = room.chat.layout(post([], { file: { name: "output.txt", blob: "b" } }));
    room.twin.setLacks(GENERAL, ["AttachFiles"]);
    expect((await refusal(send(output as Chunk, "n", new Uint8Array([1])))).kind).toBe("refused");
    room.twin.setLacks(GENERAL, ["SendMessagesInThreads"]);
    expect((await refusal(send(say("more"), "n2"))).kind).toBe("gone");
  });
});

describe("what else Discord says no to", () => {
  it("a form that it does not take is refused", async () => {
    const wrong: Chunk = { body: { content: "x".repeat(2_001), components: [] }, plain: "x" };
    expect(await refusal(send(wrong))).toMatchObject({ kind: "refused", code: "50035" });
    expect((await refusal(send({ body: { content: " ", components: [] }, plain: "" }))).kind).toBe("refused");
  });

  it.each([
    [500, "doubtful"],
    [502, "doubtful"],
    [401, "later"],
    [403, "later"],
    [413, "refused"],
  ])("an answer of %i that is not Discord's is %s", async (code, kind) => {
    room.twin.fault({ route: "POST /channels/*/messages", status: code, body: "<html>proxy</html>" });
    expect((await refusal(send(say("hello")))).kind).toBe(kind);
  });

  it("a token that was refused once is used again", async () => {
    room.twin.fault({ route: "POST /channels/*/messages", status: 401, body: { message: "401: Unauthorized", code: 0 } });
    expect((await refusal(send(say("hello")))).kind).toBe("later");
    await send(say("hello"));
    expect(ours()).toHaveLength(1);
  });

  it("nobody at its address is worth trying again", async () => {
    await room.chat.stop();
    await room.twin.close();
    expect((await refusal(send(say("hello")))).kind).toBe("later");
    room.close = async () => {};
  });
});
