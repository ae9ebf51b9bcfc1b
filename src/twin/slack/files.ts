import type { IncomingHttpHeaders } from "node:http";
import type { Json, TwinFile, World } from "./state.ts";
import { escapeText, Refusal, refusalWith } from "./state.ts";
import type { Call, Method } from "./method.ts";
import { need, optional } from "./method.ts";
import { storeMessage } from "./messages.ts";
import { ownPost, threadOf } from "./chat.ts";
import { checkMessageBlocks, listArg } from "./validate.ts";

const SNIPPET_MAX = 1_000_000;
const ALT_TEXT_MAX = 1_000;

export const fileMethods: Record<string, Method> = {
  "files.getUploadURLExternal": { tier: 100, scope: "files:write", run: getUploadUrl },
  "files.completeUploadExternal": { tier: 100, scope: "files:write", run: completeUpload },
  "files.info": { tier: 100, scope: "files:read", run: info },
};

const TYPES: Record<string, string> = {
  txt: "text/plain",
  log: "text/plain",
  md: "text/markdown",
  json: "application/json",
  png: "image/png",
};

/** A file that exists, for a person's message or an upload to come (`content` null). */
export function addFile(world: World, user: string, name: string, content: Buffer | null, length: number): TwinFile {
  const mimetype = TYPES[name.split(".").pop() ?? ""] ?? "application/octet-stream";
  const file: TwinFile = { id: world.id("F"), name, title: name, mimetype, user, length, content };
  world.files.set(file.id, file);
  return file;
}

export function shownFile(url: string, file: TwinFile): Json {
  const address = `${url}/files-pri/${file.id}/${encodeURIComponent(file.name)}`;
  return {
    id: file.id,
    name: file.name,
    title: file.title,
    mimetype: file.mimetype,
    filetype: file.name.split(".").pop() ?? "",
    size: file.length,
    user: file.user,
    mode: "hosted",
    is_external: false,
    file_access: "visible",
    url_private: address,
    url_private_download: address,
  };
}

function getUploadUrl({ args, world, url }: Call): Json {
  const name = optional(args, "filename");
  const length = Number(optional(args, "length") ?? 0);
  if (name === undefined || !Number.isInteger(length) || length < 1) throw new Refusal("missing_argument");
  if (optional(args, "snippet_type") !== undefined && length > SNIPPET_MAX) throw new Refusal("snippet_too_large");
  if ((optional(args, "alt_txt")?.length ?? 0) > ALT_TEXT_MAX) throw new Refusal("alt_txt_too_large");
  const file = addFile(world, world.botUserId, name, null, length);
  return { upload_url: `${url}/upload/v1/${file.id}`, file_id: file.id };
}

/** Takes the bytes of a POST to an upload URL. Gives the status and line of the answer. */
export async function takeUpload(world: World, id: string, headers: IncomingHttpHeaders, body: Buffer): Promise<[number, string]> {
  const file = world.files.get(id);
  if (!file || file.content !== null) return [404, "no such upload"];
  let content = body;
  const type = headers["content-type"] ?? "";
  if (type.startsWith("multipart/form-data")) {
    const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
    const part = [...form.values()][0];
    content = part instanceof Blob ? Buffer.from(await part.arrayBuffer()) : Buffer.from(part ?? "");
  }
  if (content.length !== file.length) return [400, `expected ${file.length} bytes, got ${content.length}`];
  file.content = content;
  world.changed();
  return [200, `OK - ${content.length}`];
}

function completeUpload({ args, world, url }: Call): Json {
  const given = listArg(args, "files", "invalid_arguments") ?? [];
  if (given.length === 0) throw refusalWith("invalid_arguments", ["missing required field: files"]);
  const files = given.map(({ id, title }) => {
    const file = world.files.get(String(id));
    if (!file || file.content === null) throw new Refusal("file_not_found");
    if (typeof title === "string" && title !== "") file.title = title;
    return file;
  });
  const shown = files.map((file) => shownFile(url, file));
  const target = optional(args, "channel_id");
  if (target !== undefined) {
    const channel = world.writable(target);
    const blocks = listArg(args, "blocks", "invalid_blocks_format");
    if (blocks) checkMessageBlocks(blocks);
    const thread_ts = threadOf(world, channel.id, args);
    storeMessage(world, {
      channel: channel.id,
      ...ownPost(world),
      subtype: "file_share",
      text: escapeText(optional(args, "initial_comment") ?? "", true),
      blocks,
      thread_ts,
      files: shown,
    });
  }
  return { files: shown };
}

function info({ args, world, url }: Call): Json {
  const file = world.files.get(need(args, "file"));
  if (!file) throw new Refusal("file_not_found");
  return { file: shownFile(url, file) };
}
