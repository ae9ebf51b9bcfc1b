import type { Json } from "./refusal.ts";
import { refuse } from "./refusal.ts";

export interface Upload {
  /** The n of `files[n]`. */
  index: number;
  name: string;
  type: string;
  content: Buffer;
}

const REQUEST_MAX = 25 * 1024 * 1024;
const FILE_MAX = 10 * 1024 * 1024;

/** The JSON of a body, or of a form's `payload_json`, and the files beside it. Throws 40005, 50109. */
export async function readBody(type: string, bytes: Buffer): Promise<{ body: Json; files: Upload[] }> {
  if (bytes.length > REQUEST_MAX) throw refuse(40005);
  if (!type.startsWith("multipart/form-data")) return { body: parse(bytes.toString("utf8")), files: [] };
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData();
  } catch {
    throw refuse(50109);
  }
  const files: Upload[] = [];
  for (const [field, value] of form) {
    if (typeof value === "string") continue;
    const index = Number(/^files\[(\d+)\]$/.exec(field)?.[1] ?? files.length);
    files.push({ index, name: value.name, type: value.type, content: Buffer.from(await value.arrayBuffer()) });
  }
  if (files.some(({ content }) => content.length > FILE_MAX)) throw refuse(40005);
  const payload = form.get("payload_json");
  return { body: typeof payload === "string" ? parse(payload) : {}, files };
}

function parse(text: string): Json {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Json;
  } catch {
    // Answered below, as any other body that is no object.
  }
  throw refuse(50109);
}
