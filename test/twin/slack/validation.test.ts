import { expect, test } from "vitest";
import type { SlackTwin } from "../../../src/twin/slack/twin.ts";
import type { Args } from "./harness.ts";
import { call, post, startTwin } from "./harness.ts";

/** The limits of messages, each on both sides: the last thing that Slack takes and the first that it refuses. */

const x = (length: number): string => "x".repeat(length);
const plain = (length: number): Args => ({ type: "plain_text", text: x(length) });
const mrkdwn = (length: number): Args => ({ type: "mrkdwn", text: x(length) });
const section = (length: number): Args => ({ type: "section", text: mrkdwn(length) });
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const button = (extra: Args = {}): Args => ({ type: "button", text: plain(1), ...extra });
const actions = (...elements: Args[]): Args => ({ type: "actions", elements });
const richText = (...elements: Args[]): Args => ({ type: "rich_text", elements });
const pre = (...elements: Args[]): Args => richText({ type: "rich_text_preformatted", elements });
const words = (length: number): Args => ({ type: "text", text: x(length) });
const table = (rows: number, columns: number, text = "x"): Args => ({
  type: "table",
  rows: times(rows, () => times(columns, () => ({ type: "raw_text", text }))),
});
const context = (count: number): Args => ({ type: "context", elements: times(count, () => mrkdwn(1)) });

/** name, blocks that pass, blocks that do not, what Slack says about them and where. */
const BLOCKS: [string, Args[], Args[], string][] = [
  ["50 blocks", times(50, () => section(1)), times(51, () => section(1)), "no more than 50 items allowed [json-pointer:/blocks]"],
  ["section text 3000", [section(3000)], [section(3001)], "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"],
  ["section text not empty", [section(1)], [section(0)], "must be more than 0 characters [json-pointer:/blocks/0/text/text]"],
  [
    "section needs text or fields",
    [{ type: "section", fields: [mrkdwn(1)] }],
    [{ type: "section" }],
    "missing required field: text [json-pointer:/blocks/0]",
  ],
  [
    "section field 2000",
    [{ type: "section", fields: [mrkdwn(2000)] }],
    [{ type: "section", fields: [mrkdwn(2001)] }],
    "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]",
  ],
  [
    "10 section fields",
    [{ type: "section", fields: times(10, () => mrkdwn(1)) }],
    [{ type: "section", fields: times(11, () => mrkdwn(1)) }],
    "no more than 10 items allowed [json-pointer:/blocks/0/fields]",
  ],
  [
    "header 150",
    [{ type: "header", text: plain(150) }],
    [{ type: "header", text: plain(151) }],
    "must be less than 151 characters [json-pointer:/blocks/0/text/text]",
  ],
  [
    "header is plain text",
    [{ type: "header", text: plain(1) }],
    [{ type: "header", text: mrkdwn(1) }],
    "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]",
  ],
  ["10 context elements", [context(10)], [context(11)], "no more than 10 items allowed [json-pointer:/blocks/0/elements]"],
  ["context not empty", [context(1)], [context(0)], "no less than 1 items allowed [json-pointer:/blocks/0/elements]"],
  [
    "25 actions",
    [actions(...times(25, () => button()))],
    [actions(...times(26, () => button()))],
    "no more than 25 items allowed [json-pointer:/blocks/0/elements]",
  ],
  [
    "button text 75",
    [actions(button({ text: plain(75) }))],
    [actions(button({ text: plain(76) }))],
    "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]",
  ],
  [
    "button value 2000",
    [actions(button({ value: x(2000) }))],
    [actions(button({ value: x(2001) }))],
    "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]",
  ],
  [
    "button url 3000",
    [actions(button({ url: x(3000) }))],
    [actions(button({ url: x(3001) }))],
    "must be less than 3001 characters [json-pointer:/blocks/0/elements/0/url]",
  ],
  [
    "button style",
    [actions(button({ style: "danger" }))],
    [actions(button({ style: "red" }))],
    "must be a valid enum value [json-pointer:/blocks/0/elements/0/style]",
  ],
  [
    "accessibility label 75",
    [actions(button({ accessibility_label: x(75) }))],
    [actions(button({ accessibility_label: x(76) }))],
    "must be less than 76 characters [json-pointer:/blocks/0/elements/0/accessibility_label]",
  ],
  [
    "action_id 255",
    [actions(button({ action_id: x(255) }))],
    [actions(button({ action_id: x(256) }))],
    "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]",
  ],
  [
    "action_id unique in its block",
    [actions(button({ action_id: "a" }), button({ action_id: "b" }))],
    [actions(button({ action_id: "a" }), button({ action_id: "a" }))],
    'action_id "a" already exists [json-pointer:/blocks/0/elements/1/action_id]',
  ],
  [
    "block_id 255",
    [{ ...section(1), block_id: x(255) }],
    [{ ...section(1), block_id: x(256) }],
    "must be less than 256 characters [json-pointer:/blocks/0/block_id]",
  ],
  [
    "block_id unique",
    [
      { ...section(1), block_id: "a" },
      { ...section(1), block_id: "b" },
    ],
    [
      { ...section(1), block_id: "a" },
      { ...section(1), block_id: "a" },
    ],
    'block_id "a" already exists [json-pointer:/blocks/1/block_id]',
  ],
  [
    "markdown 12,000 in all",
    [
      { type: "markdown", text: x(6000) },
      { type: "markdown", text: x(6000) },
    ],
    [
      { type: "markdown", text: x(6000) },
      { type: "markdown", text: x(6001) },
    ],
    "markdown text must be less than 12001 characters [json-pointer:/blocks]",
  ],
  ["known block types", [{ type: "divider" }], [{ type: "box" }], "unsupported type: box [json-pointer:/blocks/0/type]"],
  [
    "no invented properties",
    [{ type: "divider" }],
    [{ type: "divider", colour: "red" }],
    "invalid additional property: colour [json-pointer:/blocks/0]",
  ],
  [
    "rich text of sections and their like",
    [pre(words(3000))],
    [richText(words(1))],
    "unsupported type: text [json-pointer:/blocks/0/elements/0/type]",
  ],
  [
    "rich text without empty text",
    [pre(words(1))],
    [pre(words(0))],
    "must be more than 0 characters [json-pointer:/blocks/0/elements/0/elements/0/text]",
  ],
  [
    "preformatted holds words only",
    [pre({ type: "link", url: "https://a.example" })],
    [pre({ type: "user", user_id: "U1" })],
    "unsupported type: user [json-pointer:/blocks/0/elements/0/elements/0/type]",
  ],
  ["table 100 rows", [table(100, 1)], [table(101, 1)], "no more than 100 items allowed [json-pointer:/blocks/0/rows]"],
  ["table 20 columns", [table(1, 20)], [table(1, 21)], "no more than 20 items allowed [json-pointer:/blocks/0/rows/0]"],
  ["table cell not empty", [table(1, 1)], [table(1, 1, "")], "must be more than 0 characters [json-pointer:/blocks/0/rows/0/0/text]"],
  [
    "table 10,000 characters",
    [table(1, 1, x(9_900))],
    [table(1, 1, x(10_000))],
    "table must be less than 10001 characters [json-pointer:/blocks/0/rows]",
  ],
  ["5 context actions", [feedback(5)], [feedback(6)], "no more than 5 items allowed [json-pointer:/blocks/0/elements]"],
  [
    "confirm title 100",
    [actions(button({ confirm: confirm(100) }))],
    [actions(button({ confirm: confirm(101) }))],
    "must be less than 101 characters [json-pointer:/blocks/0/elements/0/confirm/title/text]",
  ],
];

function feedback(count: number): Args {
  return { type: "context_actions", elements: times(count, () => ({ type: "icon_button", icon: "trash", text: plain(1) })) };
}

function confirm(title: number): Args {
  return { title: plain(title), text: plain(300), confirm: plain(30), deny: plain(30) };
}

test.each(BLOCKS)("blocks: %s", async (_name, taken, refused, says) => {
  const twin = await startTwin();
  expect(await call(twin, "chat.postMessage", { channel: "C1", blocks: taken })).toMatchObject({ ok: true });
  const answer = await call(twin, "chat.postMessage", { channel: "C1", blocks: refused });
  expect(answer).toMatchObject({ ok: false, error: "invalid_blocks" });
  expect(answer.response_metadata?.messages).toContain(`[ERROR] ${says}`);
  expect(twin.messages("C1")).toHaveLength(1);
});

/** name, method, what passes, what is refused, the error. `TS` stands for a message of the bot. */
const TEXTS: [string, string, Args, Args, string][] = [
  ["chat.update takes 4,000 characters", "chat.update", { ts: "TS", text: x(4000) }, { ts: "TS", text: x(4001) }, "msg_too_long"],
  ["ephemerals are short", "chat.postEphemeral", { user: "U1", text: x(4000) }, { user: "U1", text: x(4001) }, "msg_too_long"],
  ["markdown_text 12,000", "chat.postMessage", { markdown_text: x(12_000) }, { markdown_text: x(12_001) }, "msg_too_long"],
  ["markdown_text alone", "chat.postMessage", { markdown_text: "a" }, { markdown_text: "a", text: "b" }, "markdown_text_conflict"],
  ["something to show", "chat.postMessage", { text: "a" }, { text: "  " }, "no_text"],
  ["update with something", "chat.update", { ts: "TS", blocks: [] }, { ts: "TS" }, "no_text"],
  ["blocks are a list", "chat.postMessage", { text: "a", blocks: [] }, { text: "a", blocks: "{" }, "invalid_blocks_format"],
  [
    "13,200 in all with markdown",
    "chat.postMessage",
    { blocks: [{ type: "markdown", text: x(12_000) }] },
    { blocks: [{ type: "markdown", text: x(12_000) }, section(1200)] },
    "msg_blocks_too_long",
  ],
  [
    "10,000 characters in the other blocks",
    "chat.postMessage",
    { blocks: [pre(words(10_000))] },
    { blocks: [pre(words(7_001)), section(3_000)] },
    "msg_blocks_too_long",
  ],
  [
    "100 attachments",
    "chat.postMessage",
    { attachments: times(100, () => ({ text: "a" })) },
    { attachments: times(101, () => ({ text: "a" })) },
    "too_many_attachments",
  ],
  [
    "metadata is an object",
    "chat.postMessage",
    { text: "a", metadata: { event_type: "t", event_payload: {} } },
    { text: "a", metadata: "no" },
    "invalid_metadata_format",
  ],
  [
    "metadata has both parts",
    "chat.postMessage",
    { text: "a", metadata: {} },
    { text: "a", metadata: { event_type: "t" } },
    "invalid_metadata_schema",
  ],
  ["an ephemeral's reader is known", "chat.postEphemeral", { user: "U1", text: "a" }, { user: "U99", text: "a" }, "user_not_in_channel"],
  [
    "files have bytes",
    "files.getUploadURLExternal",
    { filename: "a.txt", length: 1 },
    { filename: "a.txt", length: 0 },
    "missing_argument",
  ],
  [
    "snippets 1 MB",
    "files.getUploadURLExternal",
    { filename: "a", length: 1e6, snippet_type: "text" },
    { filename: "a", length: 1e6 + 1, snippet_type: "text" },
    "snippet_too_large",
  ],
  [
    "alt text 1000",
    "files.getUploadURLExternal",
    { filename: "a", length: 1, alt_txt: x(1000) },
    { filename: "a", length: 1, alt_txt: x(1001) },
    "alt_txt_too_large",
  ],
  ["history in pages of 999", "conversations.history", { limit: 999 }, { limit: 1000 }, "invalid_limit"],
];

async function both(twin: SlackTwin, method: string, taken: Args, refused: Args): Promise<unknown[]> {
  const ts = await post(twin);
  const fill = (args: Args): Args => ({ channel: "C1", ...args, ...(args.ts === "TS" ? { ts } : {}) });
  return [await call(twin, method, fill(taken)), await call(twin, method, fill(refused))];
}

test.each(TEXTS)("%s", async (_name, method, taken, refused, error) => {
  const twin = await startTwin();
  expect(await both(twin, method, taken, refused)).toMatchObject([{ ok: true }, { ok: false, error }]);
});

test("a text over 40,000 characters is cut, and says so", async () => {
  const twin = await startTwin();
  const answer = await call(twin, "chat.postMessage", { channel: "C1", text: x(40_001) });
  expect(answer).toMatchObject({ ok: true, warning: "message_truncated", response_metadata: { warnings: ["message_truncated"] } });
  expect(twin.messages("C1")[0]?.text).toHaveLength(40_000);
});

test("length is counted in UTF-16 units, the careful way", async () => {
  const twin = await startTwin();
  const face = "😀".repeat(1501);
  expect(
    await call(twin, "chat.postMessage", { channel: "C1", blocks: [{ type: "section", text: { type: "mrkdwn", text: face } }] }),
  ).toMatchObject({ error: "invalid_blocks" });
});
