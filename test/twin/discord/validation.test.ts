import { expect, test } from "vitest";
import type { DiscordTwin } from "../../../src/twin/discord/twin.ts";
import type { Answer, Args } from "./harness.ts";
import { button, call, card, OPS, post, row, startTwin } from "./harness.ts";

/** The limits of messages, each on both sides: the last thing that Discord takes and the first that it refuses. */

const x = (length: number): string => "x".repeat(length);
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const buttons = (count: number, from = 0): Args[] => times(count, (index) => button({ custom_id: `b${from + index}` }));
const one = (extra: Args): Args => ({ components: [row(button(extra))] });
const V2 = 1 << 15;
const words = (length: number): Args => ({ type: 10, content: x(length) });
const link = (extra: Args = {}): Args => ({ type: 2, style: 5, label: "x", url: "https://x.example", ...extra });
const option = (index: number): Args => ({ label: "a", value: `v${index}` });
const select = (count: number): Args => ({ type: 3, custom_id: "s", options: times(count, option) });

/** name, a body that passes, one that does not, where the error tree points, its code there. */
const BODIES: [string, Args, Args, string, string][] = [
  ["content 2000", { content: x(2000) }, { content: x(2001) }, "content", "BASE_TYPE_MAX_LENGTH"],
  ["content is text", { content: "1" }, { content: 1 }, "content", "STRING_TYPE_CONVERT"],
  ["nonce 25", { nonce: x(25) }, { nonce: x(26) }, "nonce", "BASE_TYPE_MAX_LENGTH"],
  ["nonce is text or integer", { nonce: 7 }, { nonce: true }, "nonce", "NONCE_TYPE_INVALID"],
  [
    "5 rows",
    { components: times(5, (n) => row(...buttons(1, n))) },
    { components: times(6, (n) => row(...buttons(1, n))) },
    "components",
    "BASE_TYPE_MAX_LENGTH",
  ],
  [
    "5 buttons in a row",
    { components: [row(...buttons(5))] },
    { components: [row(...buttons(6))] },
    "components.0.components",
    "BASE_TYPE_BAD_LENGTH",
  ],
  ["a row is not empty", { components: [row(...buttons(1))] }, { components: [row()] }, "components.0.components", "BASE_TYPE_REQUIRED"],
  ["buttons stand in rows", { components: [row(button())] }, { components: [button()] }, "components.0.type", "UNION_TYPE_CHOICES"],
  ["label 80", one({ label: x(80) }), one({ label: x(81) }), "components.0.components.0.label", "BASE_TYPE_MAX_LENGTH"],
  [
    "label or emoji",
    one({ label: undefined, emoji: { name: "✅" } }),
    one({ label: undefined }),
    "components.0.components.0",
    "BUTTON_COMPONENT_INVALID_LABEL",
  ],
  ["style 1 to 5", one({ style: 1 }), one({ style: 9 }), "components.0.components.0.style", "BASE_TYPE_CHOICES"],
  ["custom_id 100", one({ custom_id: x(100) }), one({ custom_id: x(101) }), "components.0.components.0.custom_id", "BASE_TYPE_BAD_LENGTH"],
  ["custom_id needed", one({}), one({ custom_id: undefined }), "components.0.components.0.custom_id", "BASE_TYPE_REQUIRED"],
  [
    "custom_id once in a message",
    { components: [row(...buttons(1)), row(...buttons(1, 1))] },
    { components: [row(...buttons(1)), row(...buttons(1))] },
    "components.1.components.0.custom_id",
    "COMPONENT_CUSTOM_ID_DUPLICATED",
  ],
  [
    "url 512",
    { components: [row(link({ url: `https://x.example/${x(494)}` }))] },
    { components: [row(link({ url: `https://x.example/${x(495)}` }))] },
    "components.0.components.0.url",
    "BASE_TYPE_BAD_LENGTH",
  ],
  [
    "a link has no custom_id",
    { components: [row(link())] },
    { components: [row(link({ custom_id: "a" }))] },
    "components.0.components.0",
    "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE",
  ],
  [
    "25 options",
    { components: [row(select(25))] },
    { components: [row(select(26))] },
    "components.0.components.0.options",
    "BASE_TYPE_BAD_LENGTH",
  ],
  [
    "one select in a row",
    { components: [row(select(1))] },
    { components: [row(select(1), { ...select(1), custom_id: "t" })] },
    "components.0.components",
    "BASE_TYPE_BAD_LENGTH",
  ],
  [
    "10 embeds",
    { embeds: times(10, () => ({ title: "x" })) },
    { embeds: times(11, () => ({ title: "x" })) },
    "embeds",
    "BASE_TYPE_MAX_LENGTH",
  ],
  ["embed title 256", { embeds: [{ title: x(256) }] }, { embeds: [{ title: x(257) }] }, "embeds.0.title", "BASE_TYPE_MAX_LENGTH"],
  [
    "embed description 4096",
    { embeds: [{ description: x(4096) }] },
    { embeds: [{ description: x(4097) }] },
    "embeds.0.description",
    "BASE_TYPE_MAX_LENGTH",
  ],
  [
    "embed field value 1024",
    { embeds: [{ fields: [{ name: "n", value: x(1024) }] }] },
    { embeds: [{ fields: [{ name: "n", value: x(1025) }] }] },
    "embeds.0.fields.0.value",
    "BASE_TYPE_MAX_LENGTH",
  ],
  [
    "25 embed fields",
    { embeds: [{ fields: times(25, () => ({ name: "n", value: "v" })) }] },
    { embeds: [{ fields: times(26, () => ({ name: "n", value: "v" })) }] },
    "embeds.0.fields",
    "BASE_TYPE_MAX_LENGTH",
  ],
  [
    "6000 in all embeds",
    { embeds: [{ description: x(3000) }, { description: x(3000) }] },
    { embeds: [{ description: x(3000) }, { description: x(3001) }] },
    "embeds",
    "MAX_EMBED_SIZE_EXCEEDED",
  ],
  [
    "parse or a list",
    { allowed_mentions: { parse: ["roles"], users: ["1"] } },
    { allowed_mentions: { parse: ["users"], users: ["1"] } },
    "allowed_mentions",
    "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
  ],
  ["a reply needs its message", {}, { message_reference: { message_id: "9" } }, "message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE"],
];

/** Bodies made of components alone: what may stand in them. */
const V2_BODIES: [string, Args[], Args[], string, string][] = [
  ["40 components", times(40, () => words(1)), times(41, () => words(1)), "components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"],
  [
    "components inside count",
    [{ type: 17, components: times(39, () => words(1)) }],
    [{ type: 17, components: times(40, () => words(1)) }],
    "components",
    "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED",
  ],
  ["4000 characters", [words(4000)], [words(2000), words(2001)], "components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"],
  ["text is not empty", [words(1)], [words(0)], "components.0.content", "BASE_TYPE_REQUIRED"],
  [
    "a section has an accessory",
    [{ type: 9, components: [words(1)], accessory: button() }],
    [{ type: 9, components: [words(1)] }],
    "components.0.accessory.type",
    "UNION_TYPE_CHOICES",
  ],
  [
    "no container in a container",
    [{ type: 17, components: [words(1)] }],
    [{ type: 17, components: [{ type: 17, components: [words(1)] }] }],
    "components.0.components.0.type",
    "UNION_TYPE_CHOICES",
  ],
];

function say(twin: DiscordTwin, body: Args): Promise<Answer> {
  return call(twin, `POST /channels/${OPS}/messages`, body);
}

function at(answer: Answer, path: string): unknown {
  const here = path.split(".").reduce<unknown>((node, key) => (node as Args | undefined)?.[key], answer.errors);
  return ((here as { _errors?: { code: string }[] } | undefined)?._errors ?? []).map(({ code }) => code);
}

test.for(BODIES)("%s", async ([, good, bad, path, code]) => {
  const twin = await startTwin();
  expect(await say(twin, { content: "x", ...good })).toMatchObject({ status: 200 });
  const refused = await say(twin, { content: "x", ...bad });
  expect(refused).toMatchObject({ status: 400, code: 50035, message: "Invalid Form Body" });
  expect(at(refused, path)).toContain(code);
  expect(twin.messages(OPS)).toHaveLength(1);
});

test.for(V2_BODIES)("made of components: %s", async ([, good, bad, path, code]) => {
  const twin = await startTwin();
  expect(await say(twin, { flags: V2, components: good })).toMatchObject({ status: 200 });
  const refused = await say(twin, { flags: V2, components: bad });
  expect(refused).toMatchObject({ status: 400, code: 50035 });
  expect(at(refused, path)).toContain(code);
});

test("a message made of components has neither content nor embeds, and stays so", async () => {
  const twin = await startTwin();
  for (const field of [{ content: "x" }, { embeds: [{ title: "x" }] }]) {
    const refused = await say(twin, { flags: V2, components: [words(1)], ...field });
    expect(at(refused, Object.keys(field)[0] as string)).toEqual(["MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"]);
  }
  const id = await post(twin, { content: undefined, flags: V2, components: [words(1)] });
  const path = `PATCH /channels/${OPS}/messages/${id}`;
  expect(await call(twin, path, { content: "x", flags: 0 })).toMatchObject({ status: 400, code: 50035 });
  expect(await call(twin, path, { components: [words(2)], flags: 0 })).toMatchObject({ status: 200, flags: V2 });
});

test("the newer components need their flag", async () => {
  const twin = await startTwin();
  expect(at(await say(twin, { content: "x", components: [words(1)] }), "components.0.type")).toEqual(["UNION_TYPE_CHOICES"]);
});

test.for([{}, { content: "" }, { content: " \n " }, { content: null }, { embeds: [], components: [] }])(
  "nothing to show is refused: %j",
  async (body) => {
    const twin = await startTwin();
    expect(await say(twin, body)).toMatchObject({ status: 400, code: 50006, message: "Cannot send an empty message" });
  },
);

test("an edit that leaves nothing is refused, one that leaves the buttons is not", async () => {
  const twin = await startTwin();
  const [plain, rich] = [await post(twin), await post(twin, { components: card })];
  expect(await call(twin, `PATCH /channels/${OPS}/messages/${plain}`, { content: "" })).toMatchObject({ code: 50006 });
  expect(await call(twin, `PATCH /channels/${OPS}/messages/${rich}`, { content: "" })).toMatchObject({ status: 200, content: "" });
});

test("all faults of a message are told at once", async () => {
  const twin = await startTwin();
  const refused = await say(twin, { content: x(2001), components: [row(button({ label: x(81), custom_id: undefined }))] });
  expect(refused.errors).toMatchObject({
    content: { _errors: [{ code: "BASE_TYPE_MAX_LENGTH", message: "Must be 2000 or fewer in length." }] },
    components: { 0: { components: { 0: { label: expect.anything(), custom_id: expect.anything() } } } },
  });
});

test("a body that is no JSON is refused", async () => {
  const twin = await startTwin();
  const headers = { authorization: `Bot ${twin.token}`, "content-type": "application/json" };
  const response = await fetch(`${twin.apiUrl}/v10/channels/${OPS}/messages`, { method: "POST", headers, body: "{" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 50109 });
});
