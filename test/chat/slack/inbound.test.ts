import { describe, expect, it } from "vitest";
import { readActions, readEvent } from "../../../src/chat/slack/inbound.ts";
import type { Person } from "../../../src/core/entry.ts";
import type { Inbound } from "../../../src/core/inbound.ts";

const self = { team: "T1", user: "UBOT", name: "deckhand" };
const ada: Person = { key: "slack:U1", name: "Ada", kind: "member", roles: [] };
const names = new Map([["U2", "Bob"]]);

function read(event: Record<string, unknown>): Inbound | string {
  const reading = readEvent({ type: "message", channel: "C1", user: "U1", ts: "10.000100", text: "", ...event }, self);
  return reading.kind === "heard" ? reading.inbound(ada, names) : reading.why;
}

const kindOf = (event: Record<string, unknown>): string => {
  const inbound = read(event);
  return typeof inbound === "string" ? inbound : inbound.kind;
};

const press = {
  type: "block_actions",
  user: { id: "U1" },
  container: { type: "message", channel_id: "C1", message_ts: "11.000100", thread_ts: "10.000100" },
  actions: [{ action_id: "approve", value: "ap1", action_ts: "12.000100" }],
};

describe("reading a message", () => {
  it("makes the same mention of app_mention and message", () => {
    const text = "<@UBOT> list the files for <@U2>";
    const mention = {
      kind: "mention",
      event: "slack:T1:C1:10.000100",
      thread: { platform: "slack", key: "slack:T1:C1:10.000100", channel: "slack:C1" },
      by: ada,
      text: "list the files for @Bob",
      begins: true,
    };
    expect(read({ text })).toEqual(mention);
    expect(read({ text, type: "app_mention" })).toEqual(mention);
  });

  it.each([
    ["a mention in a thread", { text: "<@UBOT> go", thread_ts: "9.000100" }, "mention"],
    ["a mention in the middle", { text: "please <@UBOT|deckhand> go" }, "mention"],
    ["a reply without a mention", { text: "go on", thread_ts: "9.000100" }, "reply"],
    ["a reply that is shown in the channel too", { text: "go on", thread_ts: "9.000100", subtype: "thread_broadcast" }, "reply"],
    ["a /me line", { text: "waves", thread_ts: "9.000100", subtype: "me_message" }, "reply"],
    ["an upload with a mention", { text: "<@UBOT> look", subtype: "file_share" }, "mention"],
    ["a direct message", { text: "go", channel: "D1" }, "mention"],
    ["a reply in a direct message", { text: "go", channel: "D1", thread_ts: "9.000100" }, "reply"],
    ["a root without a mention", { text: "lunch?" }, "not for us"],
    ["an escaped mention", { text: "&lt;@UBOT&gt; go" }, "not for us"],
    ["a bot's words", { text: "<@UBOT> go", bot_id: "B9" }, "not a person's words"],
    ["our own words", { text: "<@UBOT> go", user: "UBOT" }, "not a person's words"],
    ["Slackbot's words", { text: "<@UBOT> go", user: "USLACKBOT" }, "not a person's words"],
    ["a join", { text: "<@UBOT> has joined", subtype: "channel_join" }, "not a person's words"],
    ["words without an author", { text: "<@UBOT> go", user: undefined }, "not a person's words"],
    ["something without a time", { text: "<@UBOT> go", ts: "soon" }, "not understood"],
  ])("reads %s", (_, event, kind) => {
    expect(kindOf(event)).toBe(kind);
  });

  it("puts a reply into the conversation of its root", () => {
    expect(read({ text: "go on", thread_ts: "9.000100" })).toMatchObject({
      event: "slack:T1:C1:10.000100",
      thread: { key: "slack:T1:C1:9.000100" },
    });
  });

  it.each([
    ["<@U2> what do you think?", true],
    ["what do you think, <@U2>?", false],
    ["go on", false],
  ])("tells whether %j is for somebody else", (text, elsewhere) => {
    expect(read({ text, thread_ts: "9.000100" })).toMatchObject({ kind: "reply", elsewhere });
  });

  it("takes the installed workspace for the key, whatever the envelope says", () => {
    expect(read({ text: "<@UBOT> go", team: "T9" })).toMatchObject({ event: "slack:T1:C1:10.000100" });
  });

  it("carries the files", () => {
    const files = [
      { name: "a.txt", mimetype: "text/plain", size: 3, url_private_download: "https://x/a" },
      { mode: "tombstone" },
      { id: "F2", file_access: "check_file_info" },
    ];
    expect(read({ text: "<@UBOT> look", subtype: "file_share", files })).toMatchObject({
      files: [
        { name: "a.txt", type: "text/plain", bytes: 3, url: "https://x/a" },
        { name: "file", type: "", bytes: 0, url: "" },
      ],
    });
  });
});

describe("reading a change", () => {
  const was = { user: "U1", ts: "10.000100", text: "<@UBOT> list" };
  const changed = (message: Record<string, unknown>, previous: Record<string, unknown> = was): Record<string, unknown> => ({
    subtype: "message_changed",
    user: undefined,
    ts: "20.000100",
    message: { ...was, edited: { user: "U1", ts: "15.000100" }, ...message },
    previous_message: previous,
  });

  it("makes an edit of new words", () => {
    expect(read(changed({ text: "<@UBOT> list all" }))).toMatchObject({
      kind: "edit",
      event: "slack:T1:C1:10.000100:edit:15.000100",
      message: "slack:T1:C1:10.000100",
      thread: { key: "slack:T1:C1:10.000100" },
      text: "list all",
    });
  });

  it("ignores a change that leaves the words, such as an unfurl", () => {
    expect(kindOf(changed({}))).toBe("same text");
  });

  it("ignores changes of bots' messages, also our own", () => {
    expect(kindOf(changed({ text: "x", bot_id: "B1" }))).toBe("not a person's words");
    expect(kindOf(changed({ text: "x", user: "UBOT" }))).toBe("not a person's words");
  });

  it("makes a mention of a root into which the mention was edited", () => {
    expect(read(changed({ text: "<@UBOT> list" }, { ...was, text: "list" }))).toMatchObject({
      kind: "mention",
      event: "slack:T1:C1:10.000100",
    });
  });

  it("makes a removal of a deleted message, also of one that leaves a tombstone", () => {
    const removal = {
      kind: "remove",
      event: "slack:T1:C1:10.000100:remove",
      message: "slack:T1:C1:10.000100",
      thread: { key: "slack:T1:C1:10.000100" },
    };
    expect(read({ subtype: "message_deleted", ts: "20.000100", user: undefined, previous_message: was })).toMatchObject(removal);
    const tombstone = { user: "USLACKBOT", ts: "10.000100", text: "This message was deleted.", subtype: "tombstone" };
    expect(read({ ...changed({}), message: tombstone })).toMatchObject(removal);
  });
});

describe("reading a press", () => {
  const readPress = (change: Record<string, unknown>): Inbound | string => {
    const reading = readActions({ ...press, ...change }, self);
    return reading.kind === "heard" ? reading.inbound(ada, names) : reading.why;
  };

  it("on `Stop` answers a pause when it names an entry, and stops what goes on when it names the conversation", () => {
    const stop = (value: string) => readPress({ actions: [{ action_id: "stop", value, action_ts: "12.000100" }] });
    expect(stop("17")).toMatchObject({ kind: "choice", choice: "stop", of: 17 });
    expect(stop("slack:T1:C1:10.000100")).toMatchObject({ kind: "stop" });
  });

  it("carries the approval's id and who pressed", () => {
    expect(readPress({})).toEqual({
      kind: "press",
      event: "slack:press:ap1:U1:12.000100",
      thread: { platform: "slack", key: "slack:T1:C1:10.000100", channel: "slack:C1" },
      by: ada,
      action: "approve",
      approval: "ap1",
    });
  });

  it("makes a stop of the stop button", () => {
    const actions = [{ action_id: "stop", value: "slack:T1:C1:10.000100", action_ts: "12.000100" }];
    expect(readPress({ actions })).toMatchObject({
      kind: "stop",
      event: "slack:stop:C1:11.000100:U1:12.000100",
      thread: { key: "slack:T1:C1:10.000100" },
    });
  });

  it("ignores buttons that are not ours and payloads of another form", () => {
    expect(readPress({ actions: [{ action_id: "other", value: "x", action_ts: "12.0" }] })).toBe("no button of ours: other");
    expect(readPress({ actions: [{ action_id: "approve", action_ts: "12.0" }] })).toBe("no button of ours: approve");
    expect(readPress({ type: "view_submission" })).toBe("not understood");
    expect(readPress({ actions: [] })).toBe("not understood");
  });
});
