import { checkBlocks } from "./blocks.ts";
import type { Json } from "./state.ts";
import { Refusal, refusalWith } from "./state.ts";

const TEXT_MAX = 40_000;
/** chat.update says so; for postEphemeral Slack gives no figure, so the same. */
const SHORT_TEXT_MAX = 4_000;
const MARKDOWN_MAX = 12_000;
/** Seen at 13,172 to 13,297 characters, with markdown blocks. */
const PAYLOAD_WITH_MARKDOWN_MAX = 13_200;
/** All text of the other blocks together: Slack took 9,597 and refused 11,341; the line is not known, so the lower side. */
const BLOCK_TEXT_MAX = 10_000;
const BLOCKS_MAX = 50;
const ATTACHMENTS_MAX = 100;

export interface Content {
  text: string | undefined;
  blocks: Json[] | undefined;
  attachments: Json[] | undefined;
  metadata: Json | undefined;
  /** Goes into the answer as it is. */
  warning: Json;
}

/** Looks at what a message would show, the way Slack does before it takes it. Throws Refusal. */
export function checkContent(args: Json, act: "post" | "update" | "ephemeral"): Content {
  const blocks = listArg(args, "blocks", "invalid_blocks_format");
  const attachments = listArg(args, "attachments", "invalid_attachments");
  const metadata = metadataArg(args);
  const given = args.text;
  if (given !== undefined && given !== null && typeof given !== "string")
    throw refusalWith("invalid_arguments", ["must provide a string [json-pointer:/text]"]);
  let text = typeof given === "string" ? given : undefined;
  const markdown = args.markdown_text;
  if (typeof markdown === "string" && markdown !== "") {
    if (text || blocks) throw new Refusal("markdown_text_conflict");
    if (markdown.length > MARKDOWN_MAX) throw new Refusal("msg_too_long");
    text = markdown;
  }
  const nothing = !text?.trim() && !blocks?.length && !attachments?.length;
  const onlyMetadata = act === "update" && (metadata !== undefined || blocks !== undefined || attachments !== undefined);
  if (nothing && !onlyMetadata) throw new Refusal("no_text");
  if (act !== "post" && (text?.length ?? 0) > SHORT_TEXT_MAX) throw new Refusal("msg_too_long");
  if (blocks) checkMessageBlocks(blocks);
  if ((attachments?.length ?? 0) > ATTACHMENTS_MAX) throw new Refusal("too_many_attachments");
  if (text !== undefined && text.length > TEXT_MAX) {
    const warning = { warning: "message_truncated", response_metadata: { warnings: ["message_truncated"] } };
    return { text: text.slice(0, TEXT_MAX), blocks, attachments, metadata, warning };
  }
  return { text, blocks, attachments, metadata, warning: {} };
}

export function checkMessageBlocks(blocks: Json[]): void {
  const problems = checkBlocks(blocks, "", BLOCKS_MAX);
  const markdown = blocks.filter((block) => block.type === "markdown");
  if (markdown.length > 0 && JSON.stringify(blocks).length > PAYLOAD_WITH_MARKDOWN_MAX) throw new Refusal("msg_blocks_too_long");
  if (textLength(blocks.filter((block) => block.type !== "markdown")) > BLOCK_TEXT_MAX && problems.length === 0)
    throw new Refusal("msg_blocks_too_long");
  const total = markdown.reduce((sum, block) => sum + String(block.text ?? "").length, 0);
  if (total > MARKDOWN_MAX) problems.push(`markdown text must be less than ${MARKDOWN_MAX + 1} characters [json-pointer:/blocks]`);
  if (problems.length > 0) throw refusalWith("invalid_blocks", problems);
}

/** The length of every `text` in there. */
function textLength(part: unknown): number {
  if (typeof part !== "object" || part === null) return 0;
  return Object.entries(part).reduce(
    (sum, [key, value]) => sum + (key === "text" && typeof value === "string" ? value.length : textLength(value)),
    0,
  );
}

/** A list of objects; form-encoded callers send it as JSON text, which is parsed by now when it was valid. */
export function listArg(args: Json, name: string, refusal: string): Json[] | undefined {
  const value = args[name];
  if (value === undefined || value === null || value === "") return undefined;
  const right = Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null && !Array.isArray(item));
  if (!right) throw new Refusal(refusal);
  return value as Json[];
}

function metadataArg(args: Json): Json | undefined {
  const value = args.metadata;
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "object" || Array.isArray(value)) throw new Refusal("invalid_metadata_format");
  const metadata = value as Json;
  if (Object.keys(metadata).length === 0) return metadata;
  const payload = metadata.event_payload;
  const right =
    typeof metadata.event_type === "string" &&
    metadata.event_type !== "" &&
    typeof payload === "object" &&
    payload !== null &&
    !Array.isArray(payload);
  if (!right) throw new Refusal("invalid_metadata_schema");
  return metadata;
}

const VIEW_BLOCKS_MAX = 100;
const VIEW_BYTES_MAX = 250_000;
const VIEW_KEYS = new Set([
  "type",
  "title",
  "submit",
  "close",
  "blocks",
  "private_metadata",
  "callback_id",
  "clear_on_close",
  "notify_on_close",
  "external_id",
  "submit_disabled",
]);

/** Throws `invalid_arguments` with Slack's pointers when a modal breaks a limit. */
export function checkView(view: Json): void {
  if (JSON.stringify(view).length > VIEW_BYTES_MAX) throw new Refusal("view_too_large");
  const problems: string[] = [];
  if (view.type !== "modal") problems.push("unsupported type: not a modal [json-pointer:/view/type]");
  for (const key of Object.keys(view)) if (!VIEW_KEYS.has(key)) problems.push(`invalid additional property: ${key} [json-pointer:/view]`);
  for (const key of ["title", "submit", "close"]) {
    const value = view[key] as Json | null | undefined;
    if (value === undefined || value === null) {
      if (key === "title") problems.push("missing required field: title [json-pointer:/view]");
      continue;
    }
    const text = value.text;
    if (value.type !== "plain_text" || typeof text !== "string" || text === "")
      problems.push(`must be plain text [json-pointer:/view/${key}]`);
    else if (text.length > 24) problems.push(`must be less than 25 characters [json-pointer:/view/${key}/text]`);
  }
  for (const [key, max] of [
    ["private_metadata", 3000],
    ["callback_id", 255],
    ["external_id", 255],
  ] as const) {
    if (String(view[key] ?? "").length > max) problems.push(`must be less than ${max + 1} characters [json-pointer:/view/${key}]`);
  }
  const blocks = Array.isArray(view.blocks) ? (view.blocks as Json[]) : [];
  if (blocks.length === 0) problems.push("missing required field: blocks [json-pointer:/view]");
  problems.push(...checkBlocks(blocks, "/view", VIEW_BLOCKS_MAX));
  if (blocks.some((block) => block.type === "input") && view.submit === undefined)
    problems.push("submit is required when an input is in blocks [json-pointer:/view/submit]");
  if (problems.length > 0) throw refusalWith("invalid_arguments", problems);
}
