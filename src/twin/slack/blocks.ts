import type { Json } from "./state.ts";

/** Block Kit as Slack takes it: a small schema language, and the schemas. Lengths are counted in UTF-16 units. */

type Report = (message: string) => void;
type Check = (value: unknown, at: string, report: Report) => void;
type Fields = Record<string, Check>;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function str(max = Number.POSITIVE_INFINITY, min = 1): Check {
  return (value, at, report) => {
    if (typeof value !== "string") report(`must provide a string [json-pointer:${at}]`);
    else if (value.length > max) report(`must be less than ${max + 1} characters [json-pointer:${at}]`);
    else if (value.length < min) report(`must be more than ${min - 1} characters [json-pointer:${at}]`);
  };
}

function oneOf(...allowed: unknown[]): Check {
  return (value, at, report) => {
    if (!allowed.includes(value)) report(`must be a valid enum value [json-pointer:${at}]`);
  };
}

function list(item: Check, max: number, min = 1): Check {
  return (value, at, report) => {
    if (!Array.isArray(value)) report(`must provide an array [json-pointer:${at}]`);
    else if (value.length > max) report(`no more than ${max} items allowed [json-pointer:${at}]`);
    else if (value.length < min) report(`no less than ${min} items allowed [json-pointer:${at}]`);
    else for (const [index, each] of value.entries()) item(each, `${at}/${index}`, report);
  };
}

/** An object with these fields and no others; a name that ends in `?` may be missing. */
function shape(fields: Fields): Check {
  const known = new Map(Object.entries(fields).map(([name, check]) => [name.replace("?", ""), check]));
  return (value, at, report) => {
    if (!isObject(value)) return report(`must provide an object [json-pointer:${at}]`);
    for (const name of Object.keys(fields))
      if (!name.endsWith("?") && value[name] === undefined) report(`missing required field: ${name} [json-pointer:${at}]`);
    for (const [name, each] of Object.entries(value)) {
      const check = known.get(name);
      if (check) check(each, `${at}/${name}`, report);
      else if (name !== "type") report(`invalid additional property: ${name} [json-pointer:${at}]`);
    }
  };
}

function byType(table: Record<string, Check>): Check {
  return (value, at, report) => {
    if (!isObject(value)) return report(`must provide an object [json-pointer:${at}]`);
    const check = Object.hasOwn(table, String(value.type)) ? table[String(value.type)] : undefined;
    if (check) check(value, at, report);
    else report(`unsupported type: ${String(value.type)} [json-pointer:${at}/type]`);
  };
}

const bool = oneOf(true, false);
const int: Check = (value, at, report) => {
  if (!Number.isInteger(value)) report(`must provide an integer [json-pointer:${at}]`);
};

const plain = (max: number): Check => byType({ plain_text: shape({ text: str(max), "emoji?": bool }) });
const anyText = (max: number): Check =>
  byType({ plain_text: shape({ text: str(max), "emoji?": bool }), mrkdwn: shape({ text: str(max), "verbatim?": bool }) });

const confirm = shape({ title: plain(100), text: anyText(300), confirm: plain(30), deny: plain(30), "style?": oneOf("primary", "danger") });
const option = shape({ text: anyText(75), value: str(150), "description?": anyText(75), "url?": str(3000) });
const actionId = { "action_id?": str(255) };
const pick = { ...actionId, "placeholder?": plain(150), "confirm?": confirm, "focus_on_load?": bool };
const image = shape({ image_url: str(3000), alt_text: str(2000) });

const ELEMENTS: Record<string, Check> = {
  button: shape({
    ...actionId,
    text: plain(75),
    "value?": str(2000),
    "url?": str(3000),
    "style?": oneOf("primary", "danger"),
    "confirm?": confirm,
    "accessibility_label?": str(75),
  }),
  overflow: shape({ ...actionId, options: list(option, 5), "confirm?": confirm }),
  static_select: shape({ ...pick, options: list(option, 100), "initial_option?": option }),
  users_select: shape({ ...pick, "initial_user?": str() }),
  checkboxes: shape({ ...actionId, options: list(option, 10), "initial_options?": list(option, 10), "confirm?": confirm }),
  radio_buttons: shape({ ...actionId, options: list(option, 10), "initial_option?": option, "confirm?": confirm }),
};

const INPUTS: Record<string, Check> = {
  plain_text_input: shape({
    ...actionId,
    "placeholder?": plain(150),
    "initial_value?": str(3000, 0),
    "multiline?": bool,
    "min_length?": int,
    "max_length?": int,
    "focus_on_load?": bool,
  }),
};
for (const name of ["static_select", "users_select", "checkboxes", "radio_buttons"]) INPUTS[name] = ELEMENTS[name] as Check;

const feedback = shape({ text: plain(75), value: str(2000), "accessibility_label?": str(75) });
const CONTEXT_ACTIONS: Record<string, Check> = {
  feedback_buttons: shape({ ...actionId, positive_button: feedback, negative_button: feedback }),
  icon_button: shape({
    ...actionId,
    icon: oneOf("trash"),
    text: plain(75),
    "value?": str(2000),
    "accessibility_label?": str(75),
    "confirm?": confirm,
  }),
};

const style = shape({ "bold?": bool, "italic?": bool, "strike?": bool, "code?": bool, "underline?": bool });
const RICH_WORDS: Record<string, Check> = {
  text: shape({ text: str(), "style?": style }),
  link: shape({ url: str(3000), "text?": str(), "unsafe?": bool, "style?": style }),
};
const RICH_INLINE: Record<string, Check> = {
  ...RICH_WORDS,
  user: shape({ user_id: str(), "style?": style }),
  usergroup: shape({ usergroup_id: str(), "style?": style }),
  channel: shape({ channel_id: str(), "style?": style }),
  emoji: shape({ name: str(), "unicode?": str(), "style?": style }),
  broadcast: shape({ range: oneOf("here", "channel", "everyone"), "style?": style }),
  date: shape({ timestamp: int, format: str(), "fallback?": str(), "url?": str(3000), "style?": style }),
};
const MANY = Number.POSITIVE_INFINITY;
const section = shape({ elements: list(byType(RICH_INLINE), MANY) });
const RICH_PARTS: Record<string, Check> = {
  rich_text_section: section,
  rich_text_quote: shape({ elements: list(byType(RICH_INLINE), MANY), "border?": int }),
  rich_text_preformatted: shape({ elements: list(byType(RICH_WORDS), MANY), "border?": int, "language?": str() }),
  rich_text_list: shape({
    elements: list(byType({ rich_text_section: section }), MANY),
    style: oneOf("bullet", "ordered"),
    "indent?": int,
    "offset?": int,
    "border?": int,
  }),
};

const blockId = { "block_id?": str(255) };
const richText = shape({ ...blockId, elements: list(byType(RICH_PARTS), MANY) });
const cell = byType({ raw_text: shape({ text: str() }), rich_text: richText });
const columnSetting = shape({ "align?": oneOf("left", "center", "right"), "is_wrapped?": bool });

const BLOCKS: Record<string, Check> = {
  section: shape({
    ...blockId,
    "text?": anyText(3000),
    "fields?": list(anyText(2000), 10),
    "accessory?": byType({ ...ELEMENTS, image }),
    "expand?": bool,
  }),
  header: shape({ ...blockId, text: plain(150) }),
  context: shape({ ...blockId, elements: list(byType({ plain_text: plain(3000), mrkdwn: anyText(3000), image }), 10) }),
  actions: shape({ ...blockId, elements: list(byType(ELEMENTS), 25) }),
  context_actions: shape({ ...blockId, elements: list(byType(CONTEXT_ACTIONS), 5) }),
  divider: shape(blockId),
  image: shape({ ...blockId, image_url: str(3000), alt_text: str(2000), "title?": plain(2000) }),
  markdown: shape({ ...blockId, text: str() }),
  rich_text: richText,
  table: shape({ ...blockId, rows: list(list(cell, 20), 100), "column_settings?": list(columnSetting, 20) }),
  input: shape({
    ...blockId,
    label: plain(2000),
    element: byType(INPUTS),
    "hint?": plain(2000),
    "optional?": bool,
    "dispatch_action?": bool,
  }),
};

const TABLE_CHARS = 10_000;

/** What Slack would say against these blocks, one line a problem; empty when it takes them. `at` is the pointer of what holds them. */
export function checkBlocks(blocks: unknown[], at: string, max: number): string[] {
  const problems: string[] = [];
  const report: Report = (message) => problems.push(message);
  list(byType(BLOCKS), max, 0)(blocks, `${at}/blocks`, report);
  const ids = new Set<unknown>();
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue;
    const pointer = `${at}/blocks/${index}`;
    if (block.block_id !== undefined && ids.has(block.block_id))
      report(`block_id "${String(block.block_id)}" already exists [json-pointer:${pointer}/block_id]`);
    ids.add(block.block_id);
    if (block.type === "section" && block.text === undefined && block.fields === undefined)
      report(`missing required field: text [json-pointer:${pointer}]`);
    if (block.type === "table" && JSON.stringify(block.rows ?? []).length > TABLE_CHARS)
      report(`table must be less than ${TABLE_CHARS + 1} characters [json-pointer:${pointer}/rows]`);
    checkActionIds(block, pointer, report);
  }
  return problems;
}

function checkActionIds(block: Json, at: string, report: Report): void {
  if (!Array.isArray(block.elements)) return;
  const ids = block.elements
    .map((element: unknown) => (isObject(element) ? element.action_id : undefined))
    .filter((id) => id !== undefined);
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) < index) report(`action_id "${String(id)}" already exists [json-pointer:${at}/elements/${index}/action_id]`);
  }
}
