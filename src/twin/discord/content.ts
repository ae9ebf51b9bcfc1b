import type { Upload } from "./body.ts";
import { checkComponents, TEXT_DISPLAY, walk } from "./components.ts";
import { checkEmbeds } from "./embeds.ts";
import { mentionsIn } from "./messages.ts";
import type { FormError, Json } from "./refusal.ts";
import { refuse, refuseForm } from "./refusal.ts";
import type { TwinAttachment, TwinMessage, World } from "./state.ts";
import { COMPONENTS_V2, EPHEMERAL } from "./state.ts";

const CONTENT_MAX = 2000;
const FILES_MAX = 10;
/** Suppress embeds, suppress notifications, components V2: what an app may set on a message. */
const FLAGS = (1 << 2) | (1 << 12) | COMPONENTS_V2;

/** Where the content goes. Interactions and webhooks ping people only, unless told otherwise. */
export interface Place {
  world: World;
  /** What is there already, for an edit. */
  before?: TwinMessage | undefined;
  interaction?: boolean;
  files: Upload[];
}

export type Content = Pick<
  TwinMessage,
  "content" | "components" | "embeds" | "attachments" | "flags" | "mentions" | "mention_roles" | "mention_everyone"
>;

/** Reads what a message is to be. Throws 50035, 50006, 30015. Lengths are counted in UTF-16 units. */
export function readContent(body: Json, place: Place): Content {
  const { before } = place;
  const errors: FormError[] = [];
  const flags = readFlags(body, before);
  const text = body.content ?? (body.content === null ? "" : (before?.content ?? ""));
  if (typeof text !== "string") errors.push({ path: ["content"], code: "STRING_TYPE_CONVERT", message: "Could not interpret as string." });
  else if (text.length > CONTENT_MAX)
    errors.push({ path: ["content"], code: "BASE_TYPE_MAX_LENGTH", message: `Must be ${CONTENT_MAX} or fewer in length.` });
  const embeds = (body.embeds ?? before?.embeds ?? []) as Json[];
  const components = (body.components ?? before?.components ?? []) as Json[];
  const v2 = (flags & COMPONENTS_V2) !== 0;
  if (v2) legacyFields({ ...body, content: text, embeds }, errors);
  checkEmbeds(embeds, errors);
  checkComponents(components, v2, errors);
  const attachments = readAttachments(body, place, errors);
  if (errors.length > 0) throw refuseForm(errors);
  const content = String(text).trim();
  if (content === "" && embeds.length === 0 && components.length === 0 && attachments.length === 0) throw refuse(50006);
  const made = { content, embeds, components: numbered(components), attachments, flags };
  const words = [content, ...walk(components).map(({ value }) => (value.type === TEXT_DISPLAY ? String(value.content) : ""))].join("\n");
  return { ...made, ...readPings(body, place, words) };
}

function readFlags(body: Json, before: TwinMessage | undefined): number {
  const given = Number(body.flags ?? 0);
  const kept = (before?.flags ?? 0) & ~FLAGS;
  const set = body.flags === undefined ? (before?.flags ?? 0) & FLAGS : given & (FLAGS | EPHEMERAL);
  // Once a message is made of components it stays so.
  return kept | set | ((before?.flags ?? 0) & COMPONENTS_V2);
}

function legacyFields(body: Json, errors: FormError[]): void {
  for (const name of ["content", "embeds", "poll", "sticker_ids"]) {
    const value = body[name];
    if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)) continue;
    const message = `The '${name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2`;
    errors.push({ path: [name], code: "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", message });
  }
}

/** Every component gets a number of its own, as Discord gives it. */
function numbered(components: Json[]): Json[] {
  let next = 1;
  const visit = (value: Json): Json => {
    const copy: Json = { id: next++, ...value };
    for (const name of ["components", "items"]) if (Array.isArray(copy[name])) copy[name] = (copy[name] as Json[]).map(visit);
    if (typeof copy.accessory === "object" && copy.accessory !== null) copy.accessory = visit(copy.accessory as Json);
    return copy;
  };
  return components.map(visit);
}

/** Keeps the listed ones of before (all when none are listed) and stores the files that came along. */
function readAttachments(body: Json, { world, before, files }: Place, errors: FormError[]): TwinAttachment[] {
  const listed = body.attachments === undefined || body.attachments === null ? undefined : (body.attachments as Json[]);
  const kept = (before?.attachments ?? []).filter(({ id }) => listed === undefined || listed.some((each) => String(each.id) === id));
  if (kept.length + files.length > FILES_MAX) throw refuse(30015);
  for (const [index, each] of (listed ?? []).entries()) {
    const known = files.some((file) => String(file.index) === String(each.id)) || kept.some(({ id }) => id === String(each.id));
    if (!known)
      errors.push({ path: ["attachments", index, "id"], code: "ATTACHMENT_NOT_FOUND", message: `No attachment ${String(each.id)}` });
  }
  if (errors.length > 0) return [];
  const added = files.map((file): TwinAttachment => {
    const told = listed?.find((each) => String(each.id) === String(file.index));
    const filename = typeof told?.filename === "string" ? told.filename : file.name;
    return addFile(world, filename, file.content, typeof told?.description === "string" ? told.description : undefined);
  });
  return [...kept, ...added];
}

const TYPES: Record<string, string> = { txt: "text/plain; charset=utf-8", log: "text/plain; charset=utf-8", png: "image/png" };

/** Stores bytes for the CDN. Names lose what a path or a header could not carry. */
export function addFile(world: World, name: string, content: Buffer, description?: string): TwinAttachment {
  const id = world.snowflake();
  const filename = name.replace(/[^\w.()-]+/g, "_");
  world.files.set(id, { name: filename, content });
  const content_type = TYPES[filename.split(".").pop() ?? ""] ?? "application/octet-stream";
  return { id, filename, content_type, size: content.length, ...(description === undefined ? {} : { description }) };
}

type Pings = Pick<TwinMessage, "mentions" | "mention_roles" | "mention_everyone">;

/** What `allowed_mentions` lets through; without it everything of a normal message pings. An edit that leaves the words leaves the pings. */
function readPings(body: Json, { world, interaction, before }: Place, words: string): Pings {
  if (before && body.content === undefined && body.components === undefined) {
    const { mentions, mention_roles, mention_everyone } = before;
    return { mentions, mention_roles, mention_everyone };
  }
  const given = body.allowed_mentions as { parse?: string[]; users?: string[]; roles?: string[] } | undefined | null;
  const parse = given ? (given.parse ?? []) : interaction ? ["users"] : ["users", "roles", "everyone"];
  for (const kind of ["users", "roles"] as const) {
    if (!parse.includes(kind) || (given?.[kind] ?? []).length === 0) continue;
    const message = `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`;
    throw refuseForm([{ path: ["allowed_mentions"], code: "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", message }]);
  }
  const found = mentionsIn(world, words);
  const loud = world.permissions.has("MentionEveryone");
  return {
    mentions: found.users.filter((id) => parse.includes("users") || given?.users?.includes(id)),
    mention_roles: found.roles.filter((id) => loud && (parse.includes("roles") || given?.roles?.includes(id))),
    mention_everyone: found.everyone && parse.includes("everyone") && loud,
  };
}
