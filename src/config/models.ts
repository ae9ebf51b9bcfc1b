/** The models that people may choose, and where each is asked. */

/** One model by the name that people use. What is null is as in the settings (OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_API). */
export interface NamedModel {
  name: string;
  /** Its name at the service. */
  model: string;
  baseUrl: string | null;
  /** Null where the settings' key is used. A service of its own never gets that key. */
  apiKey: string | null;
  api: "auto" | "chat" | "responses" | null;
  /** Tokens that it can read; null: as the service says. */
  window: number | null;
}

/** Which model is asked where; names of `all`. */
export interface Models {
  /** The first is asked where nothing else is said. */
  all: NamedModel[];
  /** Those that people may choose. */
  open: string[];
  workspaces: Record<string, string>;
  channels: Record<string, string>;
  /** Who goes on when another is not there. */
  fallback: string | null;
}

/** The settings' own model first; whoever is named anywhere is there. */
export function joinModels(written: Omit<Models, "open">, own: string): Models {
  const { all, workspaces, channels, fallback } = written;
  const names = new Set([own, ...all.map(({ name }) => name)]);
  const open = [...names];
  for (const name of [...Object.values(workspaces), ...Object.values(channels), ...(fallback === null ? [] : [fallback])]) names.add(name);
  const plain = { baseUrl: null, apiKey: null, api: null, window: null };
  const found = (name: string): NamedModel => all.find((each) => each.name === name) ?? { name, model: name, ...plain };
  return { ...written, all: [...names].map(found), open };
}
