import type { FormError, Json } from "./refusal.ts";

const MOST = 10;
const SUM = 6000;
const FIELDS = 25;

/** Embeds as Discord takes them: 10, with 6000 characters in sum. */
export function checkEmbeds(embeds: unknown, errors: FormError[]): void {
  if (!Array.isArray(embeds)) {
    errors.push({ path: ["embeds"], code: "BASE_TYPE_LIST", message: "Only iterables may be used in a ListType." });
    return;
  }
  if (embeds.length > MOST) errors.push({ path: ["embeds"], code: "BASE_TYPE_MAX_LENGTH", message: `Must be ${MOST} or fewer in length.` });
  let sum = 0;
  for (const [index, embed] of (embeds as Json[]).entries()) {
    const at = ["embeds", index];
    const length = (value: unknown, path: (string | number)[], max: number, min = 0): void => {
      if (value === undefined && min === 0) return;
      const text = typeof value === "string" ? value : "";
      sum += text.length;
      if (text.length < min) errors.push({ path: [...at, ...path], code: "BASE_TYPE_REQUIRED", message: "This field is required" });
      if (text.length > max)
        errors.push({ path: [...at, ...path], code: "BASE_TYPE_MAX_LENGTH", message: `Must be ${max} or fewer in length.` });
    };
    length(embed.title, ["title"], 256);
    length(embed.description, ["description"], 4096);
    length((embed.footer as Json | undefined)?.text, ["footer", "text"], 2048);
    length((embed.author as Json | undefined)?.name, ["author", "name"], 256);
    const fields = Array.isArray(embed.fields) ? (embed.fields as Json[]) : [];
    if (fields.length > FIELDS)
      errors.push({ path: [...at, "fields"], code: "BASE_TYPE_MAX_LENGTH", message: `Must be ${FIELDS} or fewer in length.` });
    for (const [n, field] of fields.entries()) {
      length(field.name, ["fields", n, "name"], 256, 1);
      length(field.value, ["fields", n, "value"], 1024, 1);
    }
  }
  if (sum > SUM) errors.push({ path: ["embeds"], code: "MAX_EMBED_SIZE_EXCEEDED", message: `Embed size exceeds maximum size of ${SUM}` });
}
