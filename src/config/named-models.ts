import { z } from "zod";
import type { Variables } from "./extras.ts";
import type { NamedModel } from "./models.ts";
import { webAddress } from "./values.ts";

/** The models of `deckhand.yaml`. */

const SAY = {
  name: "the name of a model has no spaces, at most 100 characters, and does not end in a colon",
  window: "must be a whole number of tokens, 1024 or more",
  address: "must be the service's address, such as http://127.0.0.1:11434/v1",
  key: "must be the name of an environment variable of Deckhand in capitals, such as SPARE_API_KEY; the key itself never stands here",
};

export const MODEL_NAME = z.string().regex(/^\S{0,99}[^\s:,]$/, SAY.name);

const FIELDS = z.strictObject({
  model: MODEL_NAME.optional(),
  base_url: z.string().refine(isAddress, SAY.address).optional(),
  key: z
    .string()
    .regex(/^[A-Z_][A-Z0-9_]*$/, SAY.key)
    .optional(),
  api: z.enum(["auto", "chat", "responses"]).optional(),
  window: z.int(SAY.window).min(1024, SAY.window).optional(),
});

const FORMS = [
  z.array(MODEL_NAME).transform((names) => Object.fromEntries(names.map((name) => [name, {} as z.infer<typeof FIELDS>]))),
  z.record(
    MODEL_NAME,
    FIELDS.nullable().transform((fields) => fields ?? {}),
  ),
] as const;
/** A list of names will do where nothing more is to be said of them. */
export const MODELS = z.union(FORMS, `must be a list of names, or names with what is to be known of each; ${SAY.name}`);

/** With their keys; each problem begins with the model's name. */
export function readModels(
  written: z.infer<typeof MODELS>,
  variables: Variables,
  report: (name: string, problem: string) => void,
): NamedModel[] {
  return Object.entries(written).map(([name, { model = name, base_url: baseUrl = null, key, api = null, window = null }]) => {
    const apiKey = key === undefined ? null : variables.value(key);
    if (key !== undefined && apiKey === null) report(name, `key: ${key} is not set; set it for Deckhand, or take it away here`);
    return { name, model, baseUrl, apiKey, api, window };
  });
}

function isAddress(text: string): boolean {
  try {
    return webAddress(text) !== "";
  } catch {
    return false; // what is wrong is said by SAY
  }
}
