import { describe, expect, test } from "vitest";
import { openModels } from "../../src/app/models.ts";
import { type Config, readConfig } from "../../src/config.ts";
import { emptyState, fold } from "../../src/core/conversation.ts";
import type { NewEntry } from "../../src/core/entry.ts";
import { asked } from "../support/asked.ts";
import { numbered } from "../support/random-log.ts";

const ENV = { OPENAI_MODEL: "gpt-5", OPENAI_API_KEY: "sk-of-the-settings", OPENAI_API: "responses", SPARE_API_KEY: "key-of-the-spare" };
const YAML = `
models:
  gpt-5:
    window: 400000
  mini:
    model: gpt-5-mini
  local:
    model: qwen3
    base_url: http://127.0.0.1:11434/v1
    key: SPARE_API_KEY
    window: 32768
  bare:
    base_url: http://127.0.0.1:8080/v1
fallback: local
channels:
  slack:C2:
    model: mini
workspaces:
  api:
    path: /srv/api
  web:
    path: /srv/web
    channels: [slack:C2, slack:C3]
    model: house
`;

const read = (yaml: string, env: Record<string, string> = ENV) => readConfig(env, (path) => (path.endsWith("deckhand.yaml") ? yaml : null));
async function configOf(yaml: string): Promise<Config> {
  const result = await read(yaml);
  if ("problems" in result) throw new Error(result.problems.join("\n"));
  return result.config;
}
const problemsOf = async (yaml: string, env?: Record<string, string>) => {
  const result = await read(yaml, env);
  return "problems" in result ? result.problems.join("\n") : "";
};

/** With what each model was opened, and which a conversation at that place asks. */
function opened(config: Config) {
  const options: Record<string, unknown>[] = [];
  const models = openModels(config, (each) => {
    options.push({ ...each });
    return asked(each.model);
  });
  const at = (workspace: string, channel: string, use?: string) => {
    const by = { key: "slack:U1", name: "Ann", kind: "member" as const, roles: [] };
    const news: NewEntry[] = [
      { type: "opened", platform: "slack", thread: "t", channel, workspace },
      { type: "message", event: "1", by, text: "do it", to: "bot", ...(use ? { use } : {}) },
    ];
    return models.modelFor(fold(numbered(news), emptyState())).name;
  };
  return { options, models, at };
}

describe("the models of deckhand.yaml", () => {
  test("are asked where they are named: by the thread, by the channel, by the workspace, else OPENAI_MODEL", async () => {
    const { at } = opened(await configOf(YAML));
    expect(at("api", "slack:C1")).toBe("gpt-5");
    expect(at("web", "slack:C3")).toBe("house");
    expect(at("web", "slack:C2")).toBe("gpt-5-mini");
    expect(at("web", "slack:C2", "local")).toBe("qwen3");
    expect(at("web", "slack:C2", "no-more")).toBe("gpt-5");
  });

  test("are opened once each, and a service of its own never gets the key of another", async () => {
    const { at, options, models } = opened(await configOf(YAML));
    for (const use of ["mini", "local", "bare", "mini"]) at("api", "slack:C1", use);
    expect(models.fallback).not.toBeNull();
    expect(options).toEqual([
      { model: "gpt-5", baseUrl: null, apiKey: "sk-of-the-settings", api: "responses", window: 400_000 },
      { model: "qwen3", baseUrl: "http://127.0.0.1:11434/v1", apiKey: "key-of-the-spare", api: "auto", window: 32_768 },
      { model: "gpt-5-mini", baseUrl: null, apiKey: "sk-of-the-settings", api: "responses" },
      { model: "bare", baseUrl: "http://127.0.0.1:8080/v1", apiKey: null, api: "auto" },
    ]);
  });

  test("may be chosen when they stand in the list, which may be names alone", async () => {
    expect((await configOf(YAML)).models.open).toEqual(["gpt-5", "mini", "local", "bare"]);
    expect((await configOf("models: [mini, maxi]")).models.open).toEqual(["gpt-5", "mini", "maxi"]);
    expect((await configOf("{}")).models).toMatchObject({ open: ["gpt-5"], fallback: null });
  });

  test("have keys that are secrets", async () => {
    expect((await configOf(YAML)).secrets).toEqual(expect.arrayContaining(["sk-of-the-settings", "key-of-the-spare"]));
  });

  test.each([
    ["models: {mini: {window: 10}}", "models: mini: window: must be a whole number of tokens, 1024 or more (line 1,"],
    ["models: {mini: {base_url: there}}", "base_url: must be the service's address, such as"],
    ["models: {mini: {key: sk-123}}", "key: must be the name of an environment variable of Deckhand in capitals"],
    ["models: {mini: {key: UNSET_KEY}}", "models: mini: key: UNSET_KEY is not set; set it for Deckhand"],
    ["models: {a b: {}}", "the name of a model has no spaces"],
    ["fallback: [x]", "fallback:"],
    ["channels: {C1: {model: x}}", "channels: C1:"],
  ])("are refused when they are wrong: %s", async (yaml, problem) => {
    expect(await problemsOf(yaml)).toContain(problem);
  });
});
