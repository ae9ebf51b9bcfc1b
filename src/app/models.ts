import type { Config } from "../config.ts";
import type { NamedModel } from "../config/models.ts";
import type { State } from "../core/conversation.ts";
import type { Hands } from "../core/hands.ts";
import type { Model } from "../core/ports.ts";
import type { OpenaiOptions } from "../model/openai.ts";

type Options = Pick<OpenaiOptions, "model" | "baseUrl" | "apiKey" | "api" | "window">;

/** Every model that the configuration names; each is opened when it is asked for the first time. */
export function openModels(config: Config, open: (options: Options) => Model): Pick<Hands, "model" | "modelFor" | "fallback"> {
  const { all, workspaces, channels, fallback } = config.models;
  const opened = new Map<string, Model>();

  function named(name: string): Model {
    // A name that the configuration has no more is that of the first.
    const found = all.find((each) => each.name === name) ?? (all[0] as NamedModel);
    const model = opened.get(found.name) ?? open(optionsOf(found, config));
    opened.set(found.name, model);
    return model;
  }

  const own = config.model.model;
  function modelFor({ model, opened: place }: State): Model {
    return named(model ?? channels[place?.channel ?? ""] ?? workspaces[place?.workspace ?? ""] ?? own);
  }
  return { model: named(own), modelFor, fallback: fallback === null ? null : named(fallback) };
}

/** With what a model is opened. A service of its own never gets the key of the other. */
export function optionsOf({ model, baseUrl, apiKey, api, window }: NamedModel, { model: own }: Config): Options {
  const elsewhere = baseUrl !== null;
  return {
    model,
    baseUrl: baseUrl ?? own.baseUrl,
    apiKey: elsewhere ? apiKey : (apiKey ?? own.apiKey),
    api: api ?? (elsewhere ? "auto" : own.api),
    ...(window === null ? {} : { window }),
  };
}
