import { describe, expect, it } from "vitest";
import { type Around, type Heard, type Ignored, readEdit, readMessage, readPress, readRemovals } from "../../../src/chat/discord/read.ts";
import type { Inbound } from "../../../src/core/inbound.ts";

const self = { user: "1", name: "deckhand" };
const channel = { guild: "2", channel: "20", parent: "20", isThread: false };
const thread = { guild: "2", channel: "30", parent: "20", isThread: true };
const around: Around = { by: { key: "discord:3", name: "Ada", kind: "member", roles: [] }, label: () => undefined, open: async () => {} };

/** A message made at the second `at` of Discord's time. */
function raw(more: Record<string, unknown> = {}): Record<string, unknown> {
  const author = { id: "3", username: "ada", global_name: "Ada" };
  return { id: "900", channel_id: "20", guild_id: "2", type: 0, author, content: "<@1> hi", mentions: [{ id: "1" }], ...more };
}

function arrivals(reading: Heard | Ignored, place = channel): Inbound[] | string {
  if (reading.kind === "ignored") return reading.why;
  return reading.at(place)?.(around) ?? "not for us";
}

describe("a message", () => {
  it.each([
    ["our own", { author: { id: "1" } }],
    ["a bot's", { author: { id: "3", bot: true } }],
    ["Discord's own", { author: { id: "3", system: true } }],
    ["a webhook's", { webhook_id: "5" }],
    ["that a thread began", { type: 18 }],
    ["that a thread begins with", { type: 21 }],
  ])("that is %s is not a person's words", (_, more) => {
    expect(arrivals(readMessage(raw(more), self))).toBe("not a person's words");
  });

  it.each([
    ["that everybody was called", { content: "@everyone hi", mentions: [], mention_everyone: true }],
    ["a reply's ping", { content: "hi", type: 19 }],
    ["a name that stands in code", { content: "`<@1>` hi", mentions: [] }],
    ["a role's name", { content: "<@&1> hi", mentions: [] }],
  ])("is not for us by %s", (_, more) => {
    expect(arrivals(readMessage(raw(more), self))).toBe("not for us");
  });

  it.each([
    ["<@1> hi", "hi"],
    ["<@!1>, hi", "hi"],
    [" <@1> <@1>: hi", "hi"],
    ["hi <@1>", "hi @deckhand"],
    ["<@1>", ""],
    ["<@1> a < b && <c> `<@9>` \\*", "a < b && <c> `<@9>` \\*"],
  ])("%j is read as %j", (content, text) => {
    expect(arrivals(readMessage(raw({ content }), self))).toMatchObject([{ kind: "mention", text }]);
  });

  it("that was forwarded is read for what it holds", () => {
    const message = { content: "the log", attachments: [{ filename: "a.log", size: 3, url: "https://cdn/a" }] };
    const forwarded = raw({ channel_id: "30", content: "", mentions: [], message_snapshots: [{ message }] });
    expect(arrivals(readMessage(forwarded, self), thread)).toMatchObject([
      { kind: "reply", text: "the log", files: [{ name: "a.log", type: "", bytes: 3, url: "https://cdn/a" }] },
    ]);
  });

  it("without anything that we may read is nothing", () => {
    expect(arrivals(readMessage(raw({ channel_id: "30", content: "", mentions: [] }), self), thread)).toBe("not for us");
  });

  it.each([{}, null, "x", { id: "x" }, raw({ author: null }), raw({ content: 7 })])("that is not one is not understood: %j", (wrong) => {
    expect(arrivals(readMessage(wrong, self))).toBe("not understood");
  });
});

describe("an edit", () => {
  const old = String(BigInt(Date.parse("2026-01-01T00:00:00Z") - 1_420_070_400_000) << 22n);

  it("that changed no word is none", () => {
    expect(arrivals(readEdit(raw({ edited_timestamp: null }), self))).toBe("no words changed");
  });

  it("that puts a mention in counts as one for an hour", () => {
    const soon = raw({ id: old, edited_timestamp: "2026-01-01T00:59:00Z" });
    expect(arrivals(readEdit(soon, self))).toMatchObject([{ kind: "edit" }, { kind: "mention", event: `discord:20:${old}` }]);
    const late = raw({ id: old, edited_timestamp: "2026-01-01T01:01:00Z" });
    expect(arrivals(readEdit(late, self))).toMatchObject([{ kind: "edit" }]);
  });

  it("in a thread is no more than an edit", () => {
    const edited = raw({ id: old, channel_id: "30", edited_timestamp: "2026-01-01T00:01:00Z" });
    expect(arrivals(readEdit(edited, self), thread)).toMatchObject([{ kind: "edit", message: `discord:30:${old}`, text: "hi" }]);
  });
});

it("several messages may be removed at once", () => {
  const gone = readRemovals({ ids: ["901", "902"], channel_id: "30", guild_id: "2" }).map((reading) => arrivals(reading, thread));
  expect(gone).toMatchObject([
    [{ kind: "remove", message: "discord:30:901" }],
    [{ kind: "remove", message: "discord:30:902", thread: { key: "discord:2:30" } }],
  ]);
});

const pressOn = (custom_id: string): unknown => {
  const place = { channel_id: "30", guild_id: "2", user: { id: "3" } };
  return { id: "1", token: "t", application_id: "5", type: 3, ...place, data: { custom_id } };
};

it.each(["dh:approve:", "dh:run:a", "approve:a", "xdh:stop:a"])("a press on %j is none of ours", (custom_id) => {
  expect(readPress(pressOn(custom_id))).toMatchObject({ kind: "ignored" });
});

it("a press on `Stop` answers a pause when it names an entry, and stops what goes on when it names the conversation", () => {
  const heard = (custom_id: string) => {
    const reading = readPress(pressOn(custom_id));
    return reading.kind === "pressed" ? reading.inbound(around.by) : reading;
  };
  expect(heard("dh:stop:17")).toMatchObject({ kind: "choice", choice: "stop", of: 17 });
  expect(heard("dh:stop:discord:2:30")).toMatchObject({ kind: "stop" });
});
